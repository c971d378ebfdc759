package props

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
)

// ErrOpen refuses a new URI while the element is open.
var ErrOpen = errors.New("the URI cannot be changed while the element is open; set the element to READY first")

// Settings holds what one element was told. It may be used from any thread.
type Settings struct {
	side Side

	mu       sync.Mutex
	explicit map[string]value // properties that were set
	uri      parsedURI
	open     bool
}

// value is a property's value: text of a String, else num.
type value struct {
	text string
	null bool // no string, as opposed to an empty one
	num  int64
}

// NewSettings returns the defaults of one element, side being Source or Sink.
func NewSettings(side Side) *Settings {
	s := &Settings{side: side, explicit: map[string]value{}}
	s.uri, _ = parseURI(defaultURI, side)
	return s
}

// SetOpen tells whether the element is open, which refuses a new URI.
func (s *Settings) SetOpen(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = open
}

// property finds a property of this element and checks its kind.
func (s *Settings) property(name string, kinds ...Kind) (*Spec, error) {
	p := ByName(name)
	if p == nil || !p.Property || p.On&s.side == 0 {
		return nil, fmt.Errorf("there is no property %q here", name)
	}
	for _, k := range kinds {
		if p.Kind == k {
			return p, nil
		}
	}
	return nil, fmt.Errorf("property %q is of kind %v", name, p.Kind)
}

// SetString sets a string property, an enumeration by its nick, or the URI. A
// string that cannot be used is kept nevertheless, so that starting is refused
// instead of, say, going on without encryption; the error says so early.
func (s *Settings) SetString(name, text string) error {
	p, err := s.property(name, String, Enum)
	if err != nil {
		return err
	}
	if name == URI {
		_, err := s.SetURI(text)
		return err
	}
	if p.Kind == Enum {
		n, ok := p.Enum.Parse(text)
		if !ok {
			return fmt.Errorf("property %q has no value %q: give one of %s", name, text, p.Enum.nicks())
		}
		s.set(p, value{num: n})
		return nil
	}
	s.set(p, value{text: text})
	return p.check(text)
}

// SetNull takes a string property back to no string at all.
func (s *Settings) SetNull(name string) error {
	p, err := s.property(name, String)
	if err != nil {
		return err
	}
	if name == URI {
		return errors.New("property \"uri\" cannot be null: give srt://address:port")
	}
	s.set(p, value{null: true})
	return nil
}

// SetInt sets a number or an enumeration by its value. A latency that SRT cannot
// have is kept and refused at the start, as with SetString.
func (s *Settings) SetInt(name string, n int64) error {
	p, err := s.property(name, Int, Uint, Int64, Enum)
	if err != nil {
		return err
	}
	if p.Kind == Enum && p.Enum.Nick(n) == "" {
		return fmt.Errorf("property %q has no value %d: give one of %s", name, n, p.Enum.nicks())
	}
	if n < p.Min || n > p.Max {
		return fmt.Errorf("property %q = %d is out of range: allowed %d..%d", name, n, p.Min, p.Max)
	}
	s.set(p, value{num: n})
	return p.check(strconv.FormatInt(n, 10))
}

// SetBool sets a truth value.
func (s *Settings) SetBool(name string, on bool) error {
	p, err := s.property(name, Bool)
	if err != nil {
		return err
	}
	v := value{}
	if on {
		v.num = 1
	}
	s.set(p, v)
	return nil
}

func (s *Settings) set(p *Spec, v value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.explicit[p.Name] = v
}

// GetString returns a string property, or an enumeration's nick. Secrets are
// empty. Of a name that is none it is empty.
func (s *Settings) GetString(name string) string {
	text, _ := s.LookupString(name)
	return text
}

// LookupString is GetString that tells no string (false) from an empty one.
func (s *Settings) LookupString(name string) (text string, ok bool) {
	p, err := s.property(name, String, Enum)
	if err != nil || p.Secret {
		return "", false
	}
	if name == URI {
		return s.URI(), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.effective(p)
	if p.Kind == Enum {
		return p.Enum.Nick(v.num), true
	}
	return v.text, !v.null
}

// GetInt returns a number or an enumeration's value; 0 of a name that is none.
func (s *Settings) GetInt(name string) int64 {
	p, err := s.property(name, Int, Uint, Int64, Enum)
	if err != nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.effective(p).num
}

// GetBool returns a truth value; false of a name that is none.
func (s *Settings) GetBool(name string) bool {
	p, err := s.property(name, Bool)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.effective(p).num != 0
}

// effective is what counts: the property if it was set, else the URI, else the
// default. The lock is held.
func (s *Settings) effective(p *Spec) value {
	if v, ok := s.explicit[p.Name]; ok {
		return v
	}
	switch p.Name {
	case ConnectionMode:
		return value{num: s.uri.mode()}
	case LocalAddress, LocalPort:
		return s.local(p)
	}
	return s.uri.value(p)
}

// local is a local address or port: what a listener's URI has before the
// question mark is where it listens.
func (s *Settings) local(p *Spec) value {
	if v, ok := s.uri.values[p.Name]; ok {
		return v
	}
	mode := s.effective(ByName(ConnectionMode)).num
	if mode != ModeListener && mode != ModeRendezvous {
		return p.standard()
	}
	switch {
	case p.Name == LocalAddress && s.uri.host != "":
		return value{text: s.uri.host}
	case p.Name == LocalPort && s.uri.port != "":
		return value{num: s.uri.portNumber()}
	}
	return p.standard()
}

// standard is the default.
func (p *Spec) standard() value {
	return value{text: p.DefaultText, null: p.NullDefault, num: p.Default}
}
