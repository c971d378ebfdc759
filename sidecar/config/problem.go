package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	File string // "" in a value that was not read from a file; "environment"
	Line int    // 0: unknown
	Key  string // as routes[1].sources[0].url, or the name of a variable
	Text string // what is wrong, what is allowed, what to do; without secrets
	// Taken: the value is allowed, but another part has what it names.
	Taken bool
}

func (p Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		b.WriteString(": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	return b.String() + p.Text
}

// Problems is everything that is wrong, in the order of the file. Load and
// Validate return it as their error.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Taken reports whether nothing is wrong but that others have what is named.
func (p Problems) Taken() bool {
	return len(p) > 0 && !slices.ContainsFunc(p, func(one Problem) bool { return !one.Taken })
}

// err is p as an error: nil if there is nothing wrong.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p
}

// mostProblems bounds how many problems are told: a file that is something else
// altogether has too many.
const mostProblems = 50
