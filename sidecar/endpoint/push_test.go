package endpoint

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"net"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/mpegts"
)

func pusher(r io.ReadCloser) Pusher { return (&cutter{MessageSize}).push(r).(Pusher) }

func TestPushDeliversEverything(t *testing.T) {
	want := append(media(1000), 1, 2, 3)
	broken := errors.New("broken")
	r, w := io.Pipe()
	go func() {
		rnd := rand.New(rand.NewSource(2))
		for rest := want; len(rest) > 0; {
			n := min(1+rnd.Intn(70000), len(rest))
			w.Write(rest[:n])
			rest = rest[n:]
		}
		w.CloseWithError(broken)
	}()
	var got []byte
	err := pusher(r).Push(func(msgs [][]byte, _ time.Time) {
		for _, m := range msgs {
			if len(m) == 0 || len(m) > MessageSize {
				t.Errorf("message of %d bytes", len(m))
			}
			got = append(got, m...)
		}
	})
	if !errors.Is(err, broken) || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
}

func TestPushedTailOfAFrameDoesNotWaitForTheNext(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	s := pusher(a)
	go b.Write(media(9)) // and then silence
	var got []int
	err := s.Push(func(msgs [][]byte, _ time.Time) {
		for _, m := range msgs {
			got = append(got, len(m)/mpegts.PacketSize)
		}
		if len(got) == 2 {
			s.Close()
		}
	})
	if err != io.EOF || len(got) != 2 || got[0] != 7 || got[1] != 2 {
		t.Errorf("messages of %v packets, %v", got, err)
	}
}

func TestCloseEndsPush(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	s := pusher(a)
	go func() {
		b.Write([]byte{1})
		s.Close()
		s.Close()
	}()
	if err := s.Push(func([][]byte, time.Time) {}); err != io.EOF {
		t.Error(err)
	}
}
