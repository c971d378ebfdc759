// Package seq holds the circular numbers of SRT: the 31-bit packet sequence
// number and the 26-bit message number (draft-sharabayko-srt-01, section 3.1).
//
// Lives here: arithmetic and ordering of the two number types.
// May import: nothing. Never: anything.
package seq

// Number is a packet sequence number: 31 bits, 0x7FFFFFFF is followed by 0.
// Nobody else adds or subtracts sequence numbers by hand.
type Number uint32

// Max is the largest sequence number.
const Max Number = 0x7FFFFFFF

// Add returns the number n steps after s; n may be negative.
func (s Number) Add(n int) Number { return Number(uint32(int64(s)+int64(n))) & Max }

// Next returns the number after s.
func (s Number) Next() Number { return (s + 1) & Max }

// Prev returns the number before s.
func (s Number) Prev() Number { return (s - 1) & Max }

// Sub returns the signed distance from t to s, the shorter way round:
// positive when s comes after t. Its range is -2^30 .. 2^30-1.
func (s Number) Sub(t Number) int { return int(int32(uint32(s-t)<<1) >> 1) }

// Less reports whether s comes before t.
func (s Number) Less(t Number) bool { return s.Sub(t) < 0 }

// LessEq reports whether s comes before t or equals it.
func (s Number) LessEq(t Number) bool { return s.Sub(t) <= 0 }

// MsgNo is a message number: 26 bits, counting from 1 and skipping 0, which is
// reserved for packet-filter packets.
type MsgNo uint32

// MaxMsgNo is the largest message number; it is followed by 1.
const MaxMsgNo MsgNo = 0x03FFFFFF

// Next returns the message number after m.
func (m MsgNo) Next() MsgNo {
	if m >= MaxMsgNo {
		return 1
	}
	return m + 1
}
