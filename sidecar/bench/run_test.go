package bench

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

func TestRunOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		o    RunOptions
		want string
	}{
		{RunOptions{Profile: "P2", Secs: 1}, ""},
		{RunOptions{Profile: "P2", Secs: 1, Target: "host:9000"}, ""},
		{RunOptions{Profile: "P2", Secs: 1, Target: "srt://host:9000?streamid=a%23b&latency=200&mode=caller"}, ""},
		{RunOptions{Profile: "P2", Secs: 1, Target: "srt://host:9000?mode=listener"}, "latency, passphrase"},
		{RunOptions{Profile: "P2", Secs: 1, Target: "srt://:9000"}, "host:port"},
		{RunOptions{Profile: "P9", Secs: 1}, "P1, P2"},
		{RunOptions{Profile: "P2"}, "--secs"},
		{RunOptions{Profile: "P2", Secs: 1, Target: "host"}, "host:port"},
	} {
		err := c.o.Check()
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

func TestTargetOptionsReplaceThoseOfTheLoad(t *testing.T) {
	at, err := parseTarget("srt://[::1]:9000?streamid=%23!::r=a+b&latency=200")
	if got := strings.Join(at.args, " "); err != nil || at.host != "::1" || at.port != "9000" || got != "--streamid #!::r=a+b --latency 200" {
		t.Errorf("%+v, %v", at, err)
	}
}

func TestRunReports(t *testing.T) {
	sent := map[string]any{"offered_bytes": 2632.0, "sent_bytes": 2632.0, "sent_msgs": 2.0, "run_cpu_s": .5}
	got := map[string]any{"delivered_bytes": 2632.0, "msgs": 2.0, "lat_p99_ms": 20.5}
	var b bytes.Buffer
	if code := reportRun(&b, loads[1], RunOptions{}, sent, got); code != 0 || !strings.Contains(b.String(), "p99 20.5") || !strings.Contains(b.String(), `"complete":true`) {
		t.Errorf("%d\n%s", code, b.String())
	}
	got["gaps"] = 1.0
	if code := reportRun(&b, loads[1], RunOptions{}, sent, got); code != 1 {
		t.Errorf("a gap: %d", code)
	}
	sent["undrained"] = 3.0
	if code := reportRun(&b, loads[1], RunOptions{Target: "h:1"}, sent, nil); code != 1 {
		t.Errorf("unacknowledged: %d", code)
	}
}

func TestSignIsSeenAcrossWrites(t *testing.T) {
	s := &sign{want: []byte("listening"), seen: make(chan struct{})}
	s.Write([]byte("lis"))
	select {
	case <-s.seen:
		t.Fatal("too early")
	default:
	}
	s.Write([]byte("tening\n"))
	s.Write([]byte("listening again"))
	select {
	case <-s.seen:
	case <-time.After(5 * time.Second):
		t.Error("not seen")
	}
}

func TestRunSaysThatAProgramIsMissing(t *testing.T) {
	var b, e bytes.Buffer
	if code := Run(context.Background(), RunOptions{Profile: "P2", Secs: 1, Program: "/nowhere/weirline"}, &b, &e); code != 2 || !strings.Contains(b.String(), "nowhere") {
		t.Errorf("%d: %s", code, b.String())
	}
}
