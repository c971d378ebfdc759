// Command gosrtbench is the same benchmark as ../srtbench.c for github.com/datarhei/gosrt (same 1316-byte message format, see ../msg.h).
//
// Lives here: the peer on another Go implementation, a module of its own so that
// the project does not depend on it.
// May import: gosrt, x/sys, the standard library. Never: anything of the project.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	srt "github.com/datarhei/gosrt"
	"golang.org/x/sys/unix"
)

const (
	msgLen = 1316
	msgHdr = 32
	magic  = 0x42545253
)

var (
	pool  [65536 + 2048]byte
	ctab  = crc32.MakeTable(crc32.Castagnoli)
	base0 time.Time
	baseN int64
)

func initPool() {
	s := uint64(0x5eed)
	for i := 0; i < len(pool); i += 8 {
		s += 0x9e3779b97f4a7c15
		z := s
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb
		z ^= z >> 31
		binary.LittleEndian.PutUint64(pool[i:], z)
	}
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	base0 = time.Now()
	baseN = ts.Nano()
}
func mono() int64 { return baseN + int64(time.Since(base0)) }
func msgCRC(m []byte) uint32 {
	return crc32.Update(crc32.Update(0, ctab, m[:24]), ctab, m[28:msgLen])
}
func off(stream uint32, seq uint64) uint32 {
	return ((stream*40503 + uint32(seq)*2654435761) >> 8) & 0xfff8
}
func build(m []byte, stream uint32, seq uint64, n uint32, ts int64) {
	binary.LittleEndian.PutUint32(m, magic)
	binary.LittleEndian.PutUint32(m[4:], stream)
	binary.LittleEndian.PutUint64(m[8:], seq)
	binary.LittleEndian.PutUint64(m[16:], uint64(ts))
	binary.LittleEndian.PutUint32(m[28:], n)
	o := off(stream, seq)
	copy(m[msgHdr:msgLen], pool[o:])
	binary.LittleEndian.PutUint32(m[24:], msgCRC(m))
}

type usage struct {
	cpu, user, sys float64
	nv, niv        int64
	t              time.Time
}

func use() usage {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	u := float64(r.Utime.Sec) + float64(r.Utime.Usec)/1e6
	s := float64(r.Stime.Sec) + float64(r.Stime.Usec)/1e6
	return usage{u + s, u, s, r.Nvcsw, r.Nivcsw, time.Now()}
}

var peakThr, hwm int64

func procStatus() {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var v int64
		l := sc.Text()
		if strings.HasPrefix(l, "VmHWM:") {
			fmt.Sscanf(l[6:], "%d", &v)
			hwm = max(hwm, v)
		} else if strings.HasPrefix(l, "Threads:") {
			fmt.Sscanf(l[8:], "%d", &v)
			peakThr = max(peakThr, v)
		}
	}
}

func usageOut(m map[string]any, a, b usage) {
	e := use()
	m["user_s"], m["sys_s"], m["cpu_s"] = e.user, e.sys, e.cpu
	m["run_wall_s"] = b.t.Sub(a.t).Seconds()
	m["run_user_s"], m["run_sys_s"], m["run_cpu_s"] = b.user-a.user, b.sys-a.sys, b.cpu-a.cpu
	m["run_nvcsw"], m["run_nivcsw"] = b.nv-a.nv, b.niv-a.niv
	m["peak_rss_kb"], m["peak_threads"] = hwm, peakThr
	m["goroutines"] = runtime.NumGoroutine()
	m["lib"] = libver()
	m["go"] = runtime.Version()
}
func libver() string {
	if bi, ok := debug.ReadBuildInfo(); ok {
		for _, d := range bi.Deps {
			if d.Path == "github.com/datarhei/gosrt" {
				if d.Replace != nil {
					return "gosrt " + d.Replace.Path
				}
				return "gosrt " + d.Version
			}
		}
	}
	return "gosrt ?"
}
func addStats(c srt.Conn, t map[string]uint64) {
	var s srt.Statistics
	c.Stats(&s)
	a := s.Accumulated
	t["pktSndLoss"] += a.PktSendLoss
	t["pktRcvLoss"] += a.PktRecvLoss
	t["pktRetrans"] += a.PktRetrans
	t["pktSndDrop"] += a.PktSendDrop
	t["pktRcvDrop"] += a.PktRecvDrop
	t["pktRcvUndecrypt"] += a.PktRecvUndecrypt
	t["pktRcvBelated"] += a.PktRecvBelated
	t["pktSent"] += a.PktSent
	t["pktRecv"] += a.PktRecv
	t["ackSent"] += a.PktSentACK
	t["ackRecv"] += a.PktRecvACK
	t["nakSent"] += a.PktSentNAK
	t["nakRecv"] += a.PktRecvNAK
}
func out(m map[string]any) {
	b, _ := json.Marshal(m)
	fmt.Println(string(b))
}
func die(role, what string, err error) {
	out(map[string]any{"role": role, "error": what + ": " + err.Error()})
	os.Exit(2)
}

type lat struct {
	b   [20000]uint32 // 0.5 ms buckets up to 10 s
	n   uint64
	max int64
}

func (h *lat) add(ns int64) {
	if ns < 0 {
		ns = 0
	}
	h.b[min(ns/500000, int64(len(h.b)-1))]++
	h.n++
	h.max = max(h.max, ns)
}

type rxc struct {
	msgs, bytes, gaps, dup, corrupt uint64
	next                            map[uint32]uint64
	first, last                     int64
	h                               lat
	live                            atomic.Uint64
	_                               [64]byte
}

func main() {
	if len(os.Args) < 2 {
		os.Exit(64)
	}
	role := os.Args[1]
	fs := flag.NewFlagSet(role, flag.ExitOnError)
	host := fs.String("host", "127.0.0.1", "")
	port := fs.Int("port", 9000, "")
	streams := fs.Int("streams", 1, "")
	latency := fs.Int("latency", 120, "")
	secs := fs.Float64("secs", 10, "")
	mbps := fs.Float64("mbps", 10, "")
	tlp := fs.Int("tlpktdrop", -1, "")
	pass := fs.String("passphrase", "", "")
	pbk := fs.Int("pbkeylen", 16, "")
	unpaced := fs.Bool("unpaced", false, "")
	maxbw := fs.Int64("maxbw", -2, "")
	fc := fs.Int("fc", 0, "")
	fs.Int("rcvbuf", 0, "ignored")
	fs.Int("sndbuf", 0, "ignored")
	fs.Parse(os.Args[2:])
	initPool()
	cfg := srt.DefaultConfig()
	cfg.Latency = time.Duration(*latency) * time.Millisecond
	cfg.PayloadSize = msgLen
	if *tlp >= 0 {
		cfg.TooLatePacketDrop = *tlp != 0 // Validate() in gosrt v0.9.0 forces this back to true
	}
	if *maxbw != -2 {
		cfg.MaxBW = *maxbw
	}
	if *fc != 0 {
		cfg.FC = uint32(*fc)
	}
	if *pass != "" {
		cfg.Passphrase = *pass
		cfg.PBKeylen = *pbk
	}
	addr := fmt.Sprintf("%s:%d", *host, *port)
	if role == "recv" {
		recv(addr, cfg, *streams, *secs, *pass)
	} else {
		send(addr, cfg, *streams, *mbps, *secs, *latency, *unpaced)
	}
}

func recv(addr string, cfg srt.Config, n int, secs float64, pass string) {
	ln, err := srt.Listen("srt", addr, cfg)
	if err != nil {
		die("recv", "listen", err)
	}
	fmt.Fprintln(os.Stderr, "listening")
	rx := make([]*rxc, n)
	conns := make([]srt.Conn, n)
	for i := range rx {
		rx[i] = &rxc{next: map[uint32]uint64{}}
	}
	var wg sync.WaitGroup
	var acc, started atomic.Int64
	var u0 usage
	var once sync.Once
	wg.Add(n)
	go func() {
		for {
			req, err := ln.Accept2()
			if err != nil {
				return
			}
			if pass != "" {
				if err := req.SetPassphrase(pass); err != nil {
					req.Reject(srt.REJ_BADSECRET)
					continue
				}
			}
			c, err := req.Accept()
			if err != nil {
				continue
			}
			i := int(acc.Load())
			if i >= n {
				c.Close()
				continue
			}
			conns[i] = c
			acc.Add(1)
			go func(r *rxc, c srt.Conn) {
				defer wg.Done()
				for {
					p, err := c.ReadPacket()
					if err != nil {
						return
					}
					now := mono()
					if r.msgs == 0 {
						once.Do(func() { u0 = use(); started.Store(1) })
						r.first = now
					}
					m := p.Data()
					r.msgs++
					r.live.Store(r.msgs)
					if len(m) != msgLen || binary.LittleEndian.Uint32(m) != magic || binary.LittleEndian.Uint32(m[24:]) != msgCRC(m) {
						r.corrupt++
						p.Decommission()
						continue
					}
					s := binary.LittleEndian.Uint32(m[4:])
					q := binary.LittleEndian.Uint64(m[8:])
					r.h.add(now - int64(binary.LittleEndian.Uint64(m[16:])))
					nx := r.next[s]
					if q >= nx {
						r.gaps += q - nx
						r.next[s] = q + 1
					} else {
						r.dup++
					}
					r.bytes += uint64(len(m))
					r.last = now
					p.Decommission()
				}
			}(rx[i], c)
		}
	}()
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	deadline := time.After(time.Duration((secs + 40) * float64(time.Second)))
	term := make(chan os.Signal, 1) // told to end: a result all the same
	signal.Notify(term, syscall.SIGTERM)
	tk := time.NewTicker(50 * time.Millisecond)
	var u1 usage
	var prev uint64
	idle, ticks, timeout := 0, 0, 0
	tot := map[string]uint64{}
loop:
	for {
		select {
		case <-done:
			break loop
		case <-term:
			timeout = 1
			break loop
		case <-deadline:
			timeout = 1
			break loop
		case <-tk.C:
			if ticks++; ticks%5 == 0 {
				procStatus()
			}
			var t uint64
			for _, r := range rx {
				t += r.live.Load()
			}
			if started.Load() != 0 && t == prev {
				if idle++; idle == 3 { // 150 ms without data: end-of-run candidate
					u1 = use()
					clear(tot)
					for i := 0; i < int(acc.Load()); i++ {
						addStats(conns[i], tot)
					}
				}
			} else {
				idle = 0
			}
			prev = t
		}
	}
	if u1.t.IsZero() {
		u1 = use()
	}
	procStatus()
	m := map[string]any{"role": "recv", "accepted": acc.Load(), "timeout": timeout}
	var b, ms, g, d, co, minn, maxn uint64
	minn = ^uint64(0)
	var first, last int64
	var H lat
	for _, r := range rx {
		b += r.bytes
		ms += r.msgs
		g += r.gaps
		d += r.dup
		co += r.corrupt
		minn = min(minn, r.msgs)
		maxn = max(maxn, r.msgs)
		if r.first != 0 && (first == 0 || r.first < first) {
			first = r.first
		}
		last = max(last, r.last)
		for i, v := range r.h.b {
			H.b[i] += v
		}
		H.n += r.h.n
		H.max = max(H.max, r.h.max)
	}
	q := func(p float64) float64 {
		w, c := uint64(p*float64(H.n)), uint64(0)
		for i, v := range H.b {
			if c += uint64(v); c > w {
				return float64(i+1) * 0.5
			}
		}
		return -1
	}
	wall := float64(last-first) / 1e9
	m["delivered_bytes"], m["msgs"], m["gaps"], m["dup_or_reorder"], m["corrupt"] = b, ms, g, d, co
	m["min_stream_msgs"], m["max_stream_msgs"] = minn, maxn
	m["wall_s"] = wall
	if wall > 0 {
		m["mbps"] = float64(b) * 8 / wall / 1e6
	}
	m["lat_p50_ms"], m["lat_p99_ms"], m["lat_p999_ms"], m["lat_max_ms"] = q(.5), q(.99), q(.999), float64(H.max)/1e6
	for k, v := range tot {
		m[k] = v
	}
	usageOut(m, u0, u1)
	out(m)
	os.Exit(timeout)
}

func send(addr string, cfg srt.Config, n int, mbps, secs float64, latency int, unpaced bool) {
	conns := make([]srt.Conn, n)
	seq := make([]uint64, n)
	t0 := time.Now()
	for i := range conns {
		c, err := srt.Dial("srt", addr, cfg)
		if err != nil {
			die("send", fmt.Sprintf("dial #%d", i), err)
		}
		conns[i] = c
	}
	connS := time.Since(t0).Seconds()
	time.Sleep(300 * time.Millisecond)
	procStatus()
	buf := make([]byte, msgLen)
	pps := mbps * 1e6 / 8 / msgLen
	per := uint64(pps * secs)
	var sent, stalls, late uint64
	perSec := make([]uint64, max(1, int(secs)))
	u0 := use()
	start := time.Now()
	tick := start
	nextPoll := start
	for {
		now := time.Now()
		el := now.Sub(start).Seconds()
		fin := el >= secs
		if unpaced {
			if fin {
				break
			}
			any := false
			for i, c := range conns {
				for k := 0; k < 64; k++ {
					build(buf, uint32(i), seq[i], uint32(n), mono())
					if _, err := c.Write(buf); err != nil {
						stalls++
						break
					}
					seq[i]++
					sent++
					perSec[min(int(el), len(perSec)-1)]++
					any = true
				}
			}
			if now.After(nextPoll) {
				procStatus()
				nextPoll = now.Add(250 * time.Millisecond)
			}
			if !any {
				time.Sleep(100 * time.Microsecond)
			}
			continue
		}
		for i, c := range conns {
			due := uint64(el*pps + float64(i)/float64(n))
			if due > per || fin {
				due = per
			}
			for seq[i] < due {
				build(buf, uint32(i), seq[i], uint32(n), mono())
				if _, err := c.Write(buf); err != nil {
					stalls++
					break
				}
				seq[i]++
				sent++
				perSec[min(int(el), len(perSec)-1)]++
			}
		}
		if fin {
			break
		}
		if now.After(nextPoll) {
			procStatus()
			nextPoll = now.Add(250 * time.Millisecond)
		}
		tick = tick.Add(time.Millisecond)
		d := time.Until(tick)
		if d <= 0 {
			late++
			tick = time.Now()
			continue
		}
		time.Sleep(d)
	}
	end := time.Now()
	left := uint64(0)
	for dl := end.Add(5 * time.Second); ; {
		left = 0
		var s srt.Statistics
		for _, c := range conns {
			c.Stats(&s)
			left += s.Instantaneous.PktSendBuf
		}
		if left == 0 || time.Now().After(dl) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	u1 := use()
	drain := time.Since(end).Seconds()
	procStatus()
	time.Sleep(time.Duration(latency+700) * time.Millisecond)
	tot := map[string]uint64{}
	for _, c := range conns {
		addStats(c, tot)
	}
	for _, c := range conns {
		c.Close()
	}
	wall := end.Sub(start).Seconds()
	off := per * uint64(n)
	if unpaced {
		off = sent
	}
	m := map[string]any{"role": "send", "streams": n, "offered_bytes": off * msgLen, "sent_bytes": sent * msgLen, "sent_msgs": sent, "send_stalls": stalls, "late_ticks": late,
		"connect_s": connS, "wall_s": wall, "drain_s": drain, "undrained": left, "mbps": float64(sent) * msgLen * 8 / wall / 1e6, "sent_per_s": perSec}
	for k, v := range tot {
		m[k] = v
	}
	usageOut(m, u0, u1)
	out(m)
	os.Exit(0)
}
