package main

import (
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/weirline/weirline/sidecar/control/top"
)

func topCommand() *cobra.Command {
	var api apiFlags
	c := &cobra.Command{
		Use:   "top",
		Short: "Routes, connections and events of a daemon, live in the terminal",
		Long: `Shows what the page of the daemon shows, once a second. Where the output is
not a terminal, one table is printed.

Keys: q quits; left and right choose the column to sort by, r turns the order
round; up, down, page up, page down scroll the connections.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := api.client()
			if err != nil {
				return err
			}
			defer client.Close()
			out, in := int(os.Stdout.Fd()), int(os.Stdin.Fd())
			if cmd.OutOrStdout() != os.Stdout || !term.IsTerminal(out) || !term.IsTerminal(in) {
				return coded(top.Once(cmd.Context(), client, cmd.OutOrStdout(), pipeWidth))
			}
			restore, err := top.Raw(in)
			if err != nil {
				return coded(err)
			}
			defer restore()
			return coded(top.Run(cmd.Context(), client, top.Screen{
				Out: os.Stdout, Keys: os.Stdin,
				Size: func() (int, int) {
					if w, h, err := term.GetSize(out); err == nil {
						return w, h
					}
					return 80, 24
				},
			}))
		},
	}
	api.add(c)
	return c
}

// pipeWidth is that of a table nobody's terminal bounds.
const pipeWidth = 160
