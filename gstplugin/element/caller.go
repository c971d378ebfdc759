package element

import (
	"errors"
	"time"

	"github.com/weirline/weirline/gstplugin/props"
	"github.com/weirline/weirline/srtcore"
)

// Between two attempts to connect a caller waits the first time pauseMin, then
// twice as long each time up to pauseMax. An attempt that nobody answers takes
// its time itself and is followed by the next after pauseMin: a listener that
// appears is then found at once.
const (
	pauseMin = 100 * time.Millisecond
	pauseMax = 3 * time.Second
)

// keepCalling connects, and again when the connection has ended, until that
// cannot help or is not wanted.
func (r *run) keepCalling() {
	pause := pauseMin
	connected := false
	for {
		err := r.connect(&connected)
		if r.stopping() {
			return
		}
		v := r.judge(err, connected)
		if v.final || !r.settings.GetBool(props.AutoReconnect) {
			r.fail(v.report)
			return
		}
		v.report.Text += ". Trying to reconnect"
		r.warn(v.report)
		if connected || errors.Is(err, srtcore.ErrConnTimeout) {
			pause = pauseMin
		}
		if !r.sleep(pause) {
			return
		}
		pause = min(2*pause, pauseMax)
		connected = false
	}
}

// connect is one connection from beginning to end. The properties that may change
// meanwhile count anew.
func (r *run) connect(connected *bool) error {
	cfg, err := r.settings.Snapshot()
	if err != nil {
		return err
	}
	c, err := srtcore.Dial(r.ctx, cfg.Addr, &cfg.SRT)
	if err != nil {
		return err
	}
	p := r.add(c)
	if p == nil {
		return srtcore.ErrClosed
	}
	*connected = true
	err = r.untilEnd(p)
	r.remove(p)
	return err
}
