package route

import "os"

// filer is an end whose listening sockets can be handed to another process.
type filer interface {
	Files() ([]*os.File, error)
	Retire()
}

func (r *Route) filers() (all []filer) {
	if r.closed.Load() {
		return nil
	}
	ends := append([]*end{}, r.sources...)
	for _, o := range r.fan.list() {
		ends = append(ends, o.end)
	}
	for _, e := range ends {
		if f, ok := e.face.(filer); ok {
			all = append(all, f)
		}
	}
	return all
}

// Files are duplicates of the listening sockets of all ends that can be handed
// on. With an error there are none.
func (r *Route) Files() (all []*os.File, err error) {
	for _, f := range r.filers() {
		files, err := f.Files()
		if err != nil {
			for _, f := range all {
				f.Close()
			}
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}

// Retire leaves callers to come to the process that takes over.
func (r *Route) Retire() {
	for _, f := range r.filers() {
		f.Retire()
	}
}
