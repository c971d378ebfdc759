package profile

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range Names() {
		if seen[n] {
			t.Errorf("%s is there twice", n)
		}
		seen[n] = true
	}
	for _, s := range Scenarios() {
		if seen[s.Name] {
			t.Errorf("%s is a profile and a scenario", s.Name)
		}
		seen[s.Name] = true
	}
}

func TestNumbersAgreeWithArguments(t *testing.T) {
	for _, p := range All() {
		i := slices.Index(p.Common, "--latency")
		if i < 0 || p.Common[i+1] != trim(p.LatencyMs) {
			t.Errorf("%s: latency %v, arguments %q", p.Name, p.LatencyMs, p.Common)
		}
		if i := slices.Index(p.Common, "--streams"); i < 0 || p.Common[i+1] != trim(float64(p.Lab.Streams)) {
			t.Errorf("%s: %d streams, arguments %q", p.Name, p.Lab.Streams, p.Common)
		}
		if i := slices.Index(p.Send, "--mbps"); p.Lab.Mbps != 0 && p.Send[i+1] != trim(p.Lab.Mbps) {
			t.Errorf("%s: %v Mbit/s, arguments %q", p.Name, p.Lab.Mbps, p.Send)
		}
	}
}

func TestImpairedProfilesHaveFourRoundTrips(t *testing.T) {
	p, err := Get("P2-strong")
	if err != nil {
		t.Fatal(err)
	}
	if p.LatencyMs != 800 || slices.Contains(p.Common, "--tlpktdrop") || p.Lab.Net.Loss != .01 {
		t.Errorf("%+v", p)
	}
	if light, _ := Get("P4-light"); !slices.Contains(light.Common, "--passphrase") {
		t.Errorf("the cipher got lost: %q", light.Common)
	}
	if _, err := Get("P9"); err == nil || !strings.Contains(err.Error(), "K1000") {
		t.Errorf("error %v", err)
	}
}

func TestBarsNamePeersThatRun(t *testing.T) {
	for _, p := range All() {
		for _, b := range p.Lab.Bars {
			if b.Of != "" && !slices.Contains(p.Lab.Peers, b.Of) {
				t.Errorf("%s: bar of %s, which does not run", p.Name, b.Of)
			}
		}
	}
}

func trim(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
