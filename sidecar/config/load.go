package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What is read at most.
const (
	maxFile   = 1 << 20
	maxSecret = 4 << 10
)

// Load reads the file, lets the environment override it, and checks the result.
// Without a path there is no file. env is os.LookupEnv or a test's. The error is
// a Problems with everything that is wrong.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	c := Default()
	d := newDecoder(path)
	if path != "" {
		text, err := readAtMost(path, maxFile)
		if err != nil {
			return nil, Problems{{File: path, Text: reading(err)}}
		}
		d.document(text, &c)
	}
	if env != nil {
		d.environment(env, &c)
	}
	if err := d.finish(&c); err != nil {
		return nil, err
	}
	return &c, nil
}

// finish checks c and gives every problem its place.
func (d *decoder) finish(c *Config) error {
	if d.budget < 0 {
		return d.problems.err() // what was read is not what was meant
	}
	// A second complaint about what could not be read would be noise.
	unread := map[string]bool{}
	for _, p := range d.problems {
		unread[p.Key] = true
	}
	for _, p := range c.problems(d.where) {
		if unread[p.Key] {
			continue
		}
		if name, ok := d.fromEnv[p.Key]; ok {
			p.File, p.Key = "environment", name
		} else if d.file != "" {
			p.File, p.Line = d.file, d.lineOf(p.Key)
		}
		d.problems = append(d.problems, p)
	}
	if n := len(d.problems); n > mostProblems {
		_ = d.problems.err()
		d.problems = append(d.problems[:mostProblems:mostProblems],
			Problem{File: d.file, Line: d.problems[mostProblems-1].Line, Text: fmt.Sprintf("and %d more", n-mostProblems)})
	}
	return d.problems.err()
}

func readAtMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, errors.New("is a directory: name a file")
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("is longer than %d bytes, the most that is read", most)
	}
	return text, err
}

// reading says why a file could not be read, without its path.
func reading(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return "cannot be read: " + p.Err.Error()
	}
	return err.Error()
}

// document decodes the file's text into c.
func (d *decoder) document(text []byte, c *Config) {
	if n := d.parse(text); n != nil {
		decodeMap(d, "", n, topKeys, c)
	}
}

// parse returns the root of the only document, nil if it is empty or broken.
func (d *decoder) parse(text []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if !errors.Is(err, io.EOF) {
			d.syntax(text, err)
		}
		return nil
	}
	if err := dec.Decode(&second); err == nil {
		d.complain(&second, "", "holds a second document after ---: allowed one")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(text, err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil
	}
	return doc.Content[0]
}

var (
	yamlLine   = regexp.MustCompile(`^line (\d+): `)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
	yamlQuoted = regexp.MustCompile(`['"\x60].*['"\x60]`)
)

// syntax tells what the library found; what it quotes may be a secret, as of
// passphrase: *text, which asks for an anchor.
func (d *decoder) syntax(text []byte, err error) {
	said := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := yamlLine.FindStringSubmatch(said); m != nil {
		line, _ = strconv.Atoi(m[1])
		if said = said[len(m[0]):]; strings.HasPrefix(said, "did not find") {
			line++ // its parser counts from 0, its scanner from 1
		}
	} else if m := yamlAnchor.FindStringSubmatch(said); m != nil {
		before, _, _ := strings.Cut(string(text), "*"+m[1])
		line += strings.Count(before, "\n")
	}
	said = yamlQuoted.ReplaceAllString(said, "...")
	d.problems = append(d.problems, Problem{File: d.file, Line: line,
		Text: "is not YAML: " + clip(said) + "; put quotes around values that begin with * & ! % @ ` or hold \": \" or \" #\", and indent with spaces"})
}

// Variables of the environment, and the keys they override.
var variables = []struct {
	name, key string
	file      bool // names a file with the value
	set       func(*Config) *string
}{
	{"WEIRLINE_LISTEN", "listen", false, func(c *Config) *string { return &c.Listen }},
	{"WEIRLINE_CONTROL_LISTEN", "control.listen", false, func(c *Config) *string { return &c.Control.Listen }},
	{"WEIRLINE_CONTROL_TOKEN", "control.token", false, func(c *Config) *string { return (*string)(&c.Control.Token) }},
	{"WEIRLINE_CONTROL_TOKEN_FILE", "control.token", true, func(c *Config) *string { return (*string)(&c.Control.Token) }},
	{"WEIRLINE_LOG_LEVEL", "log.level", false, func(c *Config) *string { return &c.Log.Level }},
	{"WEIRLINE_LOG_FORMAT", "log.format", false, func(c *Config) *string { return &c.Log.Format }},
}

func (d *decoder) environment(env func(string) (string, bool), c *Config) {
	for _, v := range variables {
		value, ok := env(v.name)
		if !ok || value == "" {
			continue
		}
		if v.file {
			text, err := readAtMost(value, maxSecret)
			if err != nil {
				d.problems = append(d.problems, Problem{File: "environment", Key: v.name, Text: "the file " + reading(err)})
				continue
			}
			value = trimEnd(text)
		}
		*v.set(c) = value
		d.fromEnv[v.key] = v.name
	}
}

// trimEnd takes the newline that editors and echo put at the end of a file.
func trimEnd(text []byte) string { return strings.TrimRight(string(text), "\r\n") }

// secretFile reads a file named in the configuration; a path that is not absolute
// begins where the configuration file is.
func (d *decoder) secretFile(path string) (string, error) {
	if !filepath.IsAbs(path) && d.file != "" {
		path = filepath.Join(filepath.Dir(d.file), path)
	}
	d.files = append(d.files, path)
	text, err := readAtMost(path, maxSecret)
	if err != nil {
		return "", errors.New(reading(err))
	}
	s := trimEnd(text)
	if s == "" {
		return "", errors.New("is empty")
	}
	return s, nil
}
