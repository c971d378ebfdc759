package golden_test

import (
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/golden"
)

func TestMessage(t *testing.T) {
	const want = "b87ad28d10438bec67dda140980a45b4"
	if got := hex.EncodeToString(golden.Message(golden.C2L, 0, 16)); got != want {
		t.Errorf("message 0 begins %s, want %s", got, want)
	}
	long := golden.Message(golden.L2C, 7, 1316)
	if len(long) != 1316 || !slices.Equal(long[:100], golden.Message(golden.L2C, 7, 100)) {
		t.Error("a shorter message is not the beginning of a longer one")
	}
}

func TestLoadAll(t *testing.T) {
	names, err := golden.Names()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 100 {
		t.Fatalf("%d captures only", len(names))
	}
	for _, name := range names {
		c, err := golden.LoadName(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if c.Name != c.Meta.Name || len(c.Packets) != c.Meta.WireFacts.Datagrams {
			t.Errorf("%s: meta says %s with %d datagrams, there are %d",
				name, c.Meta.Name, c.Meta.WireFacts.Datagrams, len(c.Packets))
		}
		checkDeliveries(t, c)
	}
}

// checkDeliveries compares the deliveries with the counts in meta.json.
func checkDeliveries(t *testing.T, c *golden.Capture) {
	t.Helper()
	want, bytes := 0, 0
	for _, p := range c.Meta.Expected.Received {
		want += p.Messages
		bytes += p.Bytes
	}
	for _, d := range c.Deliveries {
		bytes -= d.Len
	}
	if len(c.Deliveries) != want || bytes != 0 {
		t.Errorf("%s: %d deliveries, want %d; %d bytes missing", c.Name, len(c.Deliveries), want, bytes)
	}
}

func TestViews(t *testing.T) {
	c := &golden.Capture{Packets: []golden.Packet{
		{T: 1, Fwd: 9, Dir: golden.C2L},
		{T: 2, Fwd: 2, Dir: golden.C2L, Dropped: true},
		{T: 3, Fwd: 3, Dir: golden.L2C},
		{T: 4, Fwd: 4, Dir: golden.C2L, Dup: 1},
	}}
	times := func(ps []golden.Packet) (out []time.Duration) {
		for _, p := range ps {
			out = append(out, p.T)
		}
		return out
	}
	if got := times(c.SenderView(golden.C2L)); !slices.Equal(got, []time.Duration{1, 2, 4}) {
		t.Errorf("sender saw %v", got)
	}
	if got := times(c.ReceiverView(golden.C2L)); !slices.Equal(got, []time.Duration{4, 4, 1}) {
		t.Errorf("receiver saw %v", got)
	}
}

func TestMetaValues(t *testing.T) {
	c, err := golden.LoadName("06-aes-ctr-128")
	if err != nil {
		t.Fatal(err)
	}
	m := &c.Meta
	if got := m.Actions[golden.Caller].SendSize; !slices.Equal(got, golden.Sizes{1316, 1000, 77}) || got.Of(4) != 1000 {
		t.Errorf("send sizes %v", got)
	}
	if p := m.SidePassphrase(golden.Listener); p != "golden passphrase 1" {
		t.Errorf("passphrase %q", p)
	}
	if r := m.Expected.Received[golden.Listener].KDelivered; !r.Has(0) || !r.Has(15) || r.Has(16) {
		t.Errorf("delivered %v", r)
	}
	if m.IntOption(golden.Caller, "pbkeylen", 0) != 16 || m.IntOption(golden.Caller, "mss", 1500) != 1500 {
		t.Errorf("options %v", m.Options)
	}
}
