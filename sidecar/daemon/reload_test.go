package daemon

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirline/weirline/sidecar/config"
)

// Reloads that are asked for at once come one after the other, so that the
// configuration read last is the one that runs.
func TestReloadsAtOnce(t *testing.T) {
	var reading, last atomic.Int64
	d := New(Options{Config: &config.Config{}, Path: "some.yaml"})
	d.opt.Load = func(string) (*config.Config, error) {
		if reading.Add(1) != 1 {
			t.Error("the file is read twice at once")
		}
		for range 100 {
			runtime.Gosched()
		}
		reading.Add(-1)
		n := int(last.Add(1))
		return &config.Config{Log: config.Log{Level: []string{"debug", "info"}[n%2]}}, nil
	}
	if err := d.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Stop()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if err := d.Reload(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got, want := d.cfg.Log.Level, []string{"debug", "info"}[last.Load()%2]; got != want {
		t.Errorf("runs the configuration with level %s, read last was %s", got, want)
	}
}
