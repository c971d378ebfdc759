package bench

import "github.com/weirline/weirline/srtcore"

// runtime returns a Runtime of its own for options that ask for one, nil for
// the default. It lives as long as the process.
func (o *Options) runtime() (*srtcore.Runtime, error) {
	if !o.NoGSO && !o.NoGRO && !o.Portable {
		return nil, nil
	}
	return srtcore.NewRuntime(srtcore.RuntimeConfig{NoGSO: o.NoGSO, NoGRO: o.NoGRO, Portable: o.Portable})
}
