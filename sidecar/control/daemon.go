package control

import (
	"errors"
	"log/slog"
	"time"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/srtcore"
)

// Daemon is what the API, the metrics and the page see of the daemon, and all
// they can do to it. Every method may be called from any goroutine and returns
// soon.
type Daemon interface {
	Status() Status
	// Routes are in the order of the configuration, then the dynamic ones.
	Routes() []route.Snapshot
	Listeners() []ListenerSnapshot
	// AddRoute starts a route that lasts until it is removed or the daemon ends;
	// a reload of the file leaves it alone.
	AddRoute(config.Route) error
	RemoveRoute(name string) error
	// AddOutput returns the new output's id, an EndSnapshot's.
	AddOutput(route string, o config.Output) (id string, err error)
	RemoveOutput(route, id string) error
	// Kick ends the connection with this id, a SessionSnapshot's.
	Kick(id string) error
	// Connection is the SRT connection with this id.
	Connection(id string) (*srtcore.Conn, error)
	// Reload reads the configuration file again.
	Reload() error
	LogLevel() slog.Level
	SetLogLevel(slog.Level)
	// Events returns what happened after the event with number since, oldest
	// first, as far as it is kept, and a channel that is closed at the next one.
	Events(since uint64) ([]Event, <-chan struct{})
}

// What an operation may fail with, besides a text of its own.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("exists already") // name or address in use
	ErrInvalid  = errors.New("not valid")
)

// Status is the daemon itself.
type Status struct {
	Version     string    `json:"version"`
	Started     time.Time `json:"started"`
	PID         int       `json:"pid"`
	ConfigFile  string    `json:"configFile,omitempty"`
	Loaded      time.Time `json:"configLoaded,omitzero"`
	ConfigError string    `json:"configError,omitempty"` // of the last reload; the old one is running then
	Goroutines  int       `json:"goroutines"`
	Threads     int       `json:"threads"`
	HeapBytes   uint64    `json:"heapBytes"`
}

// ListenerSnapshot is an SRT port that routes share.
type ListenerSnapshot struct {
	Name        string            `json:"name"`
	Address     string            `json:"address"`
	Connections int               `json:"connections"`
	Accepted    uint64            `json:"accepted"`
	Refused     map[string]uint64 `json:"refused"`         // by reason: passphrase, limit, address, user, stream, busy, hook, ...
	Error       string            `json:"error,omitempty"` // it is not open, and tried again
}

// Event is something an operator wants to know of.
type Event struct {
	Number uint64    `json:"number"`
	Time   time.Time `json:"time"`
	Level  string    `json:"level"` // info, warn, error
	Route  string    `json:"route,omitempty"`
	// Kind is a word: source-up, source-down, output-up, output-down, player-joined,
	// player-left, refused, failover, config, kicked, slow, ...
	Kind string `json:"kind"`
	Text string `json:"text"`
}
