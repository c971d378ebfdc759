package gstplugin

/*
#include <sys/timerfd.h>
#include <time.h>
#include "shim.h"
*/
import "C"

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/weirline/weirline/gstplugin/element"
)

// outlet is the way of packets out of a sink's streaming thread: a ring in C's
// memory that the porter empties, one goroutine for the sinks of a process. What
// has to wait for room or for a connection, or has to be cut, closes the ring and
// the thread calls write.
type outlet struct {
	sink     *element.Sink
	ring     *C.SrtGoSinkRing
	panicked func(where string, what any)

	mu     sync.Mutex
	served bool          // by the porter; else by the thread
	round  time.Duration // how long a packet may wait
	msgs   [C.SRTGO_SINK_SLOTS][]byte
}

func newOutlet(s *element.Sink, panicked func(string, any)) *outlet {
	out := &outlet{sink: s, panicked: panicked}
	out.ring = (*C.SrtGoSinkRing)(C.calloc(1, C.size_t(unsafe.Sizeof(*out.ring))))
	s.OnChange(out.shut)
	return out
}

// shut makes the thread call write.
func (out *outlet) shut() { word(&out.ring.open).Store(0) }

// write is what the thread calls while the ring is closed or full, or with a
// buffer longer than a packet.
func (out *outlet) write(msgs [][]byte) (done int, s element.Status) {
	if s := out.flush(); s != element.OK {
		return 0, s
	}
	done, s = out.sink.Write(msgs, time.Time{})
	if s == element.OK {
		out.hand()
	}
	return done, s
}

// flush ends the porter's service and writes what is in the ring; it waits for
// room and for a connection.
func (out *outlet) flush() element.Status {
	out.reclaim()
	for {
		msgs, at := out.next()
		if len(msgs) == 0 {
			return element.OK
		}
		done, s := out.sink.Write(msgs, at)
		out.drop(done)
		if s != element.OK {
			return s
		}
	}
}

// reclaim ends the porter's service.
func (out *outlet) reclaim() {
	out.mu.Lock()
	defer out.mu.Unlock()
	if out.served {
		out.shut()
		out.served = false
		thePorter().remove(out)
	}
}

// hand lets the porter serve. A change meanwhile either shows at the second look
// or shuts the ring after it was opened.
func (out *outlet) hand() {
	most, latency := out.sink.Writable()
	p := thePorter()
	if most == 0 || p == nil {
		return
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	out.served, out.round = true, min(max(latency/latencyRounds, leastRound), mostRound)
	p.add(out)
	word(&out.ring.open).Store(uint32(min(most, C.SRTGO_MAX_MESSAGE)))
	if now, _ := out.sink.Writable(); now != most {
		out.shut()
	}
}

func (out *outlet) filled() uint32 {
	return word(&out.ring.head).Load() - word(&out.ring.tail).Load()
}

// together is how far apart packets of one write were handed in.
const together = 100 * time.Microsecond

// next are the first packets of the ring that were handed in together.
func (out *outlet) next() (msgs [][]byte, at time.Time) {
	n := out.filled() // and only then base, which does not change while there is something
	tail := word(&out.ring.tail).Load() - word(&out.ring.base).Load()
	var first C.int64_t
	for i := range n {
		o := &out.ring.slot[(tail+i)%C.SRTGO_SINK_SLOTS]
		if i == 0 {
			first = o.at
		} else if time.Duration(o.at-first) > together {
			break
		}
		out.msgs[i] = unsafe.Slice((*byte)(&o.data[0]), o.len)
		msgs = out.msgs[:i+1]
	}
	return msgs, instant(int64(first))
}

func (out *outlet) drop(n int) { word(&out.ring.tail).Add(uint32(n)) }

// carry writes what is in the ring, as far as there is room.
func (out *outlet) carry() {
	out.mu.Lock()
	defer out.mu.Unlock()
	for out.served {
		msgs, at := out.next()
		if len(msgs) == 0 {
			return
		}
		done := out.sink.TryWrite(msgs, at)
		out.drop(done)
		if done < len(msgs) {
			return
		}
	}
}

// porter empties the rings of all sinks it serves. The first thread that puts a
// packet sets a timer, and when that goes off the porter takes what all of them
// have put meanwhile. The timer is a descriptor, since the runtime's own wake a
// second thread each time, to look for work.
type porter struct {
	c    *C.SrtGoPorter
	conn syscall.RawConn

	mu      sync.Mutex
	outlets atomic.Pointer[[]*outlet]
}

// A packet waits for the porter a fortieth of the latency, at most 3 ms, and then
// for the loop behind it as others do. Its time is that of its coming.
const (
	latencyRounds = 40
	leastRound    = time.Millisecond
	mostRound     = 3 * time.Millisecond
)

var porters struct {
	once sync.Once
	one  *porter // nil: there is no descriptor to be had
}

// thePorter is started when it is first needed.
func thePorter() *porter {
	porters.once.Do(func() {
		p := &porter{c: C.srtgo_porter()}
		p.set(nil)
		p.c.fd = C.timerfd_create(C.CLOCK_MONOTONIC, C.TFD_NONBLOCK|C.TFD_CLOEXEC)
		if p.c.fd < 0 {
			return
		}
		conn, err := os.NewFile(uintptr(p.c.fd), "srtgo porter").SyscallConn()
		if err != nil {
			return
		}
		p.conn, porters.one = conn, p
		go p.run()
	})
	return porters.one
}

func (p *porter) add(out *outlet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(append(slices.Clone(*p.outlets.Load()), out))
}

func (p *porter) remove(out *outlet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(slices.DeleteFunc(slices.Clone(*p.outlets.Load()), func(o *outlet) bool { return o == out }))
}

func (p *porter) set(list []*outlet) {
	round := mostRound
	for _, out := range list {
		round = min(round, out.round)
	}
	word(&p.c.round_ns).Store(uint32(round))
	p.outlets.Store(&list)
}

func (p *porter) run() {
	for {
		p.wait()
		for _, out := range *p.outlets.Load() {
			if out.filled() > 0 {
				p.serve(out)
			}
		}
	}
}

// wait returns when the timer has gone off. It sets it itself if something is left.
func (p *porter) wait() {
	unset := word(&p.c.unset)
	unset.Store(1)
	if p.filled() && unset.Swap(0) == 1 {
		spec := C.struct_itimerspec{it_value: C.struct_timespec{tv_nsec: C.long(word(&p.c.round_ns).Load())}}
		// An ordinary system call wakes the runtime's monitor each time.
		_, _, _ = syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, uintptr(p.c.fd), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	}
	_ = p.conn.Read(wentOff) // the descriptor is never closed
}

func wentOff(fd uintptr) bool {
	var times uint64
	n, _, _ := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&times)), 8)
	return n == 8
}

func (p *porter) filled() bool {
	return slices.ContainsFunc(*p.outlets.Load(), func(out *outlet) bool { return out.filled() > 0 })
}

// serve makes an error of what panics, and leaves the rest to the thread.
func (p *porter) serve(out *outlet) {
	defer func() {
		if r := recover(); r != nil {
			out.reclaim()
			out.panicked("porter", r)
		}
	}()
	enter("porter")
	out.carry()
}
