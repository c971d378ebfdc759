package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weirline.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func environment(m map[string]string) func(string) (string, bool) {
	return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
}

// Every mistake names its line, its key and what is allowed.
func TestBadFiles(t *testing.T) {
	const listener = "listeners:\n- name: main\n  address: 127.0.0.1:9000\n"
	const head = listener + "routes:\n- name: a\n"
	for _, c := range []struct {
		name, text string
		line       int
		key, want  string
	}{
		{"unknown key", "listen: off\nlisten_: off\n", 2, "", `unknown key "listen_" (did you mean "listen"?): allowed listen, control, log, listeners, routes`},
		{"unknown key below", "control:\n  listen: off\n  tokn: x\n", 3, "control", `did you mean "token"?`},
		{"unknown key in a list", head + "  source: udp://:5000\n  outputs: [{uri: x}]\n", 7, "routes[0].outputs[0]", `unknown key "uri" (did you mean "url"?): allowed url, play`},
		{"underscore for dash", head + "  source: udp://:5000\n  max_players: 3\n", 7, "routes[0]", `did you mean "max-players"?`},
		{"key twice", "listen: off\nlog: {}\nlisten: off\n", 3, "", `the key "listen" twice, in line 1 as well`},
		{"merge", "x: &x {listen: off}\n", 1, "", `unknown key "x"`},
		{"list for a value", "listen: [a]\n", 1, "listen", "is a list: allowed one value"},
		{"value for a group", "control: yes\n", 1, "control", "is a single value: allowed keys with values below it: listen, token, token-file, origins"},
		{"value for a list", "routes: x\n", 1, "routes", "is a single value: allowed a list"},
		{"group for a list", "routes:\n  name: x\n", 2, "routes", "is a group of keys: allowed a list"},
		{"root is a list", "- listen\n", 1, "", "is a list: allowed keys"},
		{"root is text", "hello\n", 1, "", "is a single value: allowed keys"},
		{"two documents", "listen: off\n---\nlisten: off\n", 2, "", "second document"},
		{"not YAML", "listen: off\nlog: {level\n", 2, "", "is not YAML"},
		{"tab", "control:\n\tlisten: off\n", 2, "", "is not YAML"},
		{"level", "log:\n  level: loud\n", 2, "log.level", `"loud" is refused: allowed debug, info, warn, error`},
		{"format", "log:\n  level: info\n  format: xml\n", 3, "log.format", "allowed text, json"},
		{"listen", "listen: '9710'\n", 1, "listen", "allowed host:port, unix:PATH or off"},
		{"listen port", "listen: 127.0.0.1:99999\n", 1, "listen", "allowed host:port"},
		{"control without token", "control:\n  listen: 0.0.0.0:9711\n", 1, "control.token", "is missing: control.listen can be reached from other machines"},
		{"control on every host", "control: {listen: ':9711'}\n", 1, "control.token", "is missing"},
		{"short token", "control:\n  token: tooshort\n", 2, "control.token", "allowed 16..256 bytes"},
		{"token with a space", "control:\n  token: with a space in it all\n", 2, "control.token", "cannot carry"},
		{"empty token", "control:\n  token:\n", 2, "control.token", "is empty: leave the key out"},
		{"empty passphrase", "listeners:\n- name: a\n  address: :9000\n  passphrase: ''\n", 4, "listeners[0].passphrase", "is empty"},
		{"passphrase that looks like a tag", "listeners:\n- name: a\n  address: :9000\n  passphrase: !0123456789x\n", 4, "listeners[0].passphrase", "put quotes"},
		{"passphrase that looks like an alias", "listeners:\n- name: a\n  address: :9000\n  passphrase: *hunter2secret\n", 4, "", "is not YAML"},
		{"token twice", "control:\n  token: 0123456789abcdef\n  token-file: x\n", 3, "control.token-file", "the file cannot be read"},
		{"origin", "control:\n  origins:\n  - https://ok\n  - '*'\n", 4, "control.origins[1]", "allowed http://host[:port]"},
		{"origin with path", "control:\n  origins: ['https://ok/x']\n", 2, "control.origins[0]", "allowed http://host[:port]"},
		{"listener without a name", "listeners:\n- address: :9000\n", 2, "listeners[0].name", "is missing"},
		{"listener without an address", "listeners:\n- name: a\n", 2, "listeners[0].address", "is missing"},
		{"name", "listeners:\n- name: a b\n  address: :9000\n", 2, "listeners[0].name", "letters"},
		{"address", "listeners:\n- name: a\n  address: udp://:9000\n", 3, "listeners[0].address", "allowed [host]:port, or srt://"},
		{"caller", "listeners:\n- name: a\n  address: srt://h:9000?mode=caller\n", 3, "listeners[0].address", "does not fit a listener"},
		{"SRT option", "listeners:\n- name: a\n  address: srt://:9000?latancy=2\n", 3, "listeners[0].address", `did you mean "latency"?`},
		{"short passphrase", "listeners:\n- name: a\n  address: :9000\n  passphrase: hunter2\n", 4, "listeners[0].passphrase", "allowed 10..80 bytes"},
		{"number", "listeners:\n- name: a\n  address: :9000\n  max-connections: many\n", 4, "listeners[0].max-connections", `"many" is no whole number`},
		{"number out of range", "listeners:\n- name: a\n  address: :9000\n  max-per-address: -1\n", 4, "listeners[0].max-per-address", "allowed 0..100000"},
		{"prefix", "listeners:\n- name: a\n  address: :9000\n  deny:\n  - 10.0.0.0/8\n  - 10.0.0.0/33\n", 6, "listeners[0].deny[1]", "allowed 192.0.2.1, 10.0.0.0/8"},
		{"hook", "listeners:\n- name: a\n  address: :9000\n  hook:\n    url: ftp://x\n", 5, "listeners[0].hook.url", "allowed http://"},
		{"hook timeout", "listeners:\n- name: a\n  address: :9000\n  hook:\n    url: http://x\n    timeout: 3s\n", 6, "listeners[0].hook.timeout", "allowed 50ms..2.5s"},
		{"no unit", "listeners:\n- name: a\n  address: :9000\n  hook:\n    url: http://x\n    timeout: 2\n", 6, "listeners[0].hook.timeout", `"2" has no unit: allowed as in 500ms`},
		{"user", "listeners:\n- name: a\n  address: :9000\n  users:\n  - name: a,b\n", 5, "listeners[0].users[0].name", "without comma"},
		{"user twice", "listeners:\n- name: a\n  address: :9000\n  users:\n  - name: u\n  - name: u\n", 6, "listeners[0].users[1].name", `"u" is the name of listeners[0].users[0].name in line 5 already`},
		{"pattern", "listeners:\n- name: a\n  address: :9000\n  users:\n  - name: u\n    play: [a, '']\n", 6, "listeners[0].users[0].play[1]", "for any text"},
		{"listener twice", listener + "- name: main\n  address: :9001\n", 4, "listeners[1].name", `"main" is the name of listeners[0].name in line 2 already`},
		{"route twice", head + "  source: udp://:5000\n- name: a\n  source: udp://:5001\n", 7, "routes[1].name", "routes[0].name in line 5 already"},
		{"no source", head, 5, "routes[0].sources", "is missing: a route needs source: URL"},
		{"source and sources", head + "  source: udp://:5000\n  sources: [udp://:5001]\n", 7, "routes[0].sources", "source and sources are both given"},
		{"source URL", head + "  source: rtmp://x/y\n", 6, "routes[0].sources[0].url", `scheme "rtmp" is not known`},
		{"no URL", head + "  source: file.ts\n", 6, "routes[0].sources[0].url", "is not a URL: allowed srt://"},
		{"stdin", head + "  source: '-'\n", 6, "routes[0].sources[0].url", "no standard input"},
		{"empty source", head + "  sources:\n  - {}\n", 7, "routes[0].sources[0]", "says nothing: allowed url or publish"},
		{"both", head + "  source: {url: 'udp://:5000', publish: {listener: main, stream: x}}\n", 6, "routes[0].sources[0]", "has url and publish"},
		{"output", head + "  source: udp://:5000\n  outputs:\n  - udp://127.0.0.1:1\n  - url: srt://h\n", 9, "routes[0].outputs[1].url", `"port" is missing`},
		{"listener ref", head + "  source: {publish: {listener: mian, stream: x}}\n", 6, "routes[0].sources[0].publish.listener", `"mian" is no listener of this file: allowed main`},
		{"no listeners", "routes:\n- name: a\n  source: {publish: {listener: x, stream: x}}\n", 3, "routes[0].sources[0].publish.listener", "there are no listeners"},
		{"stream", head + "  source:\n    publish:\n      listener: main\n      stream: a,b\n", 9, "routes[0].sources[0].publish.stream", "without comma"},
		{"stream missing", head + "  source:\n    publish:\n      listener: main\n", 7, "routes[0].sources[0].publish.stream", "allowed 1..256"},
		{"stream twice", head + "  source: {publish: {listener: main, stream: x}}\n- name: b\n  source: {publish: {listener: main, stream: x}}\n", 8, "routes[1].sources[0].publish.stream", `"x" to publish already, by routes[0].sources[0].publish in line 6`},
		{"queue", head + "  source: udp://:5000\n  queue: 5 potatoes\n", 7, "routes[0].queue", "allowed as in 65536, 512KiB, 5MiB"},
		{"queue range", head + "  source: udp://:5000\n  queue: 1KiB\n", 7, "routes[0].queue", "1024 is out of range: allowed 65536..1073741824 bytes"},
		{"duration", head + "  source: udp://:5000\n  hold-off: always\n", 7, "routes[0].hold-off", "allowed as in 500ms, 2s, 1m, never"},
		{"failover", head + "  source: udp://:5000\n  failover-after: 0s\n", 7, "routes[0].failover-after", "allowed 100ms..1h"},
		{"max-age", head + "  source: udp://:5000\n  max-age: 2h\n", 7, "routes[0].max-age", "allowed 10ms..1h"},
		{"slow", head + "  source: udp://:5000\n  slow-after: 1ms\n", 7, "routes[0].slow-after", "allowed 100ms..1h, or 0 for never"},
		{"SRT port", head + "  source: srt://:9000?mode=listener\n", 6, "routes[0].sources[0].url", "udp port 9000 is used by listeners[0].address in line 3 already"},
		{"UDP port", head + "  source: udp://:5000\n- name: b\n  source: udp://127.0.0.1:5000\n", 8, "routes[1].sources[0].url", "udp port 5000 is used by routes[0].sources[0].url in line 6 already"},
		{"TCP port", head + "  source: tcp://127.0.0.1:9710\n", 6, "routes[0].sources[0].url", "tcp port 9710 is used by listen already"},
		{"listeners on one port", listener + "- name: b\n  address: srt://:9000\n", 5, "listeners[1].address", "udp port 9000 is used by listeners[0].address in line 3"},
		{"socket", head + "  source: unix:/run/x.sock\n  outputs: ['unix:/run/./x.sock?listen=1']\n", 7, "routes[0].outputs[0].url", "the socket is used by routes[0].sources[0].url in line 6"},
		{"file", head + "  source: udp://:5000\n  outputs: [file:///tmp/a.ts, file:///tmp/b/../a.ts]\n", 7, "routes[0].outputs[1].url", "the file is written by routes[0].outputs[0].url in line 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.text)
			_, err := Load(path, nil)
			var list Problems
			if !errors.As(err, &list) {
				t.Fatalf("Load = %v", err)
			}
			if len(list) != 1 {
				t.Errorf("%d problems: %v", len(list), err)
			}
			p := list[0]
			if p.File != path || p.Line != c.line && c.line > 0 || p.Key != c.key || !strings.Contains(p.Text, c.want) {
				t.Errorf("got  %s\nwant line %d, key %q, text with %q", p, c.line, c.key, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error has the secret: %v", err)
			}
		})
	}
}

// All mistakes are told at once, in the order of the file.
func TestAllMistakesAtOnce(t *testing.T) {
	path := write(t, `listen: nowhere
log:
  level: loud
  colour: yes
routes:
- name: a
  source: udp://:5000
  queue: 1
- name: a
  source: rtmp://x
`)
	_, err := Load(path, environment(map[string]string{"WEIRLINE_LOG_FORMAT": "xml", "WEIRLINE_CONTROL_LISTEN": "0.0.0.0:1"}))
	want := []string{
		"environment: WEIRLINE_LOG_FORMAT: ",
		path + ": control.token: is missing",
		path + ":1: listen: ", path + ":3: log.level: ", path + ":4: log: has the unknown key \"colour\"",
		path + ":8: routes[0].queue: ", path + ":9: routes[1].name: ", path + ":10: routes[1].sources[0].url: ",
	}
	var got Problems
	if !errors.As(err, &got) || len(got) != len(want) {
		t.Fatalf("%v", err)
	}
	text := err.Error()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in\n%s", w, text)
		}
	}
}

func TestSecretsAreInNoError(t *testing.T) {
	for _, text := range []string{
		"listeners:\n- name: a\n  address: srt://:9000?passphrase=hunter2\n",
		"listeners:\n- name: a\n  address: hunter2@:9000?passphrase=hunter2hunter2\n",
		"routes:\n- name: a\n  source: srt://h:1?passphrase=hunter2&hunter2\n",
		"routes:\n- name: a\n  source: srt://h:1?passphrase=hunter2hunter2&latency=x\n",
		"listeners:\n- name: a\n  address: :9000\n  passphrase: [hunter2]\n",
		"listeners:\n- name: a\n  address: :9000\n  passphrase: 'hunter2\n",
		"listeners:\n- name: a\n  address: :9000\n  passphrase:hunter2hunter2: x\n",
		"listeners:\n- name: a\n  address: :9000\n  passphrase: hunter2: x\n",
		"listeners:\n- name: a\n  address: :9000\n  hook: {url: 'hunter2', timeout: 9s}\n",
		"control: {listen: ':1', token: hunter2}\n",
		"control: {listen: ':1', token: 0123456789abcdef, hunter2}\n",
	} {
		_, err := Load(write(t, text), environment(map[string]string{"WEIRLINE_CONTROL_TOKEN": "hunter2"}))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s%v", text, err)
		}
	}
}

func TestFullFile(t *testing.T) {
	path := write(t, `# everything
listen: unix:/run/weirline/http.sock
control:
  listen: 0.0.0.0:9711
  token-file: token
  origins: [https://ops.example.net:8443]
log: {level: warn, format: json}
listeners:
- name: main
  address: srt://:9000?latency=200
  passphrase: 0123456789
  max-connections: 500
  max-per-address: 20
  allow: [10.0.0.0/8, "2001:db8::/32"]
  deny: [10.66.0.0/16]
  hook: {url: http://127.0.0.1:8080/srt, timeout: 1500ms}
  users:
  - name: cam
    passphrase: "of the camera"
    publish: [live/*]
  - {name: tv, play: ["*"]}
routes:
- name: studio
  sources:
  - publish: {listener: main, stream: live/a, passphrase: of the stream}
  - srt://203.0.113.7:9000?streamid=#!::r=backup
  - url: udp://239.1.1.1:5000
  outputs:
  - play: &ref {listener: main, stream: live/a}
  - file:///tmp/a.ts
  failover-after: 500ms
  hold-off: never
  queue: 2MiB
  max-age: 3s
  slow-after: 10s
  max-players: 200
- name: plain
  source: tcp://127.0.0.1:7000
`)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "token"), []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path, environment(map[string]string{"WEIRLINE_LOG_LEVEL": "debug", "WEIRLINE_LISTEN": "off"}))
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "off" || c.Log != (Log{"debug", "json"}) || c.Control.Token != "0123456789abcdef" || len(c.Control.Origins) != 1 {
		t.Errorf("%+v", c)
	}
	l := c.Listeners[0]
	if l.Passphrase != "0123456789" || l.MaxConnections != 500 || l.MaxPerAddress != 20 || len(l.Allow) != 2 || len(l.Deny) != 1 ||
		l.Hook.Timeout != 1500*time.Millisecond || l.Users[0].Publish[0] != "live/*" || l.Users[0].Passphrase != "of the camera" || l.Users[1].Play[0] != "*" {
		t.Errorf("%+v", l)
	}
	r := c.Routes[0]
	if r.Sources[0].Publish.Passphrase != "of the stream" || r.Sources[1].URL != "srt://203.0.113.7:9000?streamid=#!::r=backup" ||
		r.Sources[2].URL != "udp://239.1.1.1:5000" || r.Outputs[0].Play.Stream != "live/a" || r.Outputs[1].URL != "file:///tmp/a.ts" ||
		r.FailoverAfter != 500*time.Millisecond || r.HoldOff != -1 || r.Queue != 2<<20 || r.MaxAge != 3*time.Second ||
		r.SlowAfter != 10*time.Second || r.MaxPlayers != 200 {
		t.Errorf("%+v", r)
	}
	want := defaultRoute()
	want.Name, want.Sources = "plain", []Source{{URL: "tcp://127.0.0.1:7000"}}
	if len(c.Routes) != 2 || !reflect.DeepEqual(c.Routes[1], want) {
		t.Errorf("defaults: %+v", c.Routes[1])
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

func TestNoFile(t *testing.T) {
	c, err := Load("", environment(map[string]string{"WEIRLINE_CONTROL_LISTEN": ":9711", "WEIRLINE_CONTROL_TOKEN": "0123456789abcdef"}))
	if err != nil || c.Control.Listen != ":9711" || c.Listen != Default().Listen {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Load(write(t, ""), nil); err != nil {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := Load(write(t, "# nothing\nroutes:\n"), nil); err != nil {
		t.Errorf("a file of comments: %v", err)
	}
	for path, want := range map[string]string{
		filepath.Join(t.TempDir(), "none.yaml"):        "cannot be read: no such file",
		t.TempDir():                                    "is a directory",
		write(t, "#"+strings.Repeat("x", maxFile)):     "is longer than 1048576 bytes",
		write(t, "#"+strings.Repeat("x", maxFile-1)):   "",
		write(t, "listen: \"\xff\xfe\"\n"):             "is not YAML",
		write(t, strings.Repeat("- [", 20000)+"\n"):    "",
		write(t, "control: {token-file: /dev/zero}\n"): "is longer than 4096 bytes",
	} {
		_, err := Load(path, nil)
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A small file of aliases does not become a large configuration.
func TestAliasBudget(t *testing.T) {
	var b strings.Builder
	b.WriteString("control:\n  origins: &o [" + strings.Repeat("'http://a', ", 3000) + "]\nlisteners:\n")
	for range 1000 {
		b.WriteString("- {name: a, address: ':0', allow: *o}\n")
	}
	begun := time.Now()
	_, err := Load(write(t, b.String()), nil)
	if err == nil || !strings.Contains(err.Error(), "aliases make more of this file") {
		t.Errorf("%.200v", err)
	}
	if d := time.Since(begun); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestParseRoute(t *testing.T) {
	r, err := ParseRoute([]byte(`{"name": "x", "source": "udp://:5000", "outputs": [{"url": "udp://127.0.0.1:5001"}], "max-age": "2s"}`))
	if err != nil || r.Name != "x" || r.Sources[0].URL != "udp://:5000" || r.MaxAge != 2*time.Second || r.Queue != defaultRoute().Queue {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := ParseRoute([]byte(`{"name": "x", "sources": [{}], "queue": -1}`)); err == nil || !strings.Contains(err.Error(), "route.queue: -1 is out of range") {
		t.Errorf("%v", err)
	}
	if o, err := ParseOutput([]byte(`{"play": {"listener": "main", "stream": "a"}}`)); err != nil || o.Play.Stream != "a" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := ParseOutput([]byte(`"srt://h:1?passphrase=hunter2"`)); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
	// Of JSON, not of YAML: a pair of escapes, an escaped slash.
	r, err = ParseRoute([]byte(`{"name": "x", "source": "file:\/\/\/tmp\/\ud83d\ude00.ts"}`))
	if err != nil || r.Sources[0].URL != "file:///tmp/\U0001f600.ts" {
		t.Errorf("%+v, %v", r.Sources, err)
	}
}

// What comes from elsewhere reads no file of this machine.
func TestParseOutputReadsNoFiles(t *testing.T) {
	secret := write(t, "0123456789")
	_, err := ParseOutput([]byte(`{"play": {"listener": "main", "stream": "a", "passphrase-file": "` + secret + `"}}`))
	if err == nil || !strings.HasSuffix(err.Error(), `output.play: has the unknown key "passphrase-file": allowed listener, stream, passphrase`) {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{
		"": "is not JSON", "{": "is not JSON", "{} {}": "allowed one value", "null": "says nothing", "[]": "is a list",
	} {
		if _, err := ParseOutput([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want something about %q", text, err, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	c, err := Load(write(t, "listeners: [{name: a, address: 'srt://:9000?latency=5'}]\nroutes: [{name: a, source: 'srt://h:1?latency=200us'}]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if w := c.Warnings(); len(w) < 2 || !strings.HasPrefix(w[0], "listeners[0].address: ") || !strings.HasPrefix(w[len(w)-1], "routes[0].sources[0].url: ") {
		t.Errorf("%q", w)
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"", "listen: off\n", "routes:\n- {name: a, source: 'udp://:5000'}\n", "a: &a [*a]\n", "routes: &r [*r]\n", "<<: {}\n",
		"control: {token: !x y}\n", "? {a: b}\n: c\n", "listeners: [{name: a, address: ':1', users: [{name: u}]}]\n", "---\n---\n", "\x00", "%YAML 1.1\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := newDecoder("f")
		d.budget = 5000
		c := Default()
		d.document(text, &c)
		err := d.finish(&c)
		if err == nil {
			if err := c.Validate(); err != nil {
				t.Errorf("Load took what Validate refuses: %v", err)
			}
			c.Warnings()
			return
		}
		for _, p := range err.(Problems) {
			if p.Text == "" || strings.ContainsAny(p.Error(), "\n\x00") {
				t.Errorf("problem %q", p)
			}
		}
	})
}
