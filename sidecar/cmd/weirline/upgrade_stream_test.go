//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
)

// TestUpgradeKeepsStreamListeners: the tcp and unix sockets that routes listen at
// are handed over, too. Nobody who calls meanwhile is refused, and the new process
// carries media between them.
func TestUpgradeKeepsStreamListeners(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir := t.TempDir()
	in, out := [2]string{port.Addr(t), filepath.Join(dir, "in")}, [2]string{filepath.Join(dir, "out"), port.Addr(t)}
	file := filepath.Join(dir, "weirline.yaml")
	old := startDaemon(t, ctx, file, fmt.Sprintf(`listen: off
control: { listen: 'unix:%s' }
routes:
  - { name: tcp, source: 'tcp://%s', outputs: [ 'unix:%s?listen=1' ] }
  - { name: unix, source: 'unix:%s', outputs: [ 'tcp://%s?listen=1' ] }
`, filepath.Join(dir, "control"), in[0], out[0], in[1], out[1]))

	stop := make(chan struct{})
	var calling sync.WaitGroup
	for network, addrs := range map[string][]string{"tcp": {in[0], out[1]}, "unix": {in[1], out[0]}} {
		for _, a := range addrs {
			calling.Go(func() { dialAgainAndAgain(t, network, a, stop) })
		}
	}
	next := upgrade(t, old)
	close(stop)
	calling.Wait()
	if err := old.Wait(); err != nil {
		t.Errorf("the old process ended with %v", err)
	}
	carries(t, "tcp", in[0], "unix", out[0])
	carries(t, "unix", in[1], "tcp", out[1])
	syscall.Kill(next, syscall.SIGTERM)
	until(t, "the new process to end", func() bool { return old.pid() == 0 })
	for _, path := range []string{in[1], out[0]} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left behind", filepath.Base(path))
		}
	}
}

func dialAgainAndAgain(t *testing.T, network, addr string, stop chan struct{}) {
	for n := 0; ; n++ {
		c, err := net.DialTimeout(network, addr, patience)
		if err != nil {
			t.Errorf("caller %d of %s: %v", n, addr, err)
			return
		}
		c.Close()
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// carries sends numbered packets in at one address until enough have come out at the
// other, in order and whole.
func carries(t *testing.T, inNetwork, in, outNetwork, out string) {
	t.Helper()
	reader, err := net.Dial(outNetwork, out)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	writer, err := net.Dial(inNetwork, in)
	if err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	defer writing.Wait()
	defer writer.Close()
	writing.Go(func() {
		for n := uint32(0); ; n++ {
			if _, err := writer.Write(tablePacket(n)); err != nil {
				return
			}
			time.Sleep(100 * time.Microsecond)
		}
	})
	reader.SetReadDeadline(time.Now().Add(patience))
	if _, err := new(numbered).check(reader, 500, false); err != nil {
		t.Errorf("%s: %v", out, err)
	}
}
