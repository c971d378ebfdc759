package control

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirline/weirline/sidecar/route"
)

// TSHealth is what the metrics show of a transport stream.
type TSHealth struct {
	BytesPerSecond   float64
	PCRJitterSeconds float64
	ContinuityErrors uint64
	SyncLosses       uint64
	TransportErrors  uint64 // packets with the error indicator set
}

// maxRoutes bounds the routes with series of their own. Dynamic routes come
// from requests, and each may have a name of its own.
const maxRoutes = 1000

var states = []route.State{route.Idle, route.Connecting, route.Waiting, route.Up, route.BackOff, route.Failed, route.Done}

var (
	sourceState = desc("weirline_route_source_state", "1 for the state the source is in, 0 for the others.", "route", "state")
	outputState = desc("weirline_output_state", "1 for the state the output is in, 0 for the others.", "route", "output", "state")
	routesLeft  = desc("weirline_routes_without_series", "Routes beyond the first 1000, which have no series of their own.")
)

var routeMetrics = []metric[route.Snapshot]{
	{"weirline_route_uptime_seconds", "Time since the route began.", gauge, func(r route.Snapshot) float64 { return r.Uptime }},
	{"weirline_route_media_messages_total", "Messages of the source.", counter, func(r route.Snapshot) float64 { return float64(r.Media.Messages) }},
	{"weirline_route_media_bytes_total", "Payload bytes of the source; its rate is the bit rate.", counter, func(r route.Snapshot) float64 { return float64(r.Media.Bytes) }},
	{"weirline_route_unheard_messages_total", "Messages that came while no output read.", counter, func(r route.Snapshot) float64 { return float64(r.Media.Unheard) }},
	{"weirline_route_source_sessions_opened_total", "Connections of the sources, ever.", counter, func(r route.Snapshot) float64 {
		return ofSources(r, func(e route.EndSnapshot) int { return e.Opened })
	}},
	{"weirline_route_source_failures_total", "Attempts of the sources that failed.", counter, func(r route.Snapshot) float64 {
		return ofSources(r, func(e route.EndSnapshot) int { return e.Failures })
	}},
	{"weirline_route_connections", "Connections of the route, local ones included.", gauge, func(r route.Snapshot) float64 { return float64(len(connections([]route.Snapshot{r}))) }},
}

var tsMetrics = []metric[TSHealth]{
	{"weirline_route_ts_bytes_per_second", "Rate of the transport stream.", gauge, func(h TSHealth) float64 { return h.BytesPerSecond }},
	{"weirline_route_ts_pcr_jitter_seconds", "Jitter of the program clock reference.", gauge, func(h TSHealth) float64 { return h.PCRJitterSeconds }},
	{"weirline_route_ts_continuity_errors_total", "Packets whose continuity counter does not follow.", counter, func(h TSHealth) float64 { return float64(h.ContinuityErrors) }},
	{"weirline_route_ts_sync_losses_total", "Times the sync byte was not where it should be.", counter, func(h TSHealth) float64 { return float64(h.SyncLosses) }},
	{"weirline_route_ts_transport_errors_total", "Packets with the transport error indicator.", counter, func(h TSHealth) float64 { return float64(h.TransportErrors) }},
}

var outputMetrics = []metric[route.EndSnapshot]{
	{"weirline_output_messages_total", "Messages taken from the queues of the output.", counter, func(e route.EndSnapshot) float64 { return float64(e.Queue.Read) }},
	{"weirline_output_dropped_messages_total", "Messages its queues dropped because it was slow or not connected.", counter, func(e route.EndSnapshot) float64 { return float64(e.Queue.Dropped) }},
	{"weirline_output_dropped_bytes_total", "Bytes of these.", counter, func(e route.EndSnapshot) float64 { return float64(e.Queue.DroppedBytes) }},
	{"weirline_output_queue_messages", "Messages that wait.", gauge, func(e route.EndSnapshot) float64 { return float64(e.Queue.Queued) }},
	{"weirline_output_queue_bytes", "Bytes that wait.", gauge, func(e route.EndSnapshot) float64 { return float64(e.Queue.QueuedBytes) }},
	{"weirline_output_sessions_opened_total", "Connections of the output, ever.", counter, func(e route.EndSnapshot) float64 { return float64(e.Opened) }},
	{"weirline_output_failures_total", "Attempts that failed.", counter, func(e route.EndSnapshot) float64 { return float64(e.Failures) }},
	{"weirline_output_connections", "Connections of the output.", gauge, func(e route.EndSnapshot) float64 { return float64(len(e.Sessions)) }},
}

var (
	routeDescs  = descs(routeMetrics, "route")
	tsDescs     = descs(tsMetrics, "route")
	outputDescs = descs(outputMetrics, "route", "output")
)

// ofSources sums over all sources: which of them is in use changes.
func ofSources(r route.Snapshot, value func(route.EndSnapshot) int) float64 {
	sum := value(r.Source)
	for _, e := range r.Spares {
		sum += value(e)
	}
	return float64(sum)
}

func descs[T any](table []metric[T], labels ...string) []*prometheus.Desc {
	out := make([]*prometheus.Desc, len(table))
	for i, m := range table {
		out[i] = desc(m.name, m.help, labels...)
	}
	return out
}

// sendAll sends a table's metrics of v.
func sendAll[T any](out chan<- prometheus.Metric, table []metric[T], d []*prometheus.Desc, v T, labels ...string) {
	for i, m := range table {
		send(out, d[i], m.kind, m.value(v), labels...)
	}
}

func (c *collector) routes(out chan<- prometheus.Metric, routes []route.Snapshot) {
	send(out, routesLeft, gauge, float64(max(0, len(routes)-maxRoutes)))
	ends := 0 // outputs are bounded, too: a route may have any number
	seen := map[string]bool{}
	for _, r := range routes[:min(len(routes), maxRoutes)] {
		if seen[r.Name] {
			continue // two series of one name would spoil the whole scrape
		}
		seen[r.Name] = true
		sendAll(out, routeMetrics, routeDescs, r, r.Name)
		for _, s := range states {
			send(out, sourceState, gauge, truth(r.Source.State == s), r.Name, string(s))
		}
		if c.health != nil && r.Health != nil {
			if h, ok := c.health(r.Health); ok {
				sendAll(out, tsMetrics, tsDescs, h, r.Name)
			}
		}
		for _, o := range r.Outputs {
			if ends++; ends > maxRoutes {
				break
			}
			sendAll(out, outputMetrics, outputDescs, o, r.Name, o.ID)
			for _, s := range states {
				send(out, outputState, gauge, truth(o.State == s), r.Name, o.ID, string(s))
			}
		}
	}
}

// valid makes label values of texts from the network: at most 200 bytes of UTF-8.
func valid(labels []string) []string {
	const most = 200
	for i, l := range labels {
		if len(l) > most {
			l = l[:most]
		}
		labels[i] = strings.ToValidUTF8(l, "?")
	}
	return labels
}
