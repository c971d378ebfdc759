// Package golden reads the recorded SRT traffic of tests/testdata/golden: real
// libsrt peers talking through a recording relay.
//
// A capture is a folder: packets.jsonl.gz holds one datagram a line in the
// order in which the relay received them, deliveries.jsonl one line a message
// that was handed to an application, meta.json what the peers were told to do
// and what came of it.
//
// Lives here: loading, the two views of a direction, the payload generator.
// May import: the standard library. Never: any package of this module, so that
// tests everywhere may use it.
package golden

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Directions of a capture.
const (
	C2L = "c2l" // caller to listener
	L2C = "l2c" // listener to caller
)

// Sides of a capture.
const (
	Caller   = "caller"
	Listener = "listener"
)

// Packet is one datagram.
type Packet struct {
	T       time.Duration // when the relay received it, since the first one
	Dir     string        // C2L or L2C
	Data    []byte        // UDP payload
	Dropped bool          // not forwarded
	Fwd     time.Duration // when the relay forwarded it; T where it did so at once
	Dup     int           // extra copies forwarded
	Link    int           // number of the link of a group
	Flow    int           // number of the caller's port, where there are several
}

// Delivery is one message handed to an application.
type Delivery struct {
	T     time.Duration // same clock as Packet.T
	Side  string        // Caller or Listener
	K     int           // number of the generated message, -1 unknown
	Len   int
	Seq   uint32
	MsgNo uint32
	Conn  int // number of the connection, where there are several
}

// Capture is one recording.
type Capture struct {
	Name       string
	Packets    []Packet
	Deliveries []Delivery // empty where nothing was delivered
	Meta       Meta
}

// Root returns the folder of all captures, found from the working directory of
// a test anywhere in the module.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "tests", "testdata", "golden"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("golden: no go.mod above the working directory")
		}
		dir = parent
	}
}

// Names returns the names of all captures, sorted.
func Names() ([]string, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// LoadName loads the capture of that name.
func LoadName(name string) (*Capture, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	return Load(filepath.Join(root, name))
}

// Load loads the capture in a folder.
func Load(dir string) (*Capture, error) {
	c := &Capture{Name: filepath.Base(dir)}
	var err error
	if c.Packets, err = loadPackets(filepath.Join(dir, "packets.jsonl.gz")); err != nil {
		return nil, err
	}
	if c.Deliveries, err = loadDeliveries(filepath.Join(dir, "deliveries.jsonl")); err != nil {
		return nil, err
	}
	if c.Meta, err = loadMeta(filepath.Join(dir, "meta.json")); err != nil {
		return nil, err
	}
	return c, nil
}

// SenderView returns the datagrams of a direction as their sender sent them.
func (c *Capture) SenderView(dir string) []Packet {
	var out []Packet
	for _, p := range c.Packets {
		if p.Dir == dir {
			out = append(out, p)
		}
	}
	return out
}

// ReceiverView returns the datagrams of a direction as their receiver got them:
// what was forwarded, in the order of Fwd, copies included.
func (c *Capture) ReceiverView(dir string) []Packet {
	var out []Packet
	for _, p := range c.SenderView(dir) {
		if p.Dropped {
			continue
		}
		for range 1 + p.Dup {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b Packet) int { return int(a.Fwd - b.Fwd) })
	return out
}

func loadPackets(path string) (out []Packet, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	err = eachLine(z, func(line []byte) error {
		p, err := parsePacket(line)
		out = append(out, p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

func parsePacket(line []byte) (Packet, error) {
	var l struct {
		T       int64  `json:"t_us"`
		Dir     string `json:"dir"`
		Hex     string `json:"hex"`
		Dropped bool   `json:"dropped"`
		Fwd     *int64 `json:"fwd_us"`
		Dup     int    `json:"dup"`
		Link    int    `json:"link"`
		Flow    int    `json:"flow"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return Packet{}, err
	}
	data, err := hex.DecodeString(l.Hex)
	if err != nil {
		return Packet{}, err
	}
	if l.Fwd == nil {
		l.Fwd = &l.T
	}
	return Packet{
		T: micros(l.T), Dir: l.Dir, Data: data, Dropped: l.Dropped,
		Fwd: micros(*l.Fwd), Dup: l.Dup, Link: l.Link, Flow: l.Flow,
	}, nil
}

func loadDeliveries(path string) (out []Delivery, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = eachLine(f, func(line []byte) error {
		var l struct {
			T     int64  `json:"t_us"`
			Side  string `json:"side"`
			K     int    `json:"k"`
			Len   int    `json:"len"`
			Seq   uint32 `json:"seq"`
			MsgNo uint32 `json:"msgno"`
			Conn  int    `json:"conn"`
		}
		err := json.Unmarshal(line, &l)
		out = append(out, Delivery{micros(l.T), l.Side, l.K, l.Len, l.Seq, l.MsgNo, l.Conn})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

func eachLine(r io.Reader, f func([]byte) error) error {
	s := bufio.NewScanner(r)
	for s.Scan() {
		if err := f(s.Bytes()); err != nil {
			return err
		}
	}
	return s.Err()
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
