package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// decoder turns nodes of YAML into a Config and remembers where each key was.
type decoder struct {
	file     string
	problems Problems
	lines    map[string]int
	fromEnv  map[string]string // key to variable
	files    []string          // with secrets
	noFiles  bool              // none are read
	budget   int
}

// maxNodes bounds what aliases can make of a small file.
const maxNodes = 200_000

func newDecoder(file string) *decoder {
	return &decoder{file: file, lines: map[string]int{}, fromEnv: map[string]string{}, budget: maxNodes}
}

func (d *decoder) complain(n *yaml.Node, key, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: d.file, Line: n.Line, Key: key, Text: fmt.Sprintf(format, args...)})
}

// lineOf is the line of a key, or of what it is part of.
func (d *decoder) lineOf(key string) int {
	for {
		if n, ok := d.lines[key]; ok {
			return n
		}
		i := strings.LastIndexAny(key, ".[")
		if i < 0 {
			return 0
		}
		key = key[:i]
	}
}

// where names the place of a key for a text about another.
func (d *decoder) where(key string) string {
	if n := d.lineOf(key); n > 0 {
		return fmt.Sprintf("%s in line %d", key, n)
	}
	return key
}

// key is one key of a mapping: what people are told of it, and how its value gets
// into a T.
type key[T any] struct {
	row
	set func(d *decoder, at string, n *yaml.Node, into *T)
}

// row is the part of a key that docs/config.md shows.
type row struct {
	name, kind, allowed, dflt, example, meaning string
}

// follow resolves aliases and keeps the budget; nil: the budget is spent.
func (d *decoder) follow(n *yaml.Node, at string) *yaml.Node {
	if d.budget--; d.budget < 0 {
		if d.budget == -1 {
			d.complain(n, at, "aliases make more of this file than is read: write less of them")
		}
		return nil
	}
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// decodeMap reads a mapping. Unknown keys and keys given twice are problems.
func decodeMap[T any](d *decoder, at string, n *yaml.Node, keys []key[T], into *T) {
	if n = d.follow(n, at); n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.complain(n, at, "is %s: allowed keys with values below it: %s", kindOf(n), d.names(rows(keys)))
		return
	}
	seen := map[string]int{}
	afterSecret := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		// In {a: b, c} what follows a comma is a key, and may be the rest of a secret.
		hidden := afterSecret && n.Style&yaml.FlowStyle != 0
		afterSecret = isSecret(name, keys)
		if line, twice := seen[name]; twice {
			d.complain(n.Content[i], at, "has the key %q twice, in line %d as well: allowed each key once", shownKey(name), line)
			continue
		}
		seen[name] = n.Content[i].Line
		d.one(at, n.Content[i], n.Content[i+1], func(path string, v *yaml.Node) bool {
			return setKey(d, path, name, v, keys, into)
		}, func() string {
			if hidden {
				return "has an unknown key behind a secret: put quotes around a secret with a comma in it"
			}
			return d.unknown(name, rows(keys))
		})
	}
}

func isSecret[T any](name string, keys []key[T]) bool {
	return slices.ContainsFunc(keys, func(k key[T]) bool { return k.kind == kindSecret && k.name == name })
}

// one reads one key and its value.
func (d *decoder) one(at string, k, v *yaml.Node, set func(string, *yaml.Node) bool, unknown func() string) {
	path := k.Value
	if at != "" {
		path = at + "." + path
	}
	if v = d.follow(v, path); v == nil {
		return
	}
	if k.Kind != yaml.ScalarNode {
		d.complain(k, at, "has a key that is %s: allowed a word", kindOf(k))
		return
	}
	if !set(path, v) {
		d.complain(k, at, "%s", unknown())
		return
	}
	d.lines[path] = k.Line
}

// setKey finds the key and sets its value; false: there is no such key. A secret
// may also stand in a file, named by the key with -file behind it.
func setKey[T any](d *decoder, path, name string, v *yaml.Node, keys []key[T], into *T) bool {
	for _, k := range keys {
		switch {
		case k.name == name && v.Tag != "!!null":
			k.set(d, path, v, into)
		case k.name == name && k.kind == kindSecret:
			d.complain(v, path, "is empty: leave the key out if there is none")
		case k.name == name: // empty: as if left out
		case k.kind == kindSecret && k.name+"-file" == name && !d.noFiles:
			d.fromFile(path, v, func(n *yaml.Node) { k.set(d, strings.TrimSuffix(path, "-file"), n, into) })
		default:
			continue
		}
		return true
	}
	return false
}

func (d *decoder) fromFile(path string, v *yaml.Node, set func(*yaml.Node)) {
	name, ok := d.text(path, v)
	if !ok {
		return
	}
	secret, err := d.secretFile(name)
	if err != nil {
		d.complain(v, path, "the file %s", err)
		return
	}
	d.lines[strings.TrimSuffix(path, "-file")] = v.Line
	set(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: secret, Line: v.Line})
}

// decodeList reads a list, item by item.
func decodeList[T any](d *decoder, at string, n *yaml.Node, item func(d *decoder, at string, n *yaml.Node, into *T)) (out []T) {
	if n.Kind != yaml.SequenceNode {
		d.complain(n, at, "is %s: allowed a list, each item with - before it", kindOf(n))
		return nil
	}
	for i, c := range n.Content {
		path := fmt.Sprintf("%s[%d]", at, i)
		v := d.follow(c, path)
		if v == nil {
			return out
		}
		d.lines[path] = c.Line
		var t T
		item(d, path, v, &t)
		out = append(out, t)
	}
	return out
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a group of keys"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "empty"
		}
		return "a single value"
	}
	return "no value"
}

func rows[T any](keys []key[T]) (out []row) {
	for _, k := range keys {
		out = append(out, k.row)
	}
	return out
}

// names are the keys that are allowed.
func (d *decoder) names(keys []row) string {
	var list []string
	for _, k := range keys {
		list = append(list, k.name)
		if k.kind == kindSecret && !d.noFiles {
			list = append(list, k.name+"-file")
		}
	}
	return strings.Join(list, ", ")
}

func (d *decoder) unknown(name string, keys []row) string {
	if name == "<<" {
		return "merging with << is not supported: write the keys out, or use an alias for a whole value"
	}
	text := fmt.Sprintf("has the unknown key %q", shownKey(name))
	all := d.names(keys)
	if near := nearest(name, strings.Split(all, ", ")); near != "" {
		text += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return text + ": allowed " + all
}

// shownKey is a key as it may be quoted: a secret can have slipped into it.
func shownKey(name string) string {
	i := strings.IndexFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && r != '<' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if i >= 0 {
		name = name[:i] + "..."
	}
	return clip(name)
}

// nearest is the known word that name most likely was meant to be.
func nearest(name string, words []string) string {
	best, at := "", 3
	for _, w := range words {
		if n := distance(strings.ReplaceAll(strings.ToLower(name), "_", "-"), w, at); n < at {
			best, at = w, n
		}
	}
	return best
}

// distance is how many letters have to change, at most limit.
func distance(a, b string, limit int) int {
	if abs(len(a)-len(b)) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

func abs(n int) int { return max(n, -n) }

// text reads a scalar as it stands.
func (d *decoder) text(at string, n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		d.complain(n, at, "is %s: allowed one value", kindOf(n))
		return "", false
	}
	// A tag without a value is what is left of text that begins with an
	// exclamation mark.
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		d.complain(n, at, "has a tag: put quotes around a value that begins with !")
		return "", false
	}
	return n.Value, true
}

// The kinds of values, as docs/config.md names them.
const (
	kindText     = "text"
	kindSecret   = "secret"
	kindNumber   = "number"
	kindBytes    = "bytes"
	kindDuration = "duration"
	kindList     = "list"
	kindGroup    = "group"
	kindListOf   = "list of groups"
)

func text[T any](field func(*T) *string) func(*decoder, string, *yaml.Node, *T) {
	return func(d *decoder, at string, n *yaml.Node, into *T) {
		if s, ok := d.text(at, n); ok {
			*field(into) = s
		}
	}
}

func secret[T any](field func(*T) *Secret) func(*decoder, string, *yaml.Node, *T) {
	return func(d *decoder, at string, n *yaml.Node, into *T) {
		s, ok := d.text(at, n)
		if !ok {
			return
		}
		if s == "" {
			d.complain(n, at, "is empty: leave the key out if there is none")
			return
		}
		if *field(into) != "" {
			d.complain(n, at, "is given twice, as a value and as a file: allowed one of both")
			return
		}
		*field(into) = Secret(s)
	}
}

func texts[T any](field func(*T) *[]string) func(*decoder, string, *yaml.Node, *T) {
	return func(d *decoder, at string, n *yaml.Node, into *T) {
		*field(into) = decodeList(d, at, n, text(func(s *string) *string { return s }))
	}
}

// number reads a whole number; bytes take K, M, G, Ki, Mi, Gi with or without a B.
func number[T any](field func(*T) *int, units bool) func(*decoder, string, *yaml.Node, *T) {
	return func(d *decoder, at string, n *yaml.Node, into *T) {
		s, ok := d.text(at, n)
		if !ok {
			return
		}
		v, ok := parseNumber(s, units)
		if !ok && units {
			d.complain(n, at, "%q is no number of bytes: allowed as in 65536, 512KiB, 5MiB", clip(s))
		} else if !ok {
			d.complain(n, at, "%q is no whole number: allowed as in 10", clip(s))
		} else {
			*field(into) = v
		}
	}
}

var byteUnits = []struct {
	name string
	size int
}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}}

func parseNumber(s string, units bool) (int, bool) {
	scale := 1
	if units {
		s = strings.TrimSuffix(s, "B")
		for _, u := range byteUnits {
			if rest, ok := strings.CutSuffix(s, u.name); ok {
				s, scale = strings.TrimRight(rest, " "), u.size
				break
			}
		}
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v > math.MaxInt32/int64(scale) || v < math.MinInt32/int64(scale) {
		return 0, false
	}
	return int(v) * scale, true
}

// duration reads a time with its unit; words stand for special values.
func duration[T any](field func(*T) *time.Duration, words map[string]time.Duration) func(*decoder, string, *yaml.Node, *T) {
	return func(d *decoder, at string, n *yaml.Node, into *T) {
		s, ok := d.text(at, n)
		if !ok {
			return
		}
		if v, ok := words[s]; ok {
			*field(into) = v
			return
		}
		v, err := time.ParseDuration(s)
		switch {
		case err == nil:
			*field(into) = v
		case strings.TrimLeft(s, "0123456789.-") == "":
			d.complain(n, at, "%q has no unit: allowed as in 500ms, 2s, 1m", clip(s))
		default:
			allowed := "500ms, 2s, 1m"
			for _, w := range slices.Sorted(maps.Keys(words)) {
				allowed += ", " + w
			}
			d.complain(n, at, "%q is no duration: allowed as in %s", clip(s), allowed)
		}
	}
}
