package access_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
)

// Stream ids that are made to break something are refused with the code that fits,
// each by one line at most, in which nothing of theirs is a line or a word of its
// own; and the next caller is served.
func TestHostileStreamIDs(t *testing.T) {
	r := newRig(t, config.Listener{Users: []config.User{{Name: "ann", Publish: []string{"live/*"}, Play: []string{"*"}}}})
	r.publish("live/a", "")
	out := r.play("live/a", "")
	long := func(head string) string { return head + strings.Repeat("x", srtcore.MaxStreamID-len(head)) }
	const forged = "\ntime=2030-01-01 level=ERROR msg=forged"
	for id, want := range map[string]struct {
		code   srtcore.RejectReason
		reason string
	}{
		long("#!::u=ann,r="):                         {srtcore.RejNotFound, "stream"},
		long("#!::r=live/a,u="):                      {srtcore.RejUnauthorized, "user"},
		long("#!::r=live/a,u=ann,"):                  {srtcore.RejBadRequest, "stream-id"},
		long("#!::"):                                 {srtcore.RejBadRequest, "stream-id"},
		"#!::r=live/a,u=ann" + forged:                {srtcore.RejBadRequest, "stream-id"},
		"#!::r=live/a,u=ann,s=\x1b[2J\x07":           {srtcore.RejBadRequest, "stream-id"},
		"#!::r=live/a,u=ann,s=\u009b2J":              {srtcore.RejBadRequest, "stream-id"},
		"#!::r=live/a,u=\xff\xfe":                    {srtcore.RejBadRequest, "stream-id"},
		"#!::r=live/a,u=ann\" level=ERROR x=\"":      {srtcore.RejUnauthorized, "user"},
		"#!::r=live/a,u=ann,r=other":                 {srtcore.RejBadRequest, "stream-id"},
		"#!::r=live/a,u=ann,u=root":                  {srtcore.RejBadRequest, "stream-id"},
		"#!::u=ann":                                  {srtcore.RejBadRequest, "stream-id"},
		"#!::u=ann,r=":                               {srtcore.RejBadRequest, "stream-id"},
		"#!::r=live/a,u=":                            {srtcore.RejUnauthorized, "user"},
		"#!::r=live/a,u=ANN":                         {srtcore.RejUnauthorized, "user"},
		"#!::r=live/a,u=*":                           {srtcore.RejUnauthorized, "user"},
		"#!::r=*,u=ann":                              {srtcore.RejNotFound, "stream"},
		"#!::r=live/../live/a,u=ann":                 {srtcore.RejNotFound, "stream"},
		"#!::r=../live/a,u=ann,m=publish":            {srtcore.RejForbidden, "permission"},
		"#!::r=/live/a,u=ann":                        {srtcore.RejNotFound, "stream"},
		"#!::r=live/a/,u=ann":                        {srtcore.RejNotFound, "stream"},
		"#!::r=live//a,u=ann":                        {srtcore.RejNotFound, "stream"},
		"#!::r=live%2Fa,u=ann":                       {srtcore.RejNotFound, "stream"},
		"#!::r=live/a%00,u=ann":                      {srtcore.RejNotFound, "stream"},
		"%23%21%3A%3Ar%3Dlive/a":                     {srtcore.RejBadRequest, "stream-id"},
		"#!::r=live/a,u=ann,m=":                      {0, ""}, // as if it were not there
		"#!::r=live/a,u=ann,m=Publish":               {srtcore.RejBadMode, "mode"},
		"#!::r=live/a,u=ann,m=publish ":              {srtcore.RejBadMode, "mode"},
		"#!::r=live/a,u=ann,R=other,mode=publish":    {0, ""},
		"#!::r=live/a,u=ann,x=" + "{\"a\":\"b\"}=%s": {0, ""},
	} {
		if want.code == 0 {
			c := r.mustCall(id, "")
			r.openSink(out)
			_ = c.Abort()
			continue
		}
		r.wantRefused(id, "", want.code, want.reason)
	}
	for _, line := range strings.Split(strings.TrimSuffix(r.log.String(), "\n"), "\n") {
		if !strings.HasPrefix(line, "time=2") || strings.Count(line, " level=") != 1+strings.Count(line, `\" level=ERROR`) || len(line) > 700 ||
			strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 }) {
			t.Errorf("in the log: %q", line)
		}
	}
	if strings.Contains(r.log.String(), "forged") {
		t.Errorf("log: %s", r.log)
	}
}

// A stream id too long for the protocol does not leave a caller of ours.
func TestLongestStreamID(t *testing.T) {
	r := newRig(t, config.Listener{})
	name := strings.Repeat("n", 256)
	out := r.play(name, "")
	c := r.mustCall("#!::r="+name+",s="+strings.Repeat("s", srtcore.MaxStreamID-len("#!::r=,s=")-len(name)), "")
	r.openSink(out)
	_ = c.Abort()
	if _, err := r.call(strings.Repeat("n", srtcore.MaxStreamID+1), ""); err == nil {
		t.Error("513 bytes were sent")
	} else if o, ok := errors.AsType[*srtcore.OptionError](err); !ok || !strings.Contains(fmt.Sprint(o), "512") {
		t.Errorf("513 bytes: %v", err)
	}
}
