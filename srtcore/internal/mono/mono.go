// Package mono holds the monotonic time of the engine: 8 bytes, no zone, no
// clock behind it.
//
// Lives here: Time and its arithmetic. May import: time, for Duration only.
// Never: time.Now; the loop is the only reader of a clock.
package mono

import "time"

// Time is an instant in nanoseconds since an arbitrary origin of the process.
// Where an instant is optional, the zero Time means that there is none yet.
type Time int64

// Never is later than any instant; a mechanism without a deadline returns it.
const Never Time = 1<<63 - 1

// Add returns t+d. Never stays Never, and what would lie behind it is Never too.
func (t Time) Add(d time.Duration) Time {
	sum := t + Time(d)
	if t == Never || d > 0 && sum < t {
		return Never
	}
	return sum
}

// Sub returns t-u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Before reports whether t is earlier than u.
func (t Time) Before(u Time) bool { return t < u }

// After reports whether t is later than u.
func (t Time) After(u Time) bool { return t > u }

// Micros returns t in whole microseconds.
func (t Time) Micros() int64 { return int64(t) / 1000 }

// Min returns the earlier of t and u.
func Min(t, u Time) Time {
	if t < u {
		return t
	}
	return u
}
