//go:build linux

package srtcore_test

import (
	"net/netip"
	"os"
	"testing"

	"github.com/weirline/weirline/srtcore"
)

// A port goes from one runtime to the next, as between two processes, and a
// caller who comes in between waits instead of being turned away.
func TestPortIsHandedOver(t *testing.T) {
	for _, shards := range []int{1, 2} {
		before := newRig(t, srtcore.RuntimeConfig{Shards: shards})
		l := before.listen("127.0.0.1:0")
		addr := l.Addr().String()
		old := before.dial(addr)
		before.accept(l)
		files, err := l.Files()
		if err != nil || len(files) != shards {
			t.Fatalf("%d shards: %d files, %v", shards, len(files), err)
		}
		_ = old.Abort()
		if err := before.runtime.Close(); err != nil {
			t.Fatal(err)
		}

		after := newRig(t, srtcore.RuntimeConfig{Shards: shards})
		type dialled struct {
			c   *srtcore.Conn
			err error
		}
		done := make(chan dialled, 1)
		go func() {
			c, err := after.tryDial(addr)
			done <- dialled{c, err}
		}()
		for _, f := range files {
			if at, err := srtcore.InheritSocket(f); err != nil || at.String() != addr {
				t.Fatalf("inherited %v (%v), want %s", at, err, addr)
			}
			f.Close()
		}
		next := after.listen(addr)
		if left := srtcore.DropInherited(); len(left) != 0 {
			t.Errorf("%d shards: %v not taken up", shards, left)
		}
		d := <-done
		if d.err != nil {
			t.Fatalf("%d shards: %v", shards, d.err)
		}
		t.Cleanup(func() { _ = d.c.Abort() })
		s := after.accept(next)
		after.wantWrite(d.c, "hello")
		after.wantRead(s, "hello")
	}
}

func TestInheritRefusesOthers(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := srtcore.InheritSocket(f); err == nil {
		t.Error("a device was taken for a socket")
	}
	if left := srtcore.DropInherited(); len(left) != 0 {
		t.Errorf("kept %v", left)
	}
	// Nobody asks for this one: it is closed, and its port is free again.
	r := newRig(t, srtcore.RuntimeConfig{})
	l := r.listen("127.0.0.1:0")
	files, err := l.Files()
	if err != nil {
		t.Fatal(err)
	}
	at, err := srtcore.InheritSocket(files[0])
	if err != nil {
		t.Fatal(err)
	}
	files[0].Close()
	if left := srtcore.DropInherited(); len(left) != 1 || left[0] != at || at == (netip.AddrPort{}) {
		t.Errorf("dropped %v, want %v", left, at)
	}
}
