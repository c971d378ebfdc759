package port

import (
	"fmt"
	"net"
	"testing"
)

// A port is handed out once, is free for both protocols, and comes back when
// the test that had it ends.
func TestFree(t *testing.T) {
	seen := map[int]bool{}
	t.Run("taken", func(t *testing.T) {
		for range 200 {
			p := Free(t)
			if seen[p] || p < first || p >= last {
				t.Fatalf("port %d: given twice or out of range", p)
			}
			seen[p] = true
			if claim(t, p, 1) {
				t.Fatalf("port %d claimed twice", p)
			}
		}
	})
	for p := range seen {
		if !claim(t, p, 1) {
			t.Errorf("port %d did not come back", p)
		}
		break
	}
}

func TestRangeIsBindable(t *testing.T) {
	p := Range(t, 4)
	for i := range 4 {
		c, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", p+i))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
}

func TestBusyPortIsNotGiven(t *testing.T) {
	p := Free(t)
	c, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", p))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if unused(p) {
		t.Errorf("port %d is bound and called unused", p)
	}
}
