//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/tests/port"
)

// flow carries media through a daemon, from one unix socket to another, and watches
// that nothing is missing.
type flow struct {
	t    *testing.T
	got  atomic.Int64 // packets that have come out
	stop func()
}

func startFlow(t *testing.T, in, out string) *flow {
	t.Helper()
	reader, err := net.Dial("unix", out)
	if err != nil {
		t.Fatal(err)
	}
	writer, err := net.Dial("unix", in)
	if err != nil {
		t.Fatal(err)
	}
	f := &flow{t: t}
	over := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for n := uint32(0); ; n++ {
			select {
			case <-over:
				return
			default:
			}
			if _, err := writer.Write(tablePacket(n)); err != nil {
				t.Errorf("the encoder: %v", err)
				return
			}
			time.Sleep(100 * time.Microsecond)
		}
	})
	work.Go(func() {
		var s numbered
		for first := true; ; first = false {
			before := s.n
			reader.SetReadDeadline(time.Now().Add(patience))
			_, err := s.check(reader, 1, false)
			select {
			case <-over:
				return
			default:
			}
			if err != nil || !first && s.n != before+1 {
				t.Errorf("the player got packet %d after %d, %v", s.n, before, err)
				return
			}
			f.got.Add(1)
		}
	})
	f.stop = sync.OnceFunc(func() {
		close(over)
		writer.Close()
		reader.Close()
		work.Wait()
	})
	t.Cleanup(f.stop)
	f.goesOn()
	return f
}

// goesOn waits for more to come out.
func (f *flow) goesOn() {
	f.t.Helper()
	want := f.got.Load() + 500
	until(f.t, "more media", func() bool { return f.t.Failed() || f.got.Load() >= want })
}

// TestBadFileWhileTheDaemonRuns: a file that is not good is told with its name, the
// line, the key and what is allowed; what runs goes on, and a good file is taken.
func TestBadFileWhileTheDaemonRuns(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	file := filepath.Join(dir, "weirline.yaml")
	good := fmt.Sprintf("listen: off\ncontrol: { listen: 'unix:%s' }\nroutes:\n  - { name: a, source: 'unix:%s', outputs: [ 'unix:%s?listen=1' ] }\n",
		filepath.Join(dir, "control"), in, out)
	p := startDaemon(t, ctx, file, good)
	f := startFlow(t, in, out)
	taken := port.Free(t)
	for what, c := range map[string]struct {
		text string
		want []string
	}{
		"a key":   {"  - name: b\n    sorce: udp://:5000\n", []string{":6: routes[1]", `"sorce"`, "did you mean", "allowed name, source, sources, outputs"}},
		"a value": {"  - name: b\n    source: udp://:5000\n    queue: 5\n", []string{":7: routes[1].queue", "5 is out of range", "allowed 65536..1073741824 bytes"}},
		"no YAML": {"  - name: [\n", []string{"is not YAML"}},
		"two routes on one port": {
			fmt.Sprintf("  - name: b\n    source: srt://:%d?mode=listener\n  - name: c\n    source: udp://127.0.0.1:%d\n", taken, taken),
			[]string{":8: routes[2].sources[0].url", fmt.Sprintf("udp port %d is used by routes[1].sources[0].url in line 6", taken), "choose another"},
		},
	} {
		before := p.status().ConfigError
		if err := os.WriteFile(file, []byte(good+c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.Process.Signal(syscall.SIGHUP)
		until(t, "the file to be refused: "+what, func() bool { s := p.status().ConfigError; return s != "" && s != before })
		said := p.status().ConfigError
		for _, want := range append(c.want, file+":") {
			if !strings.Contains(said, want) {
				t.Errorf("%s: the status says %q, without %q", what, said, want)
			}
		}
		f.goesOn()
	}
	if s := p.route("a"); s.Source.Opened != 1 || s.Outputs[0].Opened != 1 || s.Outputs[0].Queue.Dropped != 0 {
		t.Errorf("the route was touched: %+v", s)
	}
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Process.Signal(syscall.SIGHUP)
	until(t, "the good file to be taken", func() bool { return p.status().ConfigError == "" })
	f.goesOn()
	f.stop()
	p.stop()
}

// TestFullDisk: a file that cannot grow is told by its name; the others of its route
// lose nothing, no message in it is cut, and it goes on when there is room again.
func TestFullDisk(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	dir := t.TempDir()
	in, out, rec := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "rec.ts")
	p := startDaemon(t, ctx, filepath.Join(dir, "weirline.yaml"), fmt.Sprintf(`listen: off
control: { listen: 'unix:%s' }
routes:
  - { name: a, source: 'unix:%s', outputs: [ 'file://%s', 'file:///dev/full', 'unix:%s?listen=1' ] }
`, filepath.Join(dir, "control"), in, rec, out))
	const room = 200<<10 + 99 // no whole number of packets
	limit := func(n uint64) {
		l := unix.Rlimit{Cur: n, Max: 1 << 40}
		if err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_FSIZE, &l, nil); err != nil {
			t.Fatal(err)
		}
	}
	limit(room)
	f := startFlow(t, in, out)
	until(t, "the file to be full", func() bool {
		return strings.Contains(p.route("a").Outputs[0].Error, "write file "+rec+": file too large")
	})
	until(t, "the disk to be full", func() bool {
		return strings.Contains(p.route("a").Outputs[1].Error, "write file /dev/full: no space left on device")
	})
	if st, err := os.Stat(rec); err != nil || st.Size() > room || st.Size()%188 != 0 {
		t.Errorf("the file: %v, %v", st, err)
	}
	f.goesOn()
	limit(1 << 40)
	until(t, "the file to grow again", func() bool { st, err := os.Stat(rec); return err == nil && st.Size() > 2*room })
	s := p.route("a")
	if s.Outputs[0].State != route.Up || s.Outputs[0].Queue.Dropped == 0 || s.Outputs[2].Queue.Dropped != 0 || s.Source.Opened != 1 {
		t.Errorf("%+v", s)
	}
	f.goesOn()
	f.stop()
	p.stop()
	recording, err := os.Open(rec)
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	if gone, err := new(numbered).check(recording, -1, true); err != nil || gone == 0 {
		t.Errorf("the recording: %d packets are missing in it; %v", gone, err)
	}
}
