package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weirline/weirline/tests/lab/profile"
)

func side(cpu float64, rss int64, threads int) Side {
	return Side{TotalCPU: cpu, RunCPU: cpu, PeakRSSKB: rss, PeakThreads: threads, OfferedBytes: 1316, DeliveredBytes: 1316, P50: 20.4, P99: 21.5, Max: 30}
}

func runs() Runs {
	var out Runs
	for round, load := range []float64{1, 3, 1.1} { // the second round met a busy machine
		out = append(out,
			Run{Impl: Libsrt, Round: round, Recv: side(8*load, 33000, 36), Send: side(8*load, 33000, 66)},
			Run{Impl: Shared, Round: round, Recv: side(6*load, 32000, 36), Send: side(2*load, 31000, 4)},
			Run{Impl: Weirline, Round: round, Recv: side(1*load, 20000, 7), Send: side(1*load, 20000, 6)})
	}
	return out
}

func failed(cs []Check) (out []string) {
	for _, c := range cs {
		if !c.OK {
			out = append(out, c.What)
		}
	}
	return out
}

func TestRatioIsTakenWithinARound(t *testing.T) {
	if v := runs().Ratio(Weirline, Libsrt); v != 0.125 {
		t.Errorf("ratio %v, want 0.125", v)
	}
	if v := runs().Ratio(Weirline, Shared); v != 0.25 {
		t.Errorf("ratio %v, want 0.25", v)
	}
}

func TestVerdict(t *testing.T) {
	p, err := profile.Get("P2")
	if err != nil {
		t.Fatal(err)
	}
	if f := failed(Judge(runs(), p)); f != nil {
		t.Fatalf("good runs fail: %q", f)
	}
	for _, c := range []struct {
		name, want string
		spoil      func(*Run)
	}{
		{"loss", "everything delivered", func(r *Run) { r.Recv.DeliveredBytes-- }},
		{"corrupt", "everything delivered", func(r *Run) { r.Recv.Corrupt = 1 }},
		{"repeated", "everything delivered", func(r *Run) { r.Recv.Dup = 1 }},
		{"dear", "of libsrt,", func(r *Run) { r.Send.TotalCPU *= 10 }},
		{"threads", "threads 9", func(r *Run) { r.Send.PeakThreads = 9 }},
		{"fat", "peak RSS", func(r *Run) { r.Send.PeakRSSKB = 90000 }},
		{"late", "p99", func(r *Run) { r.Recv.P99 = 22.1 }},
		{"no result", "gave no result", func(r *Run) { r.Failed = "exit 2" }},
	} {
		rs := runs()
		for i := range rs {
			if rs[i].Impl == Weirline {
				c.spoil(&rs[i])
			}
		}
		if f := strings.Join(failed(Judge(rs, p)), "\n"); !strings.Contains(f, c.want) {
			t.Errorf("%s: complaints %q, want one with %q", c.name, f, c.want)
		}
	}
	if f := failed(Judge(nil, p)); len(f) == 0 {
		t.Error("no runs at all pass")
	}
}

func TestTableHasEveryImplementation(t *testing.T) {
	p, _ := profile.Get("P2")
	var b bytes.Buffer
	Table(&b, runs(), p, []string{Libsrt, Shared, Weirline})
	for _, want := range []string{"P2", "libsrt-shared", "weirline", "0.125", "100.00", "0.4 / 1.5 / 10.0"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestUnknownProfileNamesTheKnown(t *testing.T) {
	_, err := profile.Get("P9")
	if err == nil || !strings.Contains(err.Error(), "P1, P2, P3, P4, P6") {
		t.Errorf("error %v", err)
	}
}
