package wire

import "github.com/weirline/weirline/srtcore/seq"

// SeqRange is a run of packet sequence numbers, both ends included; it may
// cross the wrap.
type SeqRange struct{ First, Last seq.Number }

// Len returns how many numbers the range holds.
func (r SeqRange) Len() int { return r.Last.Sub(r.First) + 1 }

// ParseNAK appends the ranges of a loss list to dst (section 3.2.5 and
// appendix A): a lone number, or a first one with the top bit set followed by a
// last one without. An empty list, half words, a first without its last, and a
// range that runs backwards are ErrMalformed; dst then comes back with its old
// length. How long a range may be is for the caller to judge.
func ParseNAK(dst []SeqRange, content []byte) ([]SeqRange, error) {
	old := len(dst)
	if len(content) == 0 || len(content)%4 != 0 {
		return dst, ErrMalformed
	}
	for len(content) > 0 {
		r, n := parseNAKEntry(content)
		if n == 0 {
			return dst[:old], ErrMalformed
		}
		dst = append(dst, r)
		content = content[n:]
	}
	return dst, nil
}

// parseNAKEntry reads one entry and returns its length, 0 if it is malformed.
func parseNAKEntry(b []byte) (SeqRange, int) {
	first := be.Uint32(b)
	if first&topBit == 0 {
		return SeqRange{seq.Number(first), seq.Number(first)}, 4
	}
	if len(b) < 8 {
		return SeqRange{}, 0
	}
	last := be.Uint32(b[4:])
	r := SeqRange{seq.Number(first) & seq.Max, seq.Number(last)}
	if last&topBit != 0 || r.Last.Less(r.First) {
		return SeqRange{}, 0
	}
	return r, 8
}

// AppendNAKRange appends one entry of a loss list: 4 bytes for a lone number,
// else 8.
func AppendNAKRange(dst []byte, r SeqRange) []byte {
	if r.First == r.Last {
		return be.AppendUint32(dst, uint32(r.First&seq.Max))
	}
	dst = be.AppendUint32(dst, topBit|uint32(r.First&seq.Max))
	return be.AppendUint32(dst, uint32(r.Last&seq.Max))
}
