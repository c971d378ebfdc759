package srtcore

import (
	"strings"
	"time"
)

// urlOnly holds what to do about the keys that stand for no single field. nil
// funcs would mean setField; mode, adapter, port and bind are left to
// resolveAddress.
var urlOnly = map[string]func(*Target, *option, setting) error{
	"latency":    setLatency,
	"timeout":    setTimeout,
	"transtype":  wantLive,
	"congestion": wantLive,
	"messageapi": wantMessageAPI,
	"blocking":   wantBool,
	"mode":       setLater,
	"adapter":    setLater,
	"port":       setLater,
}

func setLater(*Target, *option, setting) error { return nil }

// setLatency sets both directions, as SRTO_LATENCY does.
func setLatency(t *Target, o *option, s setting) error {
	rcv := lookup("rcvlatency")
	if err := rcv.parse(&t.Config, s.key, s.value); err != nil {
		return addTimeHint(err, o, s)
	}
	t.Config.PeerLatency = t.Config.RcvLatency
	t.warnLatency(s, t.Config.RcvLatency)
	return nil
}

func setTimeout(t *Target, o *option, s setting) error {
	n, problem := o.kind.parse(s.value)
	if problem == "" && n > dayMs*o.kind.base() {
		problem = "is out of range"
	}
	if problem != "" {
		err := &OptionError{Option: s.key, Value: quoteValue(s.value), Problem: problem, Allowed: o.allowedText()}
		return addTimeHint(err, o, s)
	}
	t.Timeout = max(time.Duration(n), 0)
	return nil
}

func wantLive(_ *Target, o *option, s setting) error {
	if strings.EqualFold(s.value, "live") {
		return nil
	}
	problem := "is unknown"
	if strings.EqualFold(s.value, "file") {
		problem = "is not supported yet"
	}
	return &OptionError{Option: s.key, Value: quoteValue(s.value), Problem: problem, Allowed: o.allowedText()}
}

func wantMessageAPI(_ *Target, o *option, s setting) error {
	on, ok := parseBool(s.value)
	switch {
	case !ok:
		return &OptionError{Option: s.key, Value: quoteValue(s.value), Problem: "is not a truth value", Allowed: o.allowedText()}
	case !on:
		return &OptionError{Option: s.key, Value: quoteValue(s.value), Problem: "is not supported", Allowed: o.allowedText()}
	}
	return nil
}

func wantBool(_ *Target, o *option, s setting) error {
	if _, ok := parseBool(s.value); !ok {
		return &OptionError{Option: s.key, Value: quoteValue(s.value), Problem: "is not a truth value", Allowed: o.allowedText()}
	}
	return nil
}

// nearestKey finds the key a misspelt one was probably meant to be, "" if none
// is near.
func nearestKey(key string) string {
	best, least := "", 1+max(1, min(len(key)/3, 3))
	try := func(known string) {
		if known == "" {
			return
		}
		if d := editDistance(key, known); d < least {
			best, least = known, d
		}
	}
	if len(key) > 40 {
		return ""
	}
	for i := range options {
		try(options[i].key)
		for _, a := range options[i].aliases {
			try(a)
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment).
func editDistance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	two, one, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			replace := one[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			cur[j] = min(replace, one[j]+1, cur[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], two[j-2]+1)
			}
		}
		two, one, cur = one, cur, two
	}
	return one[len(b)]
}
