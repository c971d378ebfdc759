package endpoint

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirline/weirline/sidecar/mpegts"
)

func media(packets int) []byte {
	b := make([]byte, packets*mpegts.PacketSize)
	rand.New(rand.NewSource(1)).Read(b)
	for i := range packets {
		b[i*mpegts.PacketSize] = 0x47
	}
	return b
}

// readAll reads a source to its end and checks each message's length.
func readAll(t *testing.T, s Source) ([]byte, error) {
	t.Helper()
	var all []byte
	msgs := make([][]byte, 5)
	for {
		n, err := s.ReadBatch(msgs)
		for _, m := range msgs[:n] {
			if len(m) == 0 || len(m) > MessageSize {
				t.Errorf("message of %d bytes", len(m))
			}
			all = append(all, m...)
		}
		if err != nil {
			return all, err
		}
	}
}

func TestByteSourceDeliversEverything(t *testing.T) {
	want := media(1000)
	r, w := io.Pipe()
	go func() {
		rnd := rand.New(rand.NewSource(2))
		for rest := want; len(rest) > 0; {
			n := min(1+rnd.Intn(70000), len(rest))
			w.Write(rest[:n])
			rest = rest[n:]
		}
		w.Close()
	}()
	got, err := readAll(t, NewByteSource(r, MessageSize))
	if !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
}

func TestByteSourcePassesTheErrorOn(t *testing.T) {
	broken := errors.New("broken")
	r, w := io.Pipe()
	go func() {
		w.Write(media(3))
		w.CloseWithError(broken)
	}()
	got, err := readAll(t, NewByteSource(r, MessageSize))
	if !errors.Is(err, broken) || len(got) != 3*mpegts.PacketSize {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestTailOfAFrameDoesNotWaitForTheNext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	s := NewByteSource(r, MessageSize)
	go w.Write(media(9)) // and then silence
	msgs := make([][]byte, 5)
	for _, want := range []int{7, 2} {
		n, err := s.ReadBatch(msgs)
		if err != nil || n != 1 || len(msgs[0]) != want*mpegts.PacketSize {
			t.Fatalf("%d messages, the first of %d bytes, %v; want %d packets", n, len(msgs[0]), err, want)
		}
	}
}

func TestCloseUnblocksByteSource(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	s := NewByteSource(a, MessageSize)
	done := make(chan error)
	go func() {
		_, err := s.ReadBatch(make([][]byte, 1))
		done <- err
	}()
	s.Close()
	s.Close()
	if err := <-done; err == nil {
		t.Error("no error after Close")
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		msg   []byte
		limit int
		want  []int
	}{
		{media(7), 1316, []int{1316}},
		{media(7), 1456, []int{1316}},
		{media(7), 500, []int{376, 376, 376, 188}},
		{make([]byte, 1000), 500, []int{500, 500}},
		{media(1), 100, []int{100, 88}},
	} {
		var got []int
		split(c.msg, c.limit, func(b []byte) error { got = append(got, len(b)); return nil })
		if len(got) != len(c.want) {
			t.Errorf("limit %d: %v, want %v", c.limit, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("limit %d: %v, want %v", c.limit, got, c.want)
			}
		}
	}
}

func TestOtherDataIsCutByThePayloadSize(t *testing.T) {
	name := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(name, make([]byte, 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{"": 1316, "?payloadsize=1000": 1000, "?payloadsize=1456": 1456} {
		src, err := ParseSource("file://" + name)
		if err != nil {
			t.Fatal(err)
		}
		wide, err := ParseSink("srt://h:1?payloadsize=1456")
		if err != nil {
			t.Fatal(err)
		}
		out, err := ParseSink("srt://h:1" + query)
		if err != nil {
			t.Fatal(err)
		}
		FitMessages(src, wide, out)
		s, err := src.OpenSource(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var msgs [1][]byte
		if _, err := s.ReadBatch(msgs[:]); err != nil || len(msgs[0]) != want {
			t.Errorf("%q: message of %d, %v; want %d", query, len(msgs[0]), err, want)
		}
	}
}
