package loop

import (
	"net/netip"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/internal/udp"
)

// lateness is far above what a waiting poller needs, and far below a hang.
const lateness = 10 * time.Second

func onPollers(t *testing.T, f func(t *testing.T, p poller, portable bool)) {
	for name, portable := range map[string]bool{"default": false, "portable": true} {
		t.Run(name, func(t *testing.T) {
			p, err := newPoller(portable)
			if err != nil {
				t.Fatal(err)
			}
			defer p.close()
			f(t, p, portable)
		})
	}
}

func TestPollerTimes(t *testing.T) {
	onPollers(t, func(t *testing.T, p poller, _ bool) {
		for i := range 50 {
			// Ahead, just now, and past, in both ways of waiting, and each
			// instant twice.
			until := Now().Add(time.Duration(i%5-1) * 500 * time.Microsecond)
			for _, wait := range []func(mono.Time) mono.Time{p.waitTick, p.waitIdle, p.waitTick} {
				now := wait(until)
				if early := until.Sub(now); early > 50*time.Microsecond {
					t.Errorf("woke %v early", early)
				}
				if now.Sub(until) > lateness {
					t.Errorf("woke %v late", now.Sub(until))
				}
			}
		}
	})
}

func TestPollerWake(t *testing.T) {
	onPollers(t, func(t *testing.T, p poller, _ bool) {
		for range 100 {
			p.wake() // before the wait
			p.waitIdle(mono.Never)
			woke := make(chan struct{})
			Go(func() { p.waitIdle(mono.Never); close(woke) })
			p.wake() // perhaps during the wait
			<-woke
		}
	})
}

func TestPollerSocket(t *testing.T) {
	p, err := newPoller(false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	u, err := udp.Listen(netip.MustParseAddrPort("127.0.0.1:0"), udp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if u.FD() < 0 {
		return // no descriptors on this system
	}
	if err := p.add(u); err != nil {
		t.Fatal(err)
	}
	send := func() {
		if _, err := u.WriteBatch([]dgram.Out{{Data: []byte("x"), To: u.LocalAddr()}}); err != nil {
			t.Fatal(err)
		}
	}
	cache := dgram.NewCache(dgram.NewPool(10))
	in := make([]dgram.In, 10)
	for i := range 20 {
		send()
		if i%2 == 0 {
			p.waitTick(Now().Add(DefaultTick)) // does not look at sockets
		}
		if i%3 == 0 {
			p.waitIdle(mono.Never) // returns again and again
		}
		p.waitIdle(mono.Never)
		if n, _, err := u.ReadBatch(cache, in); n != 1 || err != nil {
			t.Fatalf("ReadBatch = %d, %v", n, err)
		}
		cache.Put(in[0].Buf)
	}
	until := Now().Add(2 * time.Millisecond)
	if now := p.waitIdle(until); now < until.Add(-50*time.Microsecond) {
		t.Errorf("woke %v early without a datagram", until.Sub(now))
	}
	p.remove(u)
}

func TestClock(t *testing.T) {
	now := time.Now()
	if d := Wall(Mono(now)).Sub(now); d < -time.Second || d > time.Second {
		t.Errorf("a wall-clock time comes back %v later", d)
	}
	if Now() <= 0 {
		t.Error("an instant is zero, which means never")
	}
}
