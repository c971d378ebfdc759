package route

import "os"

// filer is an end whose listening sockets can be handed to another process.
type filer interface{ Files() ([]*os.File, error) }

// Files are duplicates of the listening sockets of all ends that can be handed
// on. With an error there are none.
func (r *Route) Files() (all []*os.File, err error) {
	ends := append([]*end{}, r.sources...)
	for _, o := range r.fan.list() {
		ends = append(ends, o.end)
	}
	for _, e := range ends {
		f, ok := e.face.(filer)
		if !ok {
			continue
		}
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
