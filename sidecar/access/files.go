package access

import "os"

// Files are duplicates of the listening sockets, for the process that takes
// over; none before Listen.
func (p *Port) Files() ([]*os.File, error) {
	p.mu.Lock()
	ln := p.ln
	p.mu.Unlock()
	if ln == nil {
		return nil, nil
	}
	return ln.Files()
}

// Retire leaves callers to come to the process that takes over.
func (p *Port) Retire() {
	p.mu.Lock()
	ln := p.ln
	p.mu.Unlock()
	if ln != nil {
		ln.Retire()
	}
}
