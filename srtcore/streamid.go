package srtcore

import (
	"fmt"
	"strings"
)

// StreamIDPair is one key and its value.
type StreamIDPair struct{ Key, Value string }

// StreamIDInfo is a stream id taken apart. The standard form is
//
//	#!::r=live/a,m=publish,u=admin
//
// the access control convention of the SRT documents; anything that does not
// begin with #! is a plain id and names the resource as a whole.
type StreamIDInfo struct {
	Raw   string
	Pairs []StreamIDPair // in their order; nil for a plain id
}

const standardStreamID = "#!::"

// ParseStreamID takes a stream id apart. Everything is taken literally: the
// convention knows no escapes, so a value may hold anything but a comma. A key
// given twice is an error, since two readers could choose differently. The error
// is an *OptionError.
func ParseStreamID(s string) (StreamIDInfo, error) {
	info := StreamIDInfo{Raw: s}
	if len(s) > MaxStreamID {
		return info, streamIDError(fmt.Sprintf("has %d bytes", len(s)), fmt.Sprintf("0..%d bytes", MaxStreamID))
	}
	if strings.IndexByte(s, 0) >= 0 {
		return info, streamIDError("holds a zero byte", "any other byte")
	}
	if !strings.HasPrefix(s, "#!") {
		return info, nil
	}
	list, ok := strings.CutPrefix(s, standardStreamID)
	if !ok {
		return info, streamIDError("begins with #! but not with "+standardStreamID, "#!::key=value,key=value")
	}
	info.Pairs = []StreamIDPair{}
	if list == "" {
		return info, nil
	}
	for item := range strings.SplitSeq(list, ",") {
		if err := info.add(item); err != nil {
			return StreamIDInfo{Raw: s}, err
		}
	}
	return info, nil
}

func (i *StreamIDInfo) add(item string) error {
	key, value, ok := strings.Cut(item, "=")
	if !ok || key == "" {
		return streamIDError("holds "+quoteValue(item)+", which is no key=value", "#!::key=value,key=value")
	}
	if _, twice := i.Get(key); twice {
		return streamIDError("holds the key "+quoteValue(key)+" twice", "each key once")
	}
	i.Pairs = append(i.Pairs, StreamIDPair{key, value})
	return nil
}

func streamIDError(problem, allowed string) error {
	return &OptionError{Option: "streamid", Problem: problem, Allowed: allowed}
}

// Standard says whether the id has the #!:: form.
func (i StreamIDInfo) Standard() bool { return i.Pairs != nil }

// Get returns the value of a key, standard or your own.
func (i StreamIDInfo) Get(key string) (value string, ok bool) {
	for _, p := range i.Pairs {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

func (i StreamIDInfo) value(key string) string {
	v, _ := i.Get(key)
	return v
}

// Resource is r, the name of what is wanted; of a plain id, all of it.
func (i StreamIDInfo) Resource() string {
	if !i.Standard() {
		return i.Raw
	}
	return i.value("r")
}

// User is u, who asks.
func (i StreamIDInfo) User() string { return i.value("u") }

// Host is h, the name of the host as the caller knows it.
func (i StreamIDInfo) Host() string { return i.value("h") }

// Session is s, an id the caller chose to tell its connections apart.
func (i StreamIDInfo) Session() string { return i.value("s") }

// Type is t, the kind of the content: stream, file or auth; "" means stream.
func (i StreamIDInfo) Type() string { return i.value("t") }

// Mode is m, what the caller is about to do: request, publish or bidirectional;
// "" means request.
func (i StreamIDInfo) Mode() string { return i.value("m") }

// String writes the id as it goes over the wire, from Pairs if there are any.
func (i StreamIDInfo) String() string {
	if !i.Standard() {
		return i.Raw
	}
	parts := make([]string, len(i.Pairs))
	for n, p := range i.Pairs {
		parts[n] = p.Key + "=" + p.Value
	}
	return standardStreamID + strings.Join(parts, ",")
}
