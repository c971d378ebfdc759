package daemon

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
)

// packets is message i of a transport stream, its packets numbered. One in seventy
// starts a program association table, and not the first of its message.
func packets(i int) []byte {
	b := make([]byte, 1316)
	for k := range 7 {
		p, n := b[k*188:], i*7+k
		p[0], p[1], p[2], p[3] = 0x47, 0x01, 0x23, 0x10
		if n%70 == 3 {
			p[1], p[2] = 0x40, 0
		}
		binary.BigEndian.PutUint32(p[4:], uint32(n))
	}
	return b
}

// wantBegin reads some packets: the first starts a table, and all others follow.
func wantBegin(t *testing.T, what string, in io.Reader) {
	t.Helper()
	var p [188]byte
	first := 0
	for i := range 200 {
		if _, err := io.ReadFull(in, p[:]); err != nil {
			t.Errorf("%s: packet %d: %v", what, i, err)
			return
		}
		n := int(binary.BigEndian.Uint32(p[4:]))
		if i == 0 {
			if first = n; n%70 != 3 || p[1] != 0x40 || p[2] != 0 {
				t.Errorf("%s begins with packet %d of the stream: % x", what, n, p[:8])
			}
		}
		if want := packets(n / 7)[n%7*188:][:188]; n != first+i || string(p[:]) != string(want) {
			t.Errorf("%s: packet %d after %d, or altered", what, n, first+i-1)
			return
		}
	}
}

// messages makes a stream of bytes of what an SRT connection brings.
type messages struct {
	c    *srtcore.Conn
	rest []byte
}

func (m *messages) Read(b []byte) (int, error) {
	if len(m.rest) == 0 {
		got := make([]byte, 2000)
		n, err := m.c.Read(got)
		if err != nil {
			return 0, err
		}
		m.rest = got[:n]
	}
	n := copy(b, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// Whoever joins a stream in the middle begins with a program association table.
func TestPlayersBeginWithATable(t *testing.T) {
	tcp, unix := port.Addr(t), filepath.Join(t.TempDir(), "out")
	r := newRig(t, fmt.Sprintf("routes:\n  - { name: a, source: { publish: { listener: main, stream: a } },"+
		" outputs: [ { play: { listener: main, stream: a } }, 'tcp://%s?listen=1', 'unix:%s?listen=1' ] }\n", tcp, unix))
	publisher := r.publish("a")
	stop := make(chan struct{})
	var feeding sync.WaitGroup
	feeding.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				if _, err := publisher.Write(packets(i)); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	defer feeding.Wait()
	defer close(stop)
	r.eventually("media", func() bool { return r.route("a").Media.Messages > 4 })

	for range 3 {
		player := r.play("a")
		player.SetReadDeadline(time.Now().Add(patience))
		wantBegin(t, "srt", &messages{c: player})
		for network, addr := range map[string]string{"tcp": tcp, "unix": unix} {
			c, err := net.Dial(network, addr)
			if err != nil {
				t.Fatal(err)
			}
			c.SetReadDeadline(time.Now().Add(patience))
			wantBegin(t, network, c)
			c.Close()
		}
	}
	wantPushBegins(r)
}

// wantPushBegins: an output that is added to a running route joins it, too.
func wantPushBegins(r *rig) {
	seen := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		defer close(seen)
		wantBegin(r.t, "http", q.Body)
	}))
	defer server.Close()
	if _, err := r.AddOutput("a", config.Output{URL: server.URL + "#reconnect=0"}); err != nil {
		r.t.Fatal(err)
	}
	select {
	case <-seen:
	case <-time.After(patience):
		r.t.Error("nothing was put")
	}
}

// What is no transport stream has no place to begin at: players get what comes next.
func TestPlayersOfOtherDataBeginAnywhere(t *testing.T) {
	r := newRig(t, "routes:\n"+studio("a"))
	publisher := r.publish("a")
	data := func(i int) []byte { return fmt.Appendf(nil, "message %04d", i) }
	for i := range 10 {
		if _, err := publisher.Write(data(i)); err != nil {
			t.Fatal(err)
		}
	}
	r.eventually("media", func() bool { return r.route("a").Media.Messages == 10 })
	player := r.play("a")
	r.up("a", 1)
	player.SetReadDeadline(time.Now().Add(patience))
	got := make([]byte, 2000)
	for i := 10; i < 20; i++ {
		if _, err := publisher.Write(data(i)); err != nil {
			t.Fatal(err)
		}
		if n, err := player.Read(got); err != nil || string(got[:n]) != string(data(i)) {
			t.Fatalf("message %d: %q, %v", i, got[:n], err)
		}
	}
}
