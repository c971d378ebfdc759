package api

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/served"
)

// scrape reads /metrics: each series, by its name and labels.
func scrape(t *testing.T, d *served.Daemon) map[string]*series {
	t.Helper()
	status, text := d.Do("GET", "/metrics", "")
	if status != 200 {
		t.Fatalf("metrics: %d %s", status, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*series{}
	for name, f := range families {
		for _, m := range f.Metric {
			s := &series{counter: f.GetType() == dto.MetricType_COUNTER, value: m.GetCounter().GetValue() + m.GetGauge().GetValue()}
			key := name
			for _, l := range m.Label {
				key += fmt.Sprintf(" %s=%q", l.GetName(), l.GetValue())
				if l.GetName() == "connection" && l.GetValue() != "other" {
					s.connection = l.GetValue()
				}
			}
			all[key] = s
		}
	}
	return all
}

type series struct {
	value      float64
	counter    bool
	connection string
}

// ledger holds every scrape to the ones before.
type ledger struct {
	t      *testing.T
	last   map[string]*series
	left   map[string]bool // connections that were there and are not
	most   int             // series of a scrape
	widest int             // connections of a scrape
}

func (l *ledger) take(now map[string]*series) {
	l.t.Helper()
	here := map[string]bool{}
	for key, s := range now {
		if s.connection != "" {
			here[s.connection] = true
		}
		if was := l.last[key]; was != nil && s.counter && s.value < was.value {
			l.t.Errorf("%s went down from %v to %v", key, was.value, s.value)
		}
	}
	for id := range here {
		if l.left[id] {
			l.t.Errorf("connection %s has series again", id)
		}
	}
	for key, s := range l.last {
		switch {
		case s.connection != "" && !here[s.connection]:
			l.left[s.connection] = true
		case s.connection == "" && now[key] == nil:
			l.t.Errorf("%s has vanished", key)
		}
	}
	l.last, l.most, l.widest = now, max(l.most, len(now)), max(l.widest, len(here))
}

// Crowds come and go.
const (
	crowds    = 6
	crowdSize = 50
)

// TestMetricsOfACrowd: hundreds of players come and go. Their series go with
// them, nothing that counts goes down, and what is left is what was there before.
func TestMetricsOfACrowd(t *testing.T) {
	t.Parallel()
	srt := port.Addr(t)
	d := served.Start(t, token, configuration(srt))
	publisher := served.Publish(t, srt, "#!::r=live/studio,m=publish", 's', 1)
	witness := served.Play(t, srt, "#!::r=live/studio,m=request,u=witness", 's')
	witness.WantMore("the witness")
	l := &ledger{t: t, left: map[string]bool{}}
	l.take(scrape(t, d))
	before := len(l.last)
	for range crowds {
		l.crowd(d, srt)
	}
	served.Until(t, "the series of all who left to be gone", func() bool {
		l.take(scrape(t, d))
		return len(l.last) == before
	})
	if l.widest < crowdSize {
		t.Errorf("at most %d connections had series at a time, want more than %d", l.widest, crowdSize)
	}
	for key, want := range map[string]float64{
		`weirline_listener_accepted_total listener="main"`:                 crowds*crowdSize + 2,
		`weirline_listener_connections listener="main"`:                    2,
		`weirline_output_sessions_opened_total output="o1" route="studio"`: crowds*crowdSize + 1,
		`weirline_route_source_sessions_opened_total route="studio"`:       1,
		`weirline_srt_connections direction="send"`:                        1,
		`weirline_srt_connections_without_series`:                          0,
	} {
		if s := l.last[key]; s == nil || s.value != want {
			t.Errorf("%s is %+v, want %v", key, s, want)
		}
	}
	publisher.WantMore("the publisher")
	witness.WantMore("the witness")
	t.Logf("%d series at most, %d before and after", l.most, before)
}

// crowd comes, is looked at, and leaves, while metrics are read.
func (l *ledger) crowd(d *served.Daemon, srt string) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), served.Patience)
	defer cancel()
	conns := make([]*srtcore.Conn, crowdSize)
	var coming sync.WaitGroup
	for i := range conns {
		coming.Go(func() {
			cfg := srtcore.DefaultConfig()
			cfg.StreamID, cfg.ConnTimeout = fmt.Sprintf("#!::r=live/studio,m=request,u=crowd%d", i), served.Patience
			c, err := srtcore.Dial(ctx, srt, &cfg)
			if err != nil {
				l.t.Error(err)
				return
			}
			conns[i] = c
		})
	}
	come := make(chan struct{})
	go func() {
		coming.Wait()
		close(come)
	}()
	l.watch(d, come)
	served.Until(l.t, "the crowd to have series", func() bool {
		l.take(scrape(l.t, d))
		s := l.last[`weirline_srt_connections direction="send"`]
		return s != nil && s.value >= crowdSize || l.t.Failed()
	})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for _, c := range conns {
			if c != nil {
				c.Close()
			}
		}
	}()
	l.watch(d, gone)
}

// watch reads the metrics until something has happened.
func (l *ledger) watch(d *served.Daemon, until <-chan struct{}) {
	l.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		l.take(scrape(l.t, d))
		select {
		case <-until:
			return
		case <-tick.C:
		}
	}
}
