package gst

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// elementTable is what py/table.py prints of an element.
type elementTable struct {
	Properties map[string]map[string]any
	Signals    map[string]string
	Element    map[string]any
}

// flatten writes the table as path -> value, below prefix.
func (e elementTable) flatten(prefix string) map[string]string {
	out := map[string]string{}
	put := func(path string, v any) {
		text, _ := json.Marshal(v)
		out[prefix+"/"+path] = strings.Trim(string(text), `"`)
	}
	for name, p := range e.Properties {
		for field, v := range p {
			if field != "doc" { // wording is each family's own
				put("property/"+name+"/"+field, v)
			}
		}
	}
	for name, s := range e.Signals {
		put("signal/"+name, s)
	}
	for name, v := range e.Element {
		put("element/"+name, v)
	}
	return out
}

func tables(t *testing.T, names ...string) map[string]elementTable {
	t.Helper()
	needPython(t)
	cmd := exec.Command(python(), append([]string{"py/table.py"}, names...)...)
	cmd.Env = lab.env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	var all map[string]elementTable
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// difference is a line of the committed list.
type difference struct {
	path, ours, why string
	used            bool
}

func differences(t *testing.T) (out []*difference) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "differences.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 3 {
			t.Fatalf("differences.txt: not three cells: %s", line)
		}
		out = append(out, &difference{path: cells[0], ours: cells[1], why: cells[2]})
	}
	return out
}

func allowed(list []*difference, path, ours string) bool {
	for _, d := range list {
		below, all := strings.CutSuffix(d.path, "*")
		if path == d.path && ours == d.ours || all && strings.HasPrefix(path, below) {
			d.used = true
			return true
		}
	}
	return false
}

// compare reports every difference that is not in the list.
func compare(t *testing.T, list []*difference, stock, ours map[string]string) {
	t.Helper()
	paths := map[string]bool{}
	for _, m := range []map[string]string{stock, ours} {
		for k := range m {
			paths[k] = true
		}
	}
	var sorted []string
	for k := range paths {
		sorted = append(sorted, k)
	}
	sort.Strings(sorted)
	for _, k := range sorted {
		s, hasStock := stock[k]
		o, hasOurs := ours[k]
		if s == o && hasStock == hasOurs || hasOurs && allowed(list, k, o) {
			continue
		}
		t.Errorf("%s: stock %q (%v), ours %q (%v)", k, s, hasStock, o, hasOurs)
	}
}

// wantUsed reports lines of the list below prefix that no longer apply.
func wantUsed(t *testing.T, list []*difference, prefixes ...string) {
	t.Helper()
	for _, d := range list {
		if !d.used && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(d.path, p) }) {
			t.Errorf("differences.txt: %s is no difference any more", d.path)
		}
	}
}

// TestTable compares both pairs property by property, signal by signal: names,
// types, values and nicks of enumerations, ranges, defaults, flags.
func TestTable(t *testing.T) {
	needGStreamer(t)
	all := tables(t, stock.src, stock.sink, ours.src, ours.sink)
	list := differences(t)
	compare(t, list, all[stock.src].flatten("src"), all[ours.src].flatten("src"))
	compare(t, list, all[stock.sink].flatten("sink"), all[ours.sink].flatten("sink"))
	wantUsed(t, list, "src/", "sink/")
	for _, name := range []string{ours.src, ours.sink} {
		for prop, p := range all[name].Properties {
			if doc, _ := p["doc"].(string); len(doc) < 10 {
				t.Errorf("%s %s: no description", name, prop)
			}
		}
	}
}

// TestInspect wants the tool that users have to show every property.
func TestInspect(t *testing.T) {
	needGStreamer(t)
	for _, name := range []string{ours.src, ours.sink} {
		cmd := exec.Command("gst-inspect-1.0", name)
		cmd.Env = lab.env
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"srtgo", "passphrase", "Write only", "caller-connecting", "GstSrtGoConnectionMode", "listener", "bytes-"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("gst-inspect-1.0 %s does not show %q", name, want)
			}
		}
	}
}

// connected runs a pair of one family until data flows and returns the
// statistics of the listening source and the calling sink, or of the calling
// source and the listening sink.
func connected(t *testing.T, f family, sinkListens bool) (src, sink *structure) {
	t.Helper()
	h := startHost(t)
	port := strconv.Itoa(port.Free(t))
	listen, call := "srt://127.0.0.1:"+port+"?mode=listener", "srt://127.0.0.1:"+port
	srcURI, sinkURI := listen, call
	if sinkListens {
		srcURI, sinkURI = call, listen
	}
	recv := f.fill("{src} name=srt uri=" + srcURI + " ! fakesink async=false sync=false")
	send := f.fill("fakesrc sync=true is-live=true format=time sizetype=fixed sizemax=1316 datarate=131600 ! {sink} name=srt uri=" + sinkURI)
	if sinkListens {
		h.play("send", send)
		h.play("recv", recv)
	} else {
		h.play("recv", recv)
		h.play("send", send)
	}
	proctest.Eventually(t, "no data: "+h.story(), func() bool { return h.stats("recv").num("bytes-received-total") > 20*1316 })
	return h.stats("recv"), h.stats("send")
}

func fieldTypes(prefix string, s structure) map[string]string {
	out := map[string]string{prefix + "(name)": s.Name}
	for _, ft := range s.Types {
		out[prefix+ft[0]] = ft[1]
	}
	return out
}

// TestStatsFields compares the statistics field by field in both shapes.
func TestStatsFields(t *testing.T) {
	needGStreamer(t)
	list := differences(t)
	for _, sinkListens := range []bool{false, true} {
		stockSrc, stockSink := connected(t, stock, sinkListens)
		oursSrc, oursSink := connected(t, ours, sinkListens)
		if sinkListens {
			stockSrc, stockSink, oursSrc, oursSink = stockSink, stockSrc, oursSink, oursSrc
		}
		// Now *Src is the listener of the pair, *Sink the caller.
		compareShapes(t, list, fmt.Sprintf("sink listens %v, listener", sinkListens), stockSrc, oursSrc)
		compareShapes(t, list, fmt.Sprintf("sink listens %v, caller", sinkListens), stockSink, oursSink)
	}
	wantUsed(t, list, "stats/")
}

func compareShapes(t *testing.T, list []*difference, what string, stock, ours *structure) {
	t.Helper()
	t.Run(what, func(t *testing.T) {
		compare(t, list, fieldTypes("stats/", *stock), fieldTypes("stats/", *ours))
		a, b := stock.callers(t), ours.callers(t)
		if len(a) != len(b) {
			t.Fatalf("stock has %d callers, ours %d", len(a), len(b))
		}
		for i := range a {
			compare(t, list, fieldTypes("stats/", a[i]), fieldTypes("stats/", b[i]))
			wantOrder(t, a[i], b[i])
		}
		wantOrder(t, *stock, *ours)
	})
}

// wantOrder wants the fields that both have in the same order.
func wantOrder(t *testing.T, stock, ours structure) {
	t.Helper()
	order := func(s, other structure) (names []string) {
		for _, ft := range s.Types {
			if slices.ContainsFunc(other.Types, func(o [2]string) bool { return o[0] == ft[0] }) {
				names = append(names, ft[0])
			}
		}
		return names
	}
	if a, b := order(stock, ours), order(ours, stock); !slices.Equal(a, b) {
		t.Errorf("order of fields: stock %v, ours %v", a, b)
	}
}
