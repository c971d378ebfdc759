package srtcore

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
)

// The public defaults are the engine's, but for the sender's payload size.
func TestEngineConfigDefaults(t *testing.T) {
	c := DefaultConfig()
	want := engine.DefaultConfig()
	want.PayloadSize = 1316
	if got := c.engineConfig(); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestEngineConfigDerived(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		got    func(engine.Config) int
		want   int
	}{
		{"receive buffer in packets", func(c *Config) { c.RcvBuf = 1_000_000 }, func(e engine.Config) int { return e.RcvBufPkts }, 679},
		{"receive buffer within fc", func(c *Config) { c.FC = 100 }, func(e engine.Config) int { return e.RcvBufPkts }, 100},
		{"least receive buffer", func(c *Config) { c.RcvBuf = 1 }, func(e engine.Config) int { return e.RcvBufPkts }, 32},
		{"send buffer and mss", func(c *Config) { c.SndBuf, c.MSS = 100_000, 1028 }, func(e engine.Config) int { return e.SndBufPkts }, 100},
		{"least send buffer", func(c *Config) { c.SndBuf = 1 }, func(e engine.Config) int { return e.SndBufPkts }, 32},
		{"payload default and mss", func(c *Config) { c.MSS = 1300 }, func(e engine.Config) int { return e.PayloadSize }, 1256},
		{"payload whatever fits", func(c *Config) { c.PayloadSize = 0 }, func(e engine.Config) int { return e.PayloadSize }, 1456},
		{"pre-announce default lowered", func(c *Config) { c.KMRefreshRate = 10 }, func(e engine.Config) int { return e.KMPreAnn }, 4},
		{"pre-announce by zero", func(c *Config) { c.KMPreAnnounce = 0 }, func(e engine.Config) int { return e.KMPreAnn }, 4096},
		{"refresh rate by zero", func(c *Config) { c.KMRefreshRate = 0 }, func(e engine.Config) int { return e.KMRefresh }, 1 << 24},
		{"latency rounded up", func(c *Config) { c.RcvLatency = 200 * time.Microsecond }, func(e engine.Config) int { return int(e.RcvLatency / time.Millisecond) }, 1},
	} {
		c := DefaultConfig()
		tt.change(&c)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := tt.got(c.engineConfig()); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}
