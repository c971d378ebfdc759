package props

// Kind is the type of a property, named after its GObject type.
type Kind int

// The kinds. An Enum is an int with names.
const (
	String Kind = iota
	Int
	Uint
	Int64
	Bool
	Enum
)

func (k Kind) String() string {
	return [...]string{"string", "int", "uint", "int64", "bool", "enum"}[k]
}

// Side is which element has a property.
type Side int

// Sides may be or-ed: Both is Source|Sink.
const (
	Source Side = 1 << iota
	Sink
	Both = Source | Sink
)

// EnumValue is one value of an enumeration: Name in the manner of C, Nick as
// users write it.
type EnumValue struct {
	Value int
	Name  string
	Nick  string
}

// EnumType is an enumeration. A value may have several nicks; the last one is
// the one read back, as GObject does it.
type EnumType struct {
	TypeName string
	Values   []EnumValue
}

// Spec is one row of the table.
type Spec struct {
	// Name is the GObject property, or the URI key of an option that is no
	// property.
	Name string
	// Keys are the URI keys that set it; none: it is not settable by URI.
	Keys []string
	// Property says that it is a GObject property. Properties come first in the
	// table.
	Property bool
	Kind     Kind
	Enum     *EnumType // of kind Enum
	// DefaultText is the default of a String; NullDefault tells no string from
	// an empty one.
	DefaultText string
	NullDefault bool
	// Default, Min and Max are for the other kinds; of a Bool 0 or 1.
	Default, Min, Max int64
	// Secret: write-only, and hidden wherever a URI is printed.
	Secret             bool
	Readable, Writable bool
	// MutableReady: changeable in NULL or READY only (GST_PARAM_MUTABLE_READY).
	MutableReady bool
	// MutablePlaying: takes effect at any time (GST_PARAM_MUTABLE_PLAYING). The
	// stock elements set neither flag on such properties, and so does this table
	// on those it shares with them.
	MutablePlaying bool
	On             Side
	// Doc is one line: meaning, unit, range.
	Doc string
}

// Nick returns the text of an enumeration's value, empty if there is none.
func (e *EnumType) Nick(value int64) string {
	nick := ""
	for _, v := range e.Values {
		if int64(v.Value) == value {
			nick = v.Nick
		}
	}
	return nick
}

// Parse finds a value by nick or name.
func (e *EnumType) Parse(text string) (int64, bool) {
	for _, v := range e.Values {
		if v.Nick == text || v.Name == text {
			return int64(v.Value), true
		}
	}
	return 0, false
}

// nicks lists what may be written, for errors.
func (e *EnumType) nicks() string {
	s := ""
	for i, v := range e.Values {
		if i > 0 {
			s += ", "
		}
		s += v.Nick
	}
	return s
}

// ByName finds a row, nil if there is none.
func ByName(name string) *Spec { return byName[name] }

// ByKey finds the row a URI key sets, nil if there is none.
func ByKey(key string) *Spec {
	for i := range table {
		for _, k := range table[i].Keys {
			if k == key {
				return &table[i]
			}
		}
	}
	return nil
}

// Table returns every row in a stable order: the properties first, then the
// options that only a URI sets. A property's index plus one is its GObject
// property id. The rows must not be changed.
func Table() []Spec { return table }
