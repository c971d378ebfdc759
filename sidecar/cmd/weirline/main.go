// Command weirline moves live media over SRT: a daemon with an HTTP face for
// encoders and players, a relay between addresses, and a load tool.
//
// Lives here: the command tree, exit codes, signals. May import: the rooms of
// sidecar, cobra. Never: logic that a room could hold.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(takeArgs(os.Args[1:]))) }

func run(args []string) int {
	root := rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	var code exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		if code.err != nil {
			fmt.Fprintln(os.Stderr, "weirline:", code.err)
		}
		return code.code
	}
	fmt.Fprintln(os.Stderr, "weirline:", err)
	fmt.Fprintln(os.Stderr, "See weirline help.")
	return exitUsage
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "weirline",
		Short:         "SRT for encoders, players and scripts",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(serveCommand(), relayCommand(), benchCommand(), versionCommand(), exitCodesTopic())
	return root
}
