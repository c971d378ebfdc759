package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes the manual pages from the command tree, for packages.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages into a folder", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return coded(err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same command tree, the same bytes
			return coded(doc.GenManTree(root, &doc.GenManHeader{Title: "WEIRLINE", Section: "1", Source: "weirline", Manual: "weirline"}, args[0]))
		},
	}
}
