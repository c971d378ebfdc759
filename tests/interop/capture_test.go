package interop

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/trace"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/lab/impair"

	"github.com/weirline/weirline/tests/proctest"
)

// seen is one packet of a capture as tshark reads it.
type seen struct {
	at                  float64
	size, captured      int
	control             bool
	kind                string // of a control packet, as the wire has it
	seq, ack, ackNo     string
	nak                 []string
	rexmit              bool
	dest, comment, prot string
}

// tsharkFields are asked for, in the order of seen.
var tsharkFields = []string{
	"frame.time_relative", "frame.len", "frame.cap_len", "srt.iscontrol", "srt.type", "srt.seqno", "srt.ack_seqno", "srt.ackno",
	"srt.nak_seqno", "srt.msg.rexmit", "srt.id", "frame.comment", "frame.protocols",
}

func dissect(t *testing.T, capture []byte, port uint16) []seen {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.pcapng")
	if err := os.WriteFile(file, capture, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-r", file, "-d", fmt.Sprintf("udp.port==%d,srt", port), "-T", "fields", "-E", "separator=/t", "-E", "aggregator=;"}
	for _, f := range tsharkFields {
		args = append(args, "-e", f)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "tshark", args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("tshark: %v\n%s", err, errs.String())
	}
	var packets []seen
	for line := range strings.Lines(out.String()) {
		c := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(c) != len(tsharkFields) {
			t.Fatalf("%d columns in %q", len(c), line)
		}
		p := seen{control: c[3] == "1", kind: c[4], seq: c[5], ack: c[6], ackNo: c[7], rexmit: c[9] == "1", dest: c[10], comment: c[11], prot: c[12]}
		p.at, _ = strconv.ParseFloat(c[0], 64)
		p.size, _ = strconv.Atoi(c[1])
		p.captured, _ = strconv.Atoi(c[2])
		if c[8] != "" {
			p.nak = strings.FieldsFunc(c[8], func(r rune) bool { return r == ';' || r == ' ' || r == '-' })
		}
		packets = append(packets, p)
	}
	return packets
}

// A connection over a bad network, its flight recorders saved at both ends, and
// what Wireshark's dissector makes of them.
func TestCaptureIsReadByTshark(t *testing.T) {
	proctest.Need(t, "tshark", "tshark", "--version")
	caller, listener := recorded(t)
	for _, tr := range []srtcore.Trace{caller, listener} {
		var b bytes.Buffer
		if err := trace.WritePcapng(&b, tr); err != nil {
			t.Fatal(err)
		}
		compare(t, tr, dissect(t, b.Bytes(), tr.Local.Port()))
	}
}

// compare holds the packets against the records they were made of.
func compare(t *testing.T, tr srtcore.Trace, packets []seen) {
	t.Helper()
	var want, got struct{ rexmits, naks, acks, gaps, lastAcks int }
	for i, r := range tr.Records {
		switch {
		case r.Kind == srtcore.TraceResent, r.Kind == srtcore.TraceFilled && r.Rexmit, r.Kind == srtcore.TraceBelated && r.Rexmit:
			want.rexmits++
		case r.Kind == srtcore.TraceNAK && (i == 0 || tr.Records[i-1].Kind != r.Kind || tr.Records[i-1].At != r.At):
			want.naks++
		case r.Kind == srtcore.TraceACK:
			want.acks++
			want.lastAcks += int(r.Seq) % 1000
		case r.Kind == srtcore.TraceGap:
			want.gaps++
		}
	}
	last := -1.
	for i, p := range packets {
		if !strings.HasSuffix(p.prot, ":srt") || p.at < last || p.dest == "" {
			t.Fatalf("packet %d is no SRT, or out of time: %+v", i, p)
		}
		last = p.at
		switch {
		case !p.control:
			if p.captured != 44 || p.size <= 44 || p.seq == "" {
				t.Errorf("data packet %d: %+v", i, p)
			}
			if p.rexmit {
				got.rexmits++
			}
			got.gaps += strings.Count(p.comment, "missing: ")
		case len(p.nak) > 0:
			got.naks++
		case p.ack != "":
			got.acks++
			n, _ := strconv.Atoi(p.ack)
			got.lastAcks += n % 1000
		}
	}
	if got != want || want.rexmits == 0 || want.naks == 0 || want.acks == 0 {
		t.Errorf("%s: %+v in the capture, %+v in the trace", tr.Local, got, want)
	}
}

// recorded returns the traces of both ends of a connection that loses packets.
func recorded(t *testing.T) (caller, listener srtcore.Trace) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cfg := srtcore.DefaultConfig()
	cfg.TraceRecords = 1 << 14
	ln, err := srtcore.Listen(ctx, "127.0.0.1:0", &cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	bad := impair.Path{Delay: 10 * time.Millisecond, Loss: .05}
	relay, err := impair.Start(impair.Config{Target: ln.Addr().String(), Seed: 3, Up: bad})
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	a, err := srtcore.Dial(ctx, relay.Addr(), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Abort()
	b, err := ln.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	const n = 1000
	go func() {
		pace := time.NewTicker(time.Millisecond)
		defer pace.Stop()
		for range n {
			<-pace.C
			if _, err := a.Write(make([]byte, 1316)); err != nil {
				return
			}
		}
	}()
	b.SetReadDeadline(time.Now().Add(20 * time.Second))
	buf := make([]byte, 1500)
	for got := 0; got < n*9/10; got++ {
		if _, err := b.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	return a.Trace(), b.Trace()
}
