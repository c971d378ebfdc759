package srtcore

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseStreamID(t *testing.T) {
	for _, tt := range []struct {
		id       string
		resource string
		pairs    []StreamIDPair
	}{
		{"", "", nil},
		{"live/stream-1", "live/stream-1", nil},
		{"r=a,m=publish", "r=a,m=publish", nil},
		{"#", "#", nil},
		{"#!::", "", []StreamIDPair{}},
		{"#!::r=live/a,m=publish", "live/a", []StreamIDPair{{"r", "live/a"}, {"m", "publish"}}},
		{"#!::u=admin,r=", "", []StreamIDPair{{"u", "admin"}, {"r", ""}}},
		{"#!::token=a=b==,r=x y&z%26", "x y&z%26", []StreamIDPair{{"token", "a=b=="}, {"r", "x y&z%26"}}},
	} {
		got, err := ParseStreamID(tt.id)
		if err != nil {
			t.Errorf("%q: %v", tt.id, err)
			continue
		}
		if got.Resource() != tt.resource || !slices.Equal(got.Pairs, tt.pairs) || got.Standard() != (tt.pairs != nil) {
			t.Errorf("%q: %+v, resource %q", tt.id, got, got.Resource())
		}
		if got.Raw != tt.id || got.String() != tt.id {
			t.Errorf("%q: raw %q, written %q", tt.id, got.Raw, got.String())
		}
	}
}

func TestStreamIDAccessors(t *testing.T) {
	id, err := ParseStreamID("#!::r=a,u=b,h=c,s=d,t=e,m=f,x=g")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{id.Resource(), id.User(), id.Host(), id.Session(), id.Type(), id.Mode()}
	if want := []string{"a", "b", "c", "d", "e", "f"}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if v, ok := id.Get("x"); v != "g" || !ok {
		t.Errorf("own key: %q, %v", v, ok)
	}
	if v, ok := id.Get("y"); v != "" || ok {
		t.Errorf("missing key: %q, %v", v, ok)
	}
}

func TestParseStreamIDErrors(t *testing.T) {
	for _, id := range []string{
		"#!", "#!:", "#!:{r: a}", "#!x", "#!::r", "#!::=a", "#!::r=a,", "#!::,r=a", "#!::r=a,,m=b", "#!::r=a,r=b",
		"a\x00", strings.Repeat("a", 513),
	} {
		got, err := ParseStreamID(id)
		var oe *OptionError
		if !errors.As(err, &oe) || oe.Option != "streamid" {
			t.Errorf("%q: %+v, %v", id, got, err)
		}
		if got.Pairs != nil || got.Raw != id {
			t.Errorf("%q: a refused id gave %+v", id, got)
		}
	}
}
