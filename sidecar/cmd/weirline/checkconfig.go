package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/config"
)

func checkConfigCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check-config FILE",
		Short: "Say whether a configuration file is right, and if not, where",
		Long: `Reads a configuration file as serve --config does, with the same variables of
the environment, and opens nothing. It prints "ok" with the number of routes and
listeners, or every error with its line and exits with 2.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(args[0], os.LookupEnv)
			if problems, ok := errors.AsType[config.Problems](err); ok {
				for _, p := range problems {
					fmt.Fprintln(cmd.ErrOrStderr(), hideSecrets(p.Error()))
				}
				return exitError{code: exitUsage}
			}
			if err != nil {
				return exitError{exitUsage, err}
			}
			for _, w := range c.Warnings() {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning:", w)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "ok: %d routes, %d listeners\n", len(c.Routes), len(c.Listeners))
			return coded(err)
		},
	}
}
