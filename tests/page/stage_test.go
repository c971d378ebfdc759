package page

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/served"
)

func TestMain(m *testing.M) { os.Exit(served.Main(m)) }

// evil is a name as an attacker would choose it.
const evil = `<img src=x onerror="document.title='owned'">`

// bitrate of each publisher.
const mbps = 2.5

// stage is a daemon with two routes that carry media and one that cannot, and
// those who call it.
type stage struct {
	*served.Daemon
	yaml          string
	studio, field *served.Caller // publishers
	players       []*served.Caller
	watcher       *served.Caller // of field
	local         net.PacketConn // an output of studio goes there
}

// newStage has so many players of studio-a: the first has an evil name, the
// second is far away, the others are near.
func newStage(t *testing.T, token string, players int) *stage {
	t.Helper()
	s := &stage{}
	srt := port.Addr(t)
	local, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	s.local = local
	s.yaml = s.configuration(t, srt)
	s.Daemon = served.Start(t, token, s.yaml)
	s.studio = served.Publish(t, srt, "#!::r=live/studio-a,m=publish", 'a', mbps)
	s.field = served.Publish(t, srt, "#!::r=live/field,m=publish", 'f', mbps/2)
	far := s.farAway(t, srt)
	for i := range players {
		user, addr := fmt.Sprintf("viewer%d", i+1), srt
		switch i {
		case 0:
			user = evil
		case 1:
			addr = far
		}
		s.players = append(s.players, served.Play(t, addr, "#!::r=live/studio-a,m=request,u="+user, 'a'))
	}
	s.watcher = served.Play(t, srt, "#!::r=live/field,m=request,u=watcher", 'f')
	return s
}

// configuration has an output to a socket, one to a file, and a source and an
// output that nobody answers.
func (s *stage) configuration(t *testing.T, srt string) string {
	t.Helper()
	return fmt.Sprintf(`
listeners:
  - { name: main, address: 'srt://%s?mode=listener&latency=200&tlpktdrop=0' }
routes:
  - name: studio-a
    max-age: 10s
    sources: [ { publish: { listener: main, stream: live/studio-a } } ]
    outputs:
      - { play: { listener: main, stream: live/studio-a } }
      - { url: 'udp://%s' }
      - { url: 'file://%s' }
      - { url: 'srt://127.0.0.1:%d?conntimeo=500&passphrase=%s' }
  - name: field-unit
    max-age: 10s
    sources: [ { publish: { listener: main, stream: live/field } } ]
    outputs: [ { play: { listener: main, stream: live/field } } ]
  - name: backhaul
    sources: [ { url: 'srt://127.0.0.1:%d?conntimeo=500&streamid=backhaul' } ]
    outputs: [ { url: 'udp://127.0.0.1:%d' } ]
`, srt, s.local.LocalAddr(), filepath.Join(t.TempDir(), "studio-a.ts"), port.Free(t), secret, port.Free(t), port.Free(t))
}

// secret is a passphrase, which nobody is to see.
const secret = "correct-horse-battery"

// farAway is an address of the daemon behind a long and lossy line.
func (s *stage) farAway(t *testing.T, srt string) string {
	t.Helper()
	line := impair.Path{Delay: 12 * time.Millisecond, Jitter: 8 * time.Millisecond, InOrder: true, Loss: 0.02}
	r, err := impair.Start(impair.Config{Listen: "127.0.0.1:" + strconv.Itoa(port.Free(t)), Target: srt, Seed: 5, Up: line, Down: line})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r.Addr()
}

// row is the table row of the connection of this user or stream id.
func (s *stage) row(who string) string { return `tr.row[data-id="` + s.Find(who).ID + `"]` }

// wantUndisturbed holds that everybody but these is still served, with nothing
// lost.
func (s *stage) wantUndisturbed(except ...*served.Caller) {
	gone := map[*served.Caller]bool{}
	for _, c := range except {
		gone[c] = true
	}
	for name, c := range map[string]*served.Caller{"the publisher": s.studio, "the field publisher": s.field, "the field watcher": s.watcher} {
		if !gone[c] {
			c.WantMore(name)
		}
	}
	for i, c := range s.players {
		if !gone[c] {
			c.WantMore(fmt.Sprintf("player %d", i+1))
		}
	}
}
