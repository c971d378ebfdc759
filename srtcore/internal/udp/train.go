package udp

import "github.com/weirline/weirline/srtcore/internal/dgram"

const (
	// maxSegments is the most datagrams of a train: what kernels take (newer
	// ones take 128).
	maxSegments = 64
	// maxTrainBytes keeps a train below the longest UDP payload, 65,507.
	maxTrainBytes = 65000
	// viewBytes is what a received train must be worth to be lent as views
	// instead of copied: the last view that somebody keeps holds all of a slab.
	viewBytes = dgram.SlabSize / 2
)

// train is a run of datagrams that the kernel takes as one message.
type train struct{ first, count int }

// planTrains appends to dst the trains that out splits into, in order, until
// dst is full or the trains hold maxDatagrams. Without gso every datagram is
// its own train.
func planTrains(dst []train, out []dgram.Out, gso bool, maxDatagrams int) []train {
	for i := 0; i < len(out) && len(dst) < cap(dst) && maxDatagrams > 0; {
		n := 1
		if gso {
			n = trainLen(out[i:], min(maxSegments, maxDatagrams))
		}
		dst = append(dst, train{first: i, count: n})
		i += n
		maxDatagrams -= n
	}
	return dst
}

// trainLen returns how many datagrams at the head of out, at most limit, may
// leave as one message: same peer, same source, all of one length but the last,
// which may be shorter. The kernel cuts the message by that length, so an empty
// datagram would vanish and stays alone.
func trainLen(out []dgram.Out, limit int) int {
	head := &out[0]
	size := len(head.Data)
	if size == 0 {
		return 1
	}
	limit = min(limit, len(out), maxTrainBytes/size)
	n := 1
	for n < limit && joins(head, &out[n]) {
		n++
		if len(out[n-1].Data) < size {
			break
		}
	}
	return n
}

// joins tells whether d may follow in the train that head begins.
func joins(head, d *dgram.Out) bool {
	n := len(d.Data)
	return n > 0 && n <= len(head.Data) && d.To == head.To && d.From == head.From
}

// datagrams returns the number of datagrams that a plan holds.
func datagrams(plan []train) int {
	if len(plan) == 0 {
		return 0
	}
	last := plan[len(plan)-1]
	return last.first + last.count - plan[0].first
}

// segments returns how many datagrams a received message of n bytes holds if it
// was joined by stride; stride 0 means that it was not joined.
func segments(n, stride int) int {
	if stride <= 0 || n <= stride {
		return 1
	}
	return (n + stride - 1) / stride
}

// segment returns the datagram number i of a received message.
func segment(msg []byte, stride, i int) []byte {
	if stride <= 0 {
		return msg
	}
	from := min(i*stride, len(msg))
	return msg[from:min(from+stride, len(msg))]
}

// views returns how many datagrams of a received message of n bytes become views
// of the memory they came in: 0 if it is no train that fills enough of it, else
// those long enough for a Buf, of which a rest at the end may not be one.
func views(n, stride int) int {
	if n < viewBytes || stride < dgram.HeaderSize || stride > dgram.Size {
		return 0
	}
	v := n / stride
	if n%stride >= dgram.HeaderSize {
		v++
	}
	return v
}
