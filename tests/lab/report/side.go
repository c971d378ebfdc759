package report

import (
	"encoding/json"

	"github.com/weirline/weirline/tests/lab/proc"
)

// ReadSide waits for a process, hands each line that it printed, with the
// system's own figures in the last, to keep, and reads them into s. What was seen
// from outside counts where it is more than what was said.
func ReadSide(p *proc.Process, s *Side, keep func(map[string]any) error) error {
	lines, err := p.Lines()
	for _, line := range lines {
		text, merr := json.Marshal(line)
		if merr != nil {
			return merr
		}
		if uerr := json.Unmarshal(text, s); uerr != nil {
			return uerr
		}
		if kerr := keep(line); kerr != nil {
			return kerr
		}
	}
	peak := p.Watch.Peak()
	s.PeakRSSKB, s.PeakThreads = max(s.PeakRSSKB, peak.HWMKB), max(s.PeakThreads, peak.Threads)
	return err
}
