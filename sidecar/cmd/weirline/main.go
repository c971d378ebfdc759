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
	"io"
	"os"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(takeArgs(os.Args[1:]))) }

func run(args []string) int {
	root := rootCommand()
	root.SetArgs(args)
	return report(root.ExecuteContext(context.Background()), os.Stderr)
}

// report says why the command failed, and with which exit code. The text may
// quote an argument that was put in the wrong place.
func report(err error, w io.Writer) int {
	var code exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		if code.err != nil {
			fmt.Fprintln(w, "weirline:", hideSecrets(code.err.Error()))
		}
		return code.code
	}
	fmt.Fprintln(w, "weirline:", hideSecrets(err.Error()))
	fmt.Fprintln(w, "See weirline help.")
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
	root.AddCommand(
		serveCommand(),
		relayCommand(),
		benchCommand(),
		versionCommand(),
		exitCodesTopic(),
		manCommand(),
		checkConfigCommand(),
		traceCommand(),
		probeCommand(),
		topCommand(),
		ctlCommand(),
		execCommand(),
	)
	return root
}
