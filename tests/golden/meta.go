package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Meta is meta.json: what the peers were told to do and what came of it. Maps
// are by side (Caller, Listener) unless said otherwise; second connections have
// keys like "listener#1".
type Meta struct {
	Name     string            `json:"name"`
	What     string            `json:"what"`
	Note     string            `json:"note"`
	Kind     string            `json:"kind"`
	Versions map[string]string `json:"versions"`
	// Options are libsrt's, without SRTO_ and in lower case; see IntOption.
	Options map[string]map[string]any `json:"options"`
	// Passphrase is empty where a side was given none.
	Passphrase map[string]string  `json:"passphrase"`
	StreamID   string             `json:"streamid"`
	Actions    map[string]Actions `json:"actions"`
	Relay      Relay              `json:"relay"`
	Expected   Expected           `json:"expected"`
	WireFacts  WireFacts          `json:"wire_facts"`
	// TSBPD is by direction.
	TSBPD map[string]TSBPD `json:"tsbpd"`
	// Stats holds the last statistics of each side before closing, by libsrt's
	// field names.
	Stats map[string]map[string]float64 `json:"stats"`
	// Raw is all of it.
	Raw map[string]any `json:"-"`
}

// Actions is what a peer did.
type Actions struct {
	SendN       int   `json:"send_n"`
	SendSize    Sizes `json:"send_size"`
	SendUs      int   `json:"send_us"` // 0: all at once
	SendStartMs int   `json:"send_start_ms"`
	Recv        int   `json:"recv"`
	LingerMs    int   `json:"linger_ms"`
	Reject      int   `json:"reject"`
	// CallbackPassphrase was chosen by the listener callback.
	CallbackPassphrase string `json:"cbpass"`
}

// Sizes are message sizes, to be used cyclically.
type Sizes []int

// Of returns the size of message k; 0 if there are no sizes.
func (s Sizes) Of(k int) int {
	if len(s) == 0 {
		return 0
	}
	return s[k%len(s)]
}

// UnmarshalJSON reads a number, or a string of numbers with commas.
func (s *Sizes) UnmarshalJSON(b []byte) error {
	for field := range strings.SplitSeq(string(bytes.Trim(b, `"`)), ",") {
		n, err := strconv.Atoi(field)
		if err != nil {
			return fmt.Errorf("golden: size %q: %w", b, err)
		}
		*s = append(*s, n)
	}
	return nil
}

// Relay is what the relay did to the datagrams.
type Relay struct {
	DelayMs [2]float64 `json:"delay_ms"` // c2l, l2c
	Rules   []struct {
		Rule string `json:"rule"`
		Hits int    `json:"hits"`
	} `json:"rules"`
}

// Expected is the result that the applications saw.
type Expected struct {
	Connect             map[string]Connect        `json:"connect"`
	Sent                map[string]Payload        `json:"sent"`
	Received            map[string]Payload        `json:"received"`
	OptionsAfterConnect map[string]map[string]any `json:"options_after_connect"`
}

// Connect is the result of connecting. RejectReason is libsrt's, without the
// 1000 of the wire.
type Connect struct {
	OK           bool   `json:"ok"`
	TookUs       int64  `json:"took_us"`
	ErrorText    string `json:"error_text"`
	RejectReason int    `json:"reject_reason"`
	RejectText   string `json:"reject_text"`
}

// Payload describes the messages of one direction.
type Payload struct {
	Messages     int    `json:"messages"`
	Bytes        int    `json:"bytes"`
	SHA256       string `json:"sha256"` // of all payloads joined
	Tag          string `json:"tag"`    // of the generator
	KDelivered   Ranges `json:"k_delivered"`
	InOrder      bool   `json:"in_order"`
	Unrecognised int    `json:"unrecognised"`
}

// Ranges is a list of numbers and ranges: "3", "7-9".
type Ranges []string

// Has reports whether k is in the list.
func (r Ranges) Has(k int) bool {
	for _, s := range r {
		first, last, ok := strings.Cut(s, "-")
		if !ok {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA == nil && errB == nil && a <= k && k <= b {
			return true
		}
	}
	return false
}

// WireFacts is what an independent decoder found in the packets.
type WireFacts struct {
	Datagrams int `json:"datagrams"`
	// WirePayload is by direction, or by tag where there are several
	// connections.
	WirePayload map[string]WirePayload `json:"wire_payload"`
}

// WirePayload is the payload reassembled from the wire, decrypted if possible.
type WirePayload struct {
	Packets          int        `json:"packets"`
	Bytes            int        `json:"bytes"`
	SHA256           string     `json:"sha256"`
	MatchesGenerator string     `json:"matches_generator"`
	Undecryptable    int        `json:"undecryptable"`
	Keys             []WireKeys `json:"keys"`
}

// WireKeys are the keys of one Key Material message, in hexadecimal.
type WireKeys struct {
	At   string `json:"at"`
	KK   int    `json:"KK"`
	Even string `json:"even"`
	Odd  string `json:"odd"`
}

// TSBPD compares the deliveries of a direction with the play times.
type TSBPD struct {
	HandshakeArrivalUs int64  `json:"handshake_arrival_us"`
	HandshakeTS        uint32 `json:"handshake_ts"`
	LatencyMs          int    `json:"latency_ms"`
	Deliveries         int    `json:"deliveries"`
	LateUs             struct {
		Min    int64 `json:"min"`
		Median int64 `json:"median"`
		Max    int64 `json:"max"`
	} `json:"late_us"`
}

// IntOption returns a number that a side was configured with, or def.
func (m *Meta) IntOption(side, name string, def int) int {
	if v, ok := m.Options[side][name].(float64); ok {
		return int(v)
	}
	return def
}

// SidePassphrase returns what a side used as passphrase, be it configured or
// chosen by the listener callback.
func (m *Meta) SidePassphrase(side string) string {
	if p := m.Actions[side].CallbackPassphrase; p != "" {
		return p
	}
	return m.Passphrase[side]
}

func loadMeta(path string) (m Meta, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err = json.Unmarshal(b, &m); err == nil {
		err = json.Unmarshal(b, &m.Raw)
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
