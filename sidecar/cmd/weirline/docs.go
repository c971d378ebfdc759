package main

import (
	"os"
	"strings"

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
			keepLines(root)
			return coded(doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "weirline", Manual: "weirline"}, args[0]))
		},
	}
}

// keepLines has the pages show the examples and tables of the help line by line,
// as the help does: what is indented there is one, and in a page is filled unless
// it is indented further.
func keepLines(c *cobra.Command) {
	paragraphs := strings.Split(c.Long, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, "  ") {
			paragraphs[i] = "    " + strings.ReplaceAll(p, "\n", "\n    ")
		}
	}
	c.Long = strings.Join(paragraphs, "\n\n")
	for _, sub := range c.Commands() {
		keepLines(sub)
	}
}
