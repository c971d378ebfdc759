package bench

import "github.com/weirline/weirline/srtcore"

// runtime returns a Runtime of its own. Closing it before the process ends gets
// the last word to every peer.
func (o *Options) runtime() (*srtcore.Runtime, error) {
	return srtcore.NewRuntime(srtcore.RuntimeConfig{NoGSO: o.NoGSO, NoGRO: o.NoGRO, Portable: o.Portable})
}
