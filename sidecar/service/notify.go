package service

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Notices to systemd; without one they do nothing.

// Ready says that the daemon serves. An heir says which process is the main one
// from now on.
func Ready(status string) {
	notify(fmt.Sprintf("MAINPID=%d\n%s\nSTATUS=%s", os.Getpid(), daemon.SdNotifyReady, status))
}

// Reloading is said before a reload; Ready ends it.
func Reloading() { notify(daemon.SdNotifyReloading) }

// Stopping is said once, on the way down.
func Stopping() { notify(daemon.SdNotifyStopping) }

func notify(state string) {
	// systemd's absence is no error, and nobody could act on another.
	_, _ = daemon.SdNotify(false, state)
}

// Watchdog tells systemd that the daemon lives, as often as the unit's
// WatchdogSec asks, until ctx ends. alive is asked each time: it returns when
// the daemon's own locks and loops are well; while it does not, systemd is told
// nothing and restarts the service in the end.
func Watchdog(ctx context.Context, alive func()) {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil || every == 0 {
		return
	}
	t := time.NewTicker(every / 3)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			alive()
			notify(daemon.SdNotifyWatchdog)
		}
	}
}
