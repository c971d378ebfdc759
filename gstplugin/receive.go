package gstplugin

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/weirline/weirline/gstplugin/element"
	"github.com/weirline/weirline/srtcore"
)

// inlet is the way of packets into a source's streaming thread: a ring in C's
// memory that the ferry fills, one goroutine for the sources of a process. Where
// more than packets is to be told, the ring is closed and the thread calls read.
type inlet struct {
	source   *element.Source
	ring     *C.SrtGoSourceRing
	panicked func(where string, what any)

	mu   sync.Mutex
	conn *srtcore.Conn // served by the ferry; nil: the thread reads
	got  [lot]element.Packet
}

// lot is how many packets are taken from a connection at once.
const lot = 32

func newInlet(s *element.Source, panicked func(string, any)) *inlet {
	in := &inlet{source: s, panicked: panicked}
	in.ring = (*C.SrtGoSourceRing)(C.calloc(1, C.size_t(unsafe.Sizeof(*in.ring))))
	s.OnChange(in.shut)
	return in
}

// word is a number that C changes too.
func word(p *C.uint32_t) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(p)) }

// shut makes the thread call read. It is called with locks of the source's held.
func (in *inlet) shut() {
	word(&in.ring.open).Store(0)
	in.wake()
}

// wake wakes the thread. It is no call of C: that would keep Go's scheduler
// watching, which costs more than the call.
func (in *inlet) wake() {
	const private, wake = 128, 1
	bell := word(&in.ring.bell)
	bell.Add(1)
	if word(&in.ring.waiting).Load() != 0 {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(bell)), wake|private, 1, 0, 0, 0)
	}
}

// read is what the thread calls while the ring is closed: it waits for packets
// or for what else there is to say.
func (in *inlet) read() element.Status {
	in.reclaim()
	room := in.room()
	if room == 0 {
		return element.OK // there are packets
	}
	n, status := in.source.Read(in.got[:min(lot, room)])
	if n == 0 {
		return status
	}
	in.load(n)
	in.hand()
	return element.OK
}

// reclaim ends the ferry's service.
func (in *inlet) reclaim() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.release()
}

// release is reclaim with the lock held.
func (in *inlet) release() {
	if in.conn != nil {
		word(&in.ring.open).Store(0)
		theFerry().remove(in.conn)
		in.conn = nil
	}
}

// hand gives the connection that is being read to the ferry. A change meanwhile
// either shows at the second look or shuts the ring after it was opened.
func (in *inlet) hand() {
	c := in.source.Readable()
	if c == nil {
		return
	}
	in.mu.Lock()
	in.conn = c
	word(&in.ring.open).Store(1)
	in.mu.Unlock()
	if in.source.Readable() != c {
		in.shut()
		return
	}
	theFerry().add(c, in)
}

func (in *inlet) room() int {
	return int(word(&in.ring.limit).Load() - word(&in.ring.head).Load())
}

// load puts what was got into the ring, where there is room for it.
func (in *inlet) load(n int) {
	head := word(&in.ring.head).Load()
	for i := range in.got[:n] {
		p := &in.got[i]
		o := &in.ring.slot[(head+uint32(i))%C.SRTGO_SOURCE_SLOTS]
		o.len = C.int32_t(copy(unsafe.Slice((*byte)(o.data), C.SRTGO_MAX_MESSAGE), p.Payload))
		o.play = C.int64_t(monotonic(p.Play))
		o.discont = 0
		if p.Discont {
			o.discont = 1
		}
	}
	word(&in.ring.head).Store(head + uint32(n))
	in.source.Release(in.got[:n])
	clear(in.got[:n])
}

// carry moves what a connection has into the ring. The thread reads on itself at
// the end of the connection, and when the ring is full: it says when there is
// room.
func (in *inlet) carry(c *srtcore.Conn) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.conn != c {
		return
	}
	defer in.wake()
	for {
		room := in.room()
		if room == 0 {
			in.release()
			return
		}
		most := min(lot, room)
		n, err := in.source.Take(c, in.got[:most])
		if err != nil {
			in.release()
			return
		}
		in.load(n)
		if n < most {
			return
		}
	}
}

// ferry waits for the connections of all open inlets at once.
type ferry struct {
	poller *srtcore.Poller

	mu     sync.Mutex
	inlets map[*srtcore.Conn]*inlet
}

var ferries struct {
	once sync.Once
	one  *ferry
}

// theFerry is started when it is first needed.
func theFerry() *ferry {
	ferries.once.Do(func() {
		f := &ferry{poller: srtcore.NewPoller(), inlets: map[*srtcore.Conn]*inlet{}}
		ferries.one = f
		go f.run()
	})
	return ferries.one
}

func (f *ferry) add(c *srtcore.Conn, in *inlet) {
	f.mu.Lock()
	f.inlets[c] = in
	f.mu.Unlock()
	f.poller.Add(c)
}

func (f *ferry) remove(c *srtcore.Conn) {
	f.mu.Lock()
	delete(f.inlets, c)
	f.mu.Unlock()
	f.poller.Remove(c)
}

func (f *ferry) run() {
	var ready []*srtcore.Conn
	for {
		ready, _ = f.poller.Wait(context.Background(), ready[:0])
		for i, c := range ready {
			f.serve(c)
			ready[i] = nil
		}
	}
}

// serve makes an error of what panics, and leaves the connection to its thread.
func (f *ferry) serve(c *srtcore.Conn) {
	f.mu.Lock()
	in := f.inlets[c]
	f.mu.Unlock()
	if in == nil {
		return // whoever removes it is about to take it from the poller
	}
	defer func() {
		if r := recover(); r != nil {
			in.reclaim()
			in.wake()
			in.panicked("ferry", r)
		}
	}()
	enter("ferry")
	in.carry(c)
}
