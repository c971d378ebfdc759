package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// newLogger writes one line an event to stderr.
func newLogger(level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, exitError{exitUsage, fmt.Errorf("--log-level %q is refused: allowed debug, info, warn, error", level)}
	}
	opts := &slog.HandlerOptions{Level: l}
	switch strings.ToLower(format) {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, opts)), nil
	}
	return nil, exitError{exitUsage, fmt.Errorf("--log-format %q is refused: allowed text, json", format)}
}
