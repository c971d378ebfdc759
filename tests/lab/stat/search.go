package stat

// Step is one load that was tried.
type Step struct {
	Load    int    `json:"load"`
	Healthy bool   `json:"healthy"`
	Why     string `json:"why,omitempty"` // not healthy because
}

// Search finds the largest healthy load: it doubles from Start until a load
// fails or Cap is reached, then halves the gap until it is within Tolerance of
// the load.
type Search struct {
	Start, Cap int
	Tolerance  float64 // as 0.05
	// Try says why a load is not healthy, or nothing. An error ends the search.
	Try func(load int) (why string, err error)
}

// Run returns the largest healthy load, 0 if none was, and every step.
func (s Search) Run() (best int, steps []Step, err error) {
	try := func(load int) (bool, error) {
		why, err := s.Try(load)
		if err != nil {
			return false, err
		}
		steps = append(steps, Step{Load: load, Healthy: why == "", Why: why})
		return why == "", nil
	}
	load, bad := s.Start, 0
	for bad == 0 && load <= s.Cap {
		ok, err := try(load)
		if err != nil {
			return best, steps, err
		}
		if !ok {
			bad = load
			break
		}
		best = load
		if load == s.Cap {
			return best, steps, nil
		}
		load = min(load*2, s.Cap)
	}
	for bad-best > 1 && float64(bad-best) > s.Tolerance*float64(bad) {
		mid := best + (bad-best)/2
		ok, err := try(mid)
		if err != nil {
			return best, steps, err
		}
		if ok {
			best = mid
		} else {
			bad = mid
		}
	}
	return best, steps, nil
}
