package wire

import "github.com/weirline/weirline/srtcore/seq"

// DropReqSize is the content of a Message Drop Request: two numbers.
const DropReqSize = 8

// ParseDropReq reads the content of a Message Drop Request (section 3.2.9). A
// range that runs backwards, and numbers of 32 bits, are ErrMalformed.
func ParseDropReq(content []byte) (SeqRange, error) {
	if len(content) < DropReqSize {
		return SeqRange{}, ErrShort
	}
	first, last := be.Uint32(content), be.Uint32(content[4:])
	r := SeqRange{seq.Number(first), seq.Number(last)}
	if (first|last)&topBit != 0 || r.Last.Less(r.First) {
		return SeqRange{}, ErrMalformed
	}
	return r, nil
}

// PutDropReq writes the range as the content of a Message Drop Request.
func (r SeqRange) PutDropReq(content []byte) {
	_ = content[DropReqSize-1]
	be.PutUint32(content, uint32(r.First&seq.Max))
	be.PutUint32(content[4:], uint32(r.Last&seq.Max))
}
