package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version may be set by the linker; otherwise the build information has it.
var version = ""

func versionText() string {
	v := version
	if i, ok := debug.ReadBuildInfo(); ok && v == "" {
		v = i.Main.Version
	}
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	return fmt.Sprintf("weirline %s %s/%s %s", v, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionText())
			return coded(err)
		},
	}
}
