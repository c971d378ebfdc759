package control

import (
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// newRegistry makes what /metrics shows. docs/metrics.md lists it, and a test
// holds the two together.
func newRegistry(o Options, b *bound) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{daemon: o.Daemon, health: o.Health, bound: b},
	)
	return r
}

func (s *Server) metricsHandler() http.HandlerFunc {
	return promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
		Timeout:             20 * time.Second,
	}).ServeHTTP
}

// metric is a row of a table: what it is called and what it counts.
type metric[T any] struct {
	name, help string
	kind       prometheus.ValueType
	value      func(T) float64
}

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

// collector reads the daemon at each scrape.
type collector struct {
	daemon Daemon
	health func(any) (TSHealth, bool)
	bound  *bound
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe says nothing: the series come and go (an "unchecked" collector).
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	routes := routesOf(c.daemon)
	c.process(out, len(routes))
	c.routes(out, routes)
	c.listeners(out)
	c.connections(out, connections(routes))
}

var (
	buildInfo     = desc("weirline_build_info", "Always 1; the labels say what is running.", "version", "goversion")
	configGood    = desc("weirline_config_last_reload_successful", "1 unless the last reload of the configuration failed.")
	configLoaded  = desc("weirline_config_last_reload_success_timestamp_seconds", "When the running configuration was read; absent without a file.")
	routesNow     = desc("weirline_routes", "Routes there are, dynamic ones included.")
	listenerConns = desc("weirline_listener_connections", "Connections of the listener.", "listener")
	listenerTook  = desc("weirline_listener_accepted_total", "Callers accepted.", "listener")
	listenerNot   = desc("weirline_listener_refused_total", "Callers refused, by reason.", "listener", "reason")
)

func send(out chan<- prometheus.Metric, d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
	m, err := prometheus.NewConstMetric(d, kind, v, valid(labels)...)
	if err == nil {
		out <- m
	}
}

func (c *collector) process(out chan<- prometheus.Metric, routes int) {
	s := c.daemon.Status()
	send(out, buildInfo, gauge, 1, strings.TrimPrefix(s.Version, "weirline "), runtime.Version())
	send(out, configGood, gauge, truth(s.ConfigError == ""))
	if !s.Loaded.IsZero() {
		send(out, configLoaded, gauge, float64(s.Loaded.UnixMilli())/1000)
	}
	send(out, routesNow, gauge, float64(routes))
}

func (c *collector) listeners(out chan<- prometheus.Metric) {
	for _, l := range c.daemon.Listeners() {
		send(out, listenerConns, gauge, float64(l.Connections), l.Name)
		send(out, listenerTook, counter, float64(l.Accepted), l.Name)
		for reason, n := range l.Refused {
			send(out, listenerNot, counter, float64(n), l.Name, reason)
		}
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
