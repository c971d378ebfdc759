package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirline/weirline/tests/lab/report"
	"github.com/weirline/weirline/tests/lab/stat"
)

func TestVerdictOfShares(t *testing.T) {
	for want, shares := range map[stat.Verdict][]float64{
		stat.Better:       {.80, .79, .81, .80},
		stat.Worse:        {1.3, 1.31, 1.29, 1.3},
		stat.Same:         {1.01, .99, 1, 1.02},
		stat.Inconclusive: {.7, 1.4, .9, 1.2},
	} {
		if _, v := judge(shares, 1); v != want {
			t.Errorf("%v: %s, want %s", shares, v, want)
		}
	}
	if i, v := judge([]float64{.5, .5, .5}, 2); i.N != 1 || v != stat.Inconclusive {
		t.Errorf("one block: %+v, %s", i, v)
	}
}

func TestWorseInOneFigureIsWorse(t *testing.T) {
	var rs report.Runs
	for round := range 5 {
		for impl, cpu := range map[string]float64{"a": 1, "b": 1.5} {
			r := report.Run{Impl: impl, Round: round}
			r.Recv = report.Side{TotalCPU: cpu, DeliveredBytes: 1e9, Mbps: 300, P99: 21, PeakRSSKB: 9000}
			rs = append(rs, r)
		}
	}
	if !verdicts(rs, options{block: 1}) {
		t.Error("half as much again is not worse")
	}
}

func TestBuildTakesABinaryAsItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "weirline")
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := build(context.Background(), file, t.TempDir()); err != nil || got != file {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := build(context.Background(), "no-such-revision", t.TempDir()); err == nil || !strings.Contains(err.Error(), "no revision") {
		t.Errorf("error %v", err)
	}
}
