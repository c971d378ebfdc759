package daemon

import "time"

// repair tries again, less and less often, what could not be opened: listeners of
// the configuration, and outputs of the API. It ends when nothing is left, or the
// daemon stops. Routes try for themselves.
func (d *Daemon) repair() {
	delay := d.opt.Restart / 16
	t := time.NewTimer(delay)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-d.ctx.Done():
			return
		}
		if d.mend() {
			return
		}
		delay = min(2*delay, d.opt.Restart)
		t.Reset(delay)
	}
}

// repairSoon starts repair if it does not run.
func (d *Daemon) repairSoon() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.repairing || d.closed {
		return
	}
	d.repairing = true
	go d.repair()
}

// mend tries once; true: nothing is left, and repair has to be started again.
func (d *Daemon) mend() bool {
	d.change.Lock()
	defer d.change.Unlock()
	if d.isClosed() {
		return true
	}
	left := d.reopen()
	for _, r := range d.list() {
		left += r.restore()
	}
	if left > 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.repairing = false
	return true
}
