package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// newLogger writes one line an event to stderr.
func newLogger(level, format string) (*slog.Logger, error) {
	log, _, err := newLevelLogger(level, format)
	return log, err
}

// newLevelLogger returns the level, too, to be changed later.
func newLevelLogger(level, format string) (*slog.Logger, *slog.LevelVar, error) {
	l := new(slog.LevelVar)
	if err := setLevel(l, level); err != nil {
		return nil, nil, err
	}
	opts := &slog.HandlerOptions{Level: l}
	switch strings.ToLower(format) {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, opts)), l, nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, opts)), l, nil
	}
	return nil, nil, exitError{exitUsage, fmt.Errorf("--log-format %q is refused: allowed text, json", format)}
}

func setLevel(to *slog.LevelVar, text string) error {
	var l slog.Level
	if err := l.UnmarshalText([]byte(text)); err != nil {
		return exitError{exitUsage, fmt.Errorf("--log-level %q is refused: allowed debug, info, warn, error", text)}
	}
	to.Set(l)
	return nil
}
