package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// ParseRoute reads one route from JSON, with the keys and the rules of the file. It
// has the defaults where the text says nothing. No files with secrets are read:
// the text may come from another machine. Whether the route fits the rest is
// Validate's question.
func ParseRoute(text []byte) (Route, error) {
	return parsePart(text, "route", routeItem, (*validator).route)
}

// ParseOutput is ParseRoute for one output.
func ParseOutput(text []byte) (Output, error) {
	return parsePart(text, "output", outputItem, (*validator).output)
}

func parsePart[T any](text []byte, at string, item func(*decoder, string, *yaml.Node, *T), check func(*validator, string, *T)) (part T, err error) {
	if text, err = plainJSON(text); err != nil {
		return part, Problems{{Key: at, Text: err.Error()}}
	}
	d := newDecoder("")
	d.noFiles = true
	n := d.parse(text)
	if n == nil {
		n = &yaml.Node{Kind: yaml.MappingNode}
	}
	item(d, at, n, &part)
	if len(d.problems) == 0 {
		v := validator{}
		check(&v, at, &part)
		d.problems = v.problems
	}
	return part, d.problems.err()
}

// plainJSON writes JSON so that it is YAML, too: of escapes YAML knows fewer.
func plainJSON(text []byte) ([]byte, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var value any
	if err := in.Decode(&value); err != nil {
		return nil, fmt.Errorf("is not JSON, at byte %d: %w", in.InputOffset(), err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("is followed by something at byte %d: allowed one value", in.InputOffset())
	}
	return json.Marshal(value)
}
