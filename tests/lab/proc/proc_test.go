package proc

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func TestParseStatus(t *testing.T) {
	s, ended := parseStatus([]byte("Name:\tx\nState:\tS (sleeping)\nVmHWM:\t  9716 kB\nVmRSS:\t  9000 kB\nThreads:\t5\n"))
	if ended || s.HWMKB != 9716 || s.RSSKB != 9000 || s.Threads != 5 {
		t.Errorf("%+v, %v", s, ended)
	}
	if _, ended := parseStatus([]byte("State:\tZ (zombie)\n")); !ended {
		t.Error("a zombie lives")
	}
}

func TestParseStat(t *testing.T) {
	cpu, err := parseStat([]byte("1 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0"))
	if err != nil || cpu != 2 {
		t.Errorf("%v, %v", cpu, err)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1", "1 (x) S 1 2 3 4 5 6 7 8 9 10 a b 0"} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestParseUDP(t *testing.T) {
	u := parseUDP([]byte("Ip: a\nUdp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors\nUdp: 9 8 7 6 5 4\nUdpLite: x\n"))
	if u != (UDP{7, 5, 4}) {
		t.Errorf("%+v", u)
	}
	if d := u.Sub(UDP{1, 1, 1}); d != (UDP{6, 4, 3}) {
		t.Errorf("%+v", d)
	}
}

func TestSimultaneousIsLessThanTheSumOfPeaks(t *testing.T) {
	at := time.Unix(100, 0)
	a := &Watch{rss: []sample{{at, 10}, {at.Add(sampleEvery), 90}}}
	b := &Watch{rss: []sample{{at, 80}, {at.Add(sampleEvery), 5}}}
	if got := SimultaneousKB(a, b); got != 95 {
		t.Errorf("%d, want 95", got)
	}
}

func TestProcessIsReadAndMeasured(t *testing.T) {
	p, err := Start(context.Background(), Spec{
		Name: "sh", Argv: []string{"sh", "-c", `echo '{"role":"recv","n":3}'; echo listening >&2; exec sleep 60`}, Ready: "listening",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.WaitReady(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	p.Stop(10 * time.Second)
	lines, err := p.Lines()
	if err == nil || len(lines) != 1 || lines[0]["n"] != 3.0 || lines[0]["total_cpu_s"] == nil {
		t.Errorf("%v, %v", lines, err)
	}
	if p.Watch.Peak().Threads < 1 {
		t.Errorf("peak %+v", p.Watch.Peak())
	}
}

func TestProcessSaysWhatWentWrong(t *testing.T) {
	for script, want := range map[string]string{
		`echo trouble >&2; exit 3`:                    "trouble",
		`echo '{"error":"connect: refused"}'; exit 2`: "connect: refused",
		`echo hello`: "no JSON",
	} {
		p, err := Start(context.Background(), Spec{Name: "sh", Argv: []string{"sh", "-c", script}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Lines(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
	if _, err := Start(context.Background(), Spec{Name: "none", Argv: []string{"/nowhere/none"}}); err == nil {
		t.Error("a missing program starts")
	}
}

func TestMachine(t *testing.T) {
	m := ThisMachine()
	if m.CPU == "" || m.Kernel == "" || m.Cores < 1 || m.RmemMax == 0 || m.Files == 0 {
		t.Errorf("%+v", m)
	}
	sum, err := Checksum("sh")
	if err != nil || len(sum) != 64 {
		t.Errorf("%q, %v", sum, err)
	}
}

func TestOwnSocketsAreCounted(t *testing.T) {
	before := UDPSockets(os.Getpid())
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n := UDPSockets(os.Getpid()); n != before+1 {
		t.Errorf("%d, want %d", n, before+1)
	}
}
