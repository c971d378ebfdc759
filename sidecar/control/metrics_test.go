package control_test

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/api/fake"
)

var update = flag.Bool("update", false, "write the list of docs/metrics.md")

const metricsDoc = "../../docs/metrics.md"

func scrape(t *testing.T, url string) (string, map[string]*dto.MetricFamily) {
	t.Helper()
	status, text, _ := ask(t, http.DefaultClient, "GET", url+"/metrics", "", withToken)
	if status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return text, families
}

func TestMetricsAreAsTheirNamesSay(t *testing.T) {
	srv := startServer(t, options(fake.New(2)))
	text, families := scrape(t, srv.URL)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, want := range []string{"go_goroutines", "process_resident_memory_bytes", "weirline_build_info"} {
		if families[want] == nil {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(text, fake.Secret) || strings.Contains(text, token) {
		t.Error("a secret is shown")
	}
}

// TestMetricsDoc holds the list of docs/metrics.md to what is scraped.
func TestMetricsDoc(t *testing.T) {
	_, families := scrape(t, startServer(t, options(fake.New(2))).URL)
	var b strings.Builder
	b.WriteString("\n| name | type | labels | meaning |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if !strings.HasPrefix(name, "weirline_") {
			continue
		}
		f := families[name]
		labels := map[string]bool{}
		for _, m := range f.Metric {
			for _, l := range m.Label {
				labels[l.GetName()] = true
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, strings.ToLower(f.GetType().String()),
			strings.Join(slices.Sorted(maps.Keys(labels)), ", "), f.GetHelp())
	}
	text, err := os.ReadFile(metricsDoc)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "-update) -->\n")
	_, tail, ok := strings.Cut(rest, "<!-- list: end -->")
	if !ok {
		t.Fatal("docs/metrics.md has no list")
	}
	want := head + "-update) -->\n" + b.String() + "\n<!-- list: end -->" + tail
	if *update {
		if err := os.WriteFile(metricsDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Error("docs/metrics.md does not list what is scraped: run go test ./sidecar/control -run MetricsDoc -update")
	}
}

// TestEveryCounterIsAMetric sets the fields of Stats to values of their own and
// looks for each of them.
func TestEveryCounterIsAMetric(t *testing.T) {
	var st srtcore.Stats
	v := reflect.ValueOf(&st).Elem()
	want := map[string]float64{}
	twins := map[string]bool{}
	for f := range v.Type().Fields() {
		twins[strings.TrimSuffix(f.Name, "Total")] = strings.HasSuffix(f.Name, "Total") || twins[f.Name]
	}
	n := int64(1000)
	for f := range v.Type().Fields() {
		n += 1000
		switch f.Type.Kind() {
		case reflect.Int64, reflect.Int:
			v.FieldByIndex(f.Index).SetInt(n)
		case reflect.Float64:
			v.FieldByIndex(f.Index).SetFloat(float64(n))
		case reflect.String:
			v.FieldByIndex(f.Index).SetString("word-" + f.Name)
			continue
		}
		interval := twins[f.Name] && !strings.HasSuffix(f.Name, "Total") || f.Name == "MbpsSendRate" || f.Name == "MbpsRecvRate" || f.Name == "UsSndDuration"
		if !interval {
			want[f.Name] = float64(n)
		}
	}
	d := &settled{fake.New(0), &st}
	text, families := scrape(t, startServer(t, options(d)).URL)
	seen := map[float64]bool{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "weirline_srt_") {
			continue
		}
		for _, m := range f.Metric {
			v := m.GetCounter().GetValue() + m.GetGauge().GetValue()
			for _, scale := range []float64{1, 1e3, 1e6, 8 / 1e6} { // back to the unit of the field
				seen[float64(int64(v*scale+0.5))] = true
			}
		}
	}
	for name, v := range want {
		if !seen[v] {
			t.Errorf("%s is in no metric", name)
		}
	}
	for _, name := range []string{"SndKMState", "RcvKMState", "PeerVersion"} {
		if !strings.Contains(text, `"word-`+name+`"`) {
			t.Errorf("%s is in no label", name)
		}
	}
}

// settled has one connection, with these counters.
type settled struct {
	*fake.Daemon
	st *srtcore.Stats
}

func (s *settled) Routes() []route.Snapshot {
	r := fake.Route("one", "srt://:1")
	r.Source.Sessions = []route.SessionSnapshot{{ID: "c", SRT: s.st}}
	return []route.Snapshot{r}
}

// crowd has connections that come and go.
type crowd struct {
	*fake.Daemon
	ids []int
	n   map[int]int64
}

func (c *crowd) Routes() []route.Snapshot {
	r := fake.Route("many", "srt://:1")
	e := fake.End("o1", "srt://:2", route.Up)
	for _, id := range c.ids {
		e.Sessions = append(e.Sessions, route.SessionSnapshot{ID: fmt.Sprint("c", id), Peer: "h:1", SRT: &srtcore.Stats{PktSentTotal: c.n[id]}})
	}
	r.Outputs = []route.EndSnapshot{e}
	return []route.Snapshot{r}
}

// TestCardinality: never more than so many connections have series, the others are
// summed, no counter goes down when anybody leaves, and who has left vanishes.
func TestCardinality(t *testing.T) {
	c := &crowd{fake.New(0), nil, map[int]int64{}}
	for id := range 130 {
		c.ids = append(c.ids, id)
		c.n[id] = int64(id + 1)
	}
	s := newServer(t, options(c))
	control.LimitSeries(s, 100)
	url := startServerOf(t, s).URL
	last := map[string]float64{}
	check := func(wantOwn int, wantOther float64) {
		t.Helper()
		_, families := scrape(t, url)
		now := map[string]float64{}
		for _, m := range families["weirline_srt_packets_sent_total"].Metric {
			for _, l := range m.Label {
				if l.GetName() == "connection" {
					now[l.GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
		for id, v := range now {
			if v < last[id] {
				t.Errorf("%s went down from %v to %v", id, last[id], v)
			}
		}
		if now["other"] != wantOther {
			t.Errorf("others %v, want %v", now["other"], wantOther)
		}
		delete(now, "other")
		if len(now) != wantOwn {
			t.Errorf("%d connections have series, want %d", len(now), wantOwn)
		}
		last = now
		last["other"] = wantOther
	}
	sum := func(from, to int) (s float64) {
		for id := from; id < to; id++ {
			s += float64(c.n[id])
		}
		return s
	}
	check(100, sum(100, 130))
	c.ids = c.ids[10:125] // 10 with series leave, and 5 of the others
	check(90, sum(100, 130))
	c.ids = append(c.ids, 200, 201)
	c.n[200], c.n[201] = 7, 8
	c.n[100] += 5 // one of the others goes on
	check(92, sum(100, 130))
	c.ids = nil
	check(0, sum(100, 130))
	if control.MaxSeries != 1000 {
		t.Errorf("docs/metrics.md says 1000, the bound is %d", control.MaxSeries)
	}
}
