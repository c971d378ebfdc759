package props_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/gstplugin/props"
)

func TestTableIsSound(t *testing.T) {
	seen, keys := map[string]bool{}, map[string]bool{}
	optionsBegan := false
	for _, s := range props.Table() {
		optionsBegan = optionsBegan || !s.Property
		switch {
		case seen[s.Name]:
			t.Errorf("%s: twice", s.Name)
		case s.Property && optionsBegan:
			t.Errorf("%s: a property behind the options", s.Name)
		case s.Doc == "" || strings.ContainsAny(s.Doc, "\n\t") || strings.HasSuffix(s.Doc, "."):
			t.Errorf("%s: Doc %q", s.Name, s.Doc)
		case s.On&props.Both == 0 || !s.Writable || s.Readable == s.Secret:
			t.Errorf("%s: %+v", s.Name, s)
		case s.Default < s.Min || s.Default > s.Max:
			t.Errorf("%s: default %d is out of %d..%d", s.Name, s.Default, s.Min, s.Max)
		case (s.Kind == props.Enum) != (s.Enum != nil):
			t.Errorf("%s: enumeration or not", s.Name)
		case s.Enum != nil && s.Enum.Nick(s.Default) == "":
			t.Errorf("%s: default %d has no nick", s.Name, s.Default)
		}
		seen[s.Name] = true
		for _, k := range s.Keys {
			if keys[k] {
				t.Errorf("key %s: twice", k)
			}
			keys[k] = true
		}
	}
}

// The options with a row for documentation are known to the core, with the
// ranges the row has.
func TestOptionRowsAgreeWithTheCore(t *testing.T) {
	for _, s := range props.Table() {
		if s.Property || s.Name == "packetfilter" {
			continue
		}
		good := s.DefaultText
		if s.Kind != props.String {
			good = itoa(s.Default)
		}
		if good == "" {
			good = "lo"
		}
		set := props.NewSettings(props.Sink)
		if w, err := set.SetURI("srt://h:1?" + s.Name + "=" + good); err != nil || len(w) > 0 {
			t.Errorf("%s=%s: %q, %v", s.Name, good, w, err)
		}
		if s.Kind != props.Int && s.Kind != props.Int64 {
			continue
		}
		for _, edge := range []int64{s.Min - 1, s.Max + 1} {
			if s.Name == "snddropdelay" && edge < 0 {
				continue // every negative number means never
			}
			if w, err := set.SetURI("srt://h:1?" + s.Name + "=" + itoa(edge)); err != nil || len(w) != 1 {
				t.Errorf("%s=%d: %q, %v; want a warning", s.Name, edge, w, err)
			}
		}
	}
}

func snapshot(t *testing.T, s *props.Settings) props.Config {
	t.Helper()
	c, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultsAreStock(t *testing.T) {
	s := props.NewSettings(props.Source)
	c := snapshot(t, s)
	if c.Mode != props.ModeCaller || c.Addr != "127.0.0.1:7001" || c.Latency != 125*time.Millisecond ||
		c.SRT.RcvLatency != c.Latency || c.SRT.PeerLatency != c.Latency || c.SRT.LocalAddr != "" || c.SRT.Passphrase != "" ||
		!c.WaitForConnection || !c.AutoReconnect || c.KeepListening || c.Authentication {
		t.Errorf("%+v", c)
	}
	if _, ok := s.LookupString(props.StreamID); ok {
		t.Error("streamid is not null")
	}
	if s.GetString(props.ConnectionMode) != "caller" || s.GetInt(props.LocalPort) != 7001 || s.GetString(props.URI) != "srt://127.0.0.1:7001" {
		t.Error("defaults do not read back")
	}
}

// C19: whatever comes first, the property wins over the URI, and nothing is
// lost.
func TestOrderDoesNotMatter(t *testing.T) {
	steps := []func(*props.Settings) error{
		func(s *props.Settings) error { return s.SetInt(props.Latency, 777) },
		func(s *props.Settings) error { return s.SetString(props.Passphrase, "0123456789ab") },
		func(s *props.Settings) error { return s.SetString(props.StreamID, "hello") },
		func(s *props.Settings) error { return s.SetString(props.PBKeyLen, "32") },
		func(s *props.Settings) error {
			return s.SetString(props.URI, "srt://10.0.0.1:9106?latency=300&streamid=uri&passphrase=zyxwvutsrqponm&pbkeylen=16&mss=1400")
		},
	}
	var first props.Config
	for shift := range steps {
		s := props.NewSettings(props.Sink)
		for i := range steps {
			if err := steps[(i+shift)%len(steps)](s); err != nil {
				t.Fatal(err)
			}
		}
		c := snapshot(t, s)
		if shift == 0 {
			first = c
		}
		if c.SRT.RcvLatency != 777*time.Millisecond || c.SRT.PeerLatency != 777*time.Millisecond || c.SRT.Passphrase != "0123456789ab" ||
			c.SRT.StreamID != "hello" || c.SRT.PBKeyLen != 32 || c.SRT.MSS != 1400 || c.Addr != "10.0.0.1:9106" || c.SRT.String() != first.SRT.String() {
			t.Errorf("shift %d: %v %+v", shift, c.Addr, c.SRT)
		}
	}
}

func TestSecondURIReplacesTheFirst(t *testing.T) {
	s := props.NewSettings(props.Source)
	for _, uri := range []string{"srt://a:1?latency=300&mss=1400&keep-listening=1", "srt://b:2?streamid=x"} {
		if _, err := s.SetURI(uri); err != nil {
			t.Fatal(err)
		}
	}
	c := snapshot(t, s)
	if c.Addr != "b:2" || c.Latency != 125*time.Millisecond || c.SRT.MSS != 1500 || c.KeepListening || c.SRT.StreamID != "x" {
		t.Errorf("%+v", c)
	}
	if _, err := s.SetURI("http://c"); err == nil {
		t.Error("http:// was taken")
	}
	if s.URI() != "srt://b:2?streamid=x" {
		t.Errorf("a refused URI changed it to %s", s.URI())
	}
}

func TestBadValuesAreNamedAndRefusedAtTheStart(t *testing.T) {
	for _, c := range []struct {
		set  func(*props.Settings) error
		want string
	}{
		{func(s *props.Settings) error { return s.SetString(props.Passphrase, "123456789") }, "10..80"},
		{func(s *props.Settings) error { return s.SetInt(props.Latency, 70000) }, "0..65535"},
		{func(s *props.Settings) error { return s.SetString(props.StreamID, strings.Repeat("x", 513)) }, "512"},
	} {
		s := props.NewSettings(props.Sink)
		for _, err := range []error{c.set(s), second(s.Snapshot())} {
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "123456789") {
				t.Errorf("error %v, want %q", err, c.want)
			}
		}
	}
	s := props.NewSettings(props.Sink)
	for _, err := range []error{
		s.SetInt(props.LocalPort, 65536), s.SetInt(props.PBKeyLen, 17), s.SetString(props.ConnectionMode, "server"),
		s.SetInt("nonsense", 1), s.SetBool(props.KeepListening, true), s.SetInt(props.StreamID, 1), s.SetBool(props.Latency, true),
		s.SetString(props.URI, "nonsense"), s.SetNull(props.URI), s.SetInt("mss", 1400),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
	if _, err := s.Snapshot(); err != nil {
		t.Errorf("what was refused counts nevertheless: %v", err)
	}
}

func second(_ props.Config, err error) error { return err }

func TestUnsupportedModes(t *testing.T) {
	for _, mode := range []string{"none", "rendezvous"} {
		s := props.NewSettings(props.Sink)
		if err := s.SetString(props.ConnectionMode, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Snapshot(); err == nil || !strings.Contains(err.Error(), mode) {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestSecretsAreNotReadBack(t *testing.T) {
	s := props.NewSettings(props.Sink)
	if err := s.SetString(props.URI, "srt://h:1?passphrase=topsecret1234&latency=200"); err != nil {
		t.Fatal(err)
	}
	if got := s.GetString(props.Passphrase); got != "" {
		t.Errorf("passphrase reads back as %q", got)
	}
	const want = "srt://h:1?passphrase=(hidden)&latency=200"
	if s.URI() != want {
		t.Errorf("URI = %s", s.URI())
	}
	// A program may change one option and set the URI again.
	if _, err := s.SetURI(strings.Replace(want, "200", "300", 1)); err != nil {
		t.Fatal(err)
	}
	if c := snapshot(t, s); c.SRT.Passphrase != "topsecret1234" || c.Latency != 300*time.Millisecond {
		t.Errorf("%+v", c)
	}
	// Elsewhere the hidden passphrase is none.
	other := props.NewSettings(props.Sink)
	if _, err := other.SetURI(want); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Snapshot(); err == nil {
		t.Error("a hidden passphrase was taken for one")
	}
	w, err := s.SetURI("srt://h:1?passphrase=abcdefghij&rest=of&it")
	if err != nil || len(w) == 0 || strings.Contains(strings.Join(w, " ")+s.URI(), "rest") {
		t.Errorf("%q, %v, %s", w, err, s.URI())
	}
}

func TestSettingsFromManyThreads(t *testing.T) {
	s := props.NewSettings(props.Source)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 100 {
				_ = s.SetInt(props.Latency, int64(i))
				_, _ = s.SetURI("srt://h:1?latency=50&passphrase=0123456789")
				_, _ = s.Snapshot()
				s.GetString(props.URI)
				s.SetOpen(false)
				s.Warnings()
			}
		})
	}
	wg.Wait()
}
