package srtcore

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEveryFieldHasOneRow(t *testing.T) {
	rows := map[string]int{}
	var c Config
	for i := range options {
		o := &options[i]
		if o.doc == "" {
			t.Errorf("row %q%q has no doc", o.key, o.field)
		}
		if (o.field == "") != (o.ref == nil) {
			t.Errorf("row %q: a field and a reference go together", o.key)
		}
		if o.field == "" {
			if o.dflt == "" {
				t.Errorf("row %q has neither a field nor a default", o.key)
			}
			continue
		}
		rows[o.field]++
		field := reflect.ValueOf(&c).Elem().FieldByName(o.field)
		if !field.IsValid() || field.Addr().Interface() != o.ref(&c) {
			t.Errorf("row %q refers to something other than Config.%s", o.key, o.field)
		}
	}
	for f := range reflect.TypeFor[Config]().Fields() {
		if rows[f.Name] != 1 {
			t.Errorf("Config.%s has %d rows", f.Name, rows[f.Name])
		}
	}
}

func TestKeysAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for i := range options {
		for _, k := range append([]string{options[i].key}, options[i].aliases...) {
			if k != "" && seen[k] || slices.Contains(notYet, k) {
				t.Errorf("key %q stands for two things", k)
			}
			seen[k] = true
		}
	}
}

// The comments of Config say what the table says.
func TestFieldCommentsFollowTheTable(t *testing.T) {
	comments := fieldComments(t)
	dflt := DefaultConfig()
	for i := range options {
		o := &options[i]
		if o.field == "" {
			continue
		}
		text := comments[o.field]
		if text == "" || !strings.HasPrefix(text, o.field) {
			t.Errorf("Config.%s has no comment that begins with its name", o.field)
		}
		if o.srto != "" && !strings.Contains(text, o.srto+",") {
			t.Errorf("the comment of Config.%s does not name %s", o.field, o.srto)
		}
		if o.kind == kindGo || o.kind.isText() {
			continue
		}
		if want := "default " + bareDefault(o, &dflt); !strings.Contains(text, want) {
			t.Errorf("the comment of Config.%s does not say %q", o.field, want)
		}
		for _, r := range o.ranges {
			if n := fmt.Sprint(r.hi); o.allowed == "" && o.kind != kindTriBool && !strings.Contains(text, n) && !strings.Contains(text, "MSS-44") {
				t.Errorf("the comment of Config.%s does not name the limit %s", o.field, n)
			}
		}
	}
}

// fieldComments returns the comments in config.go, white space squeezed.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && len(f.Names) == 1 {
			comments[f.Names[0].Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
		}
		return true
	})
	return comments
}

func TestDefaultsAreValid(t *testing.T) {
	c := DefaultConfig()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestZeroConfigIsRefusedByName(t *testing.T) {
	var oe *OptionError
	if err := new(Config).Validate(); !errors.As(err, &oe) {
		t.Fatalf("a zero Config gives %v", err)
	}
}

// Both ends of every range are taken and what lies next to them is not.
func TestRangeEnds(t *testing.T) {
	for i := range options {
		o := &options[i]
		if o.ref == nil || o.kind == kindGo || o.kind == kindBool || o.kind.isText() {
			continue
		}
		allowed := func(n int64) bool {
			return slices.ContainsFunc(o.ranges, func(r span) bool { return n >= r.lo && n <= r.hi })
		}
		for _, r := range o.ranges {
			for _, n := range []int64{r.lo - 1, r.lo, r.hi, r.hi + 1} {
				c := DefaultConfig()
				o.setNumber(&c, n*o.kind.base())
				if o.number(&c) != n*o.kind.base() {
					continue // does not fit the field: 32-bit machines
				}
				err := o.inRange(&c, o.key)
				if (err == nil) != allowed(n) {
					t.Errorf("%s = %d: %v", o.key, n, err)
				}
				if err != nil && !strings.Contains(err.Error(), o.allowedText()) {
					t.Errorf("%q does not say what is allowed", err)
				}
			}
		}
	}
}

func TestValidateMessages(t *testing.T) {
	set := func(change func(*Config)) Config {
		c := DefaultConfig()
		change(&c)
		return c
	}
	for _, tt := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.RcvLatency = 900 * time.Second }, `option "rcvlatency" = 900000ms is out of range: allowed 0..65535 ms`},
		{func(c *Config) { c.PeerLatency = -1 }, `option "peerlatency" = -1us is out of range: allowed 0..65535 ms`},
		{func(c *Config) { c.MSS = 9000 }, `option "mss" = 9000 is out of range: allowed 76..1500 bytes`},
		{func(c *Config) { c.PBKeyLen = 8 }, `option "pbkeylen" = 8 is out of range: allowed 0, 16, 24 or 32 bytes`},
		{func(c *Config) { c.OverheadBW = 4 }, `option "oheadbw" = 4 is out of range: allowed 5..100 percent`},
		{func(c *Config) { c.MaxBW = -2 }, `option "maxbw" = -2 is out of range: allowed -1 or 0..1000000000000 bytes/s`},
		{func(c *Config) { c.IPTTL = 0 }, `option "ipttl" = 0 is out of range: allowed -1 or 1..255`},
		{func(c *Config) { c.KMRefreshRate, c.KMPreAnnounce = 100, 50 }, `option "kmpreannounce" = 50 does not fit the kmrefreshrate of 100: allowed 0..49 packets`},
		{func(c *Config) { c.MSS, c.PayloadSize = 1300, 1300 }, `option "payloadsize" = 1300 does not fit the mss of 1300: allowed 0..1256 bytes`},
		{func(c *Config) { c.StreamID = "a\x00b" }, `option "streamid" holds a zero byte: allowed any other byte`},
		{func(c *Config) { c.BindToDevice = "a/b" }, `option "bindtodevice" is not the name of a network interface: allowed 1..15 bytes without zero bytes and slashes`},
		{func(c *Config) { c.LocalAddr = "1.2.3.4" }, `option "bind" is not an address: allowed ADDRESS:PORT or :PORT, the port 0..65535`},
		{func(c *Config) { c.Backlog = 0 }, `option "backlog" = 0 is out of range: allowed 1..65535`},
		{func(c *Config) { c.MinVersion = 1 << 24 }, `option "minversion" = 256.0.0 is out of range: allowed 0.0.0..255.255.255, or the same as a number`},
	} {
		c := set(tt.change)
		err := c.Validate()
		if err == nil || err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
		var oe *OptionError
		if !errors.As(err, &oe) || oe.Option == "" || oe.Problem == "" || oe.Allowed == "" {
			t.Errorf("%#v is no complete *OptionError", err)
		}
	}
}

func TestValidateTakes(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"sender that never drops":    func(c *Config) { c.SndDropDelay = -1 },
		"small refresh rate alone":   func(c *Config) { c.KMRefreshRate = 10 },
		"pre-announce at its limit":  func(c *Config) { c.KMRefreshRate, c.KMPreAnnounce = 10, 4 },
		"defaults by zero":           func(c *Config) { c.KMRefreshRate, c.KMPreAnnounce, c.PayloadSize = 0, 0, 0 },
		"small MSS alone":            func(c *Config) { c.MSS = 1300 },
		"largest payload":            func(c *Config) { c.PayloadSize = 1456 },
		"local port":                 func(c *Config) { c.LocalAddr = ":5000" },
		"local IPv6 address":         func(c *Config) { c.LocalAddr = "[::1]:0" },
		"key length, no passphrase":  func(c *Config) { c.PBKeyLen = 32 },
		"passphrase of any 10 bytes": func(c *Config) { c.Passphrase = "\x00\xff%&= #?+\n" },
	} {
		c := DefaultConfig()
		change(&c)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A Config in a log shows what was changed and never the passphrase.
func TestConfigPrintsWithoutPassphrase(t *testing.T) {
	const secret = "correct horse battery"
	c := DefaultConfig()
	c.Passphrase, c.RcvLatency = secret, 200*time.Millisecond
	target := Target{Mode: ModeCaller, Addr: "h:1", Config: c}
	for _, text := range []string{
		fmt.Sprint(c), fmt.Sprint(&c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c),
		fmt.Sprint(&target), fmt.Sprintf("%+v", target), fmt.Sprintf("%#v", target), target.URL(),
	} {
		if strings.Contains(text, secret) {
			t.Errorf("the passphrase shows in %s", text)
		}
	}
	if got, want := c.String(), "Config{rcvlatency=200ms passphrase=(hidden)}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
