package config

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The keys of every part of the file: the one table that reading, the messages
// and docs/config.md are made of.

var topKeys = []key[Config]{
	{row{"listen", kindText, listenAllowed, "127.0.0.1:9710", "listen: 127.0.0.1:9710",
		"Address of the HTTP face, where a request becomes an SRT connection. It asks nobody for a password."},
		text(func(c *Config) *string { return &c.Listen })},
	{row{"control", kindGroup, "", "", "", "The control API, the metrics and the page."},
		func(d *decoder, at string, n *yaml.Node, c *Config) { decodeMap(d, at, n, controlKeys, &c.Control) }},
	{row{"log", kindGroup, "", "", "", "What is logged, and how."},
		func(d *decoder, at string, n *yaml.Node, c *Config) { decodeMap(d, at, n, logKeys, &c.Log) }},
	{row{"listeners", kindListOf, "", "none", "", "SRT ports that routes share; callers name a stream by stream id."},
		func(d *decoder, at string, n *yaml.Node, c *Config) { c.Listeners = decodeList(d, at, n, listenerItem) }},
	{row{"routes", kindListOf, "", "none", "", "Each has one source, or several of which one is used, and any number of outputs."},
		func(d *decoder, at string, n *yaml.Node, c *Config) { c.Routes = decodeList(d, at, n, routeItem) }},
}

var controlKeys = []key[Control]{
	{row{"listen", kindText, listenAllowed, "127.0.0.1:9711", "listen: unix:/run/weirline/control.sock",
		"Address of the API. Beyond loopback and unix sockets it demands a token."},
		text(func(c *Control) *string { return &c.Listen })},
	{row{"token", kindSecret, tokenLength.String() + " without spaces", "none", "token-file: /etc/weirline/token",
		"Secret that every request has to bring."},
		secret(func(c *Control) *Secret { return &c.Token })},
	{row{"origins", kindList, originAllowed, "none", `origins: ["https://ops.example.net"]`,
		"Web pages, besides the daemon's own, that may use the API."},
		texts(func(c *Control) *[]string { return &c.Origins })},
}

var logKeys = []key[Log]{
	{row{"level", kindText, strings.Join(logLevels, ", "), "info", "level: warn", "The least important lines that are written."},
		text(func(l *Log) *string { return &l.Level })},
	{row{"format", kindText, strings.Join(logFormats, ", "), "text", "format: json", "How a line is written."},
		text(func(l *Log) *string { return &l.Format })},
}

var listenerKeys = []key[Listener]{
	{row{"name", kindText, nameAllowed, "required", "name: main", "What routes call it; unique."},
		text(func(l *Listener) *string { return &l.Name })},
	{row{"address", kindText, "[host]:port, or srt://[host]:port?options", "required", "address: srt://:9000?latency=200",
		"Where it listens, with the SRT options of options.md. Changing it ends the listener's connections."},
		text(func(l *Listener) *string { return &l.Address })},
	{row{"passphrase", kindSecret, passLength.String(), "none", "passphrase-file: secrets/srt",
		"For callers whose user and whose stream have none; it takes the place of one in the address."},
		secret(func(l *Listener) *Secret { return &l.Passphrase })},
	{row{"max-connections", kindNumber, connections.String(), "0", "max-connections: 500", "Connections at a time; 0: no limit."},
		number(func(l *Listener) *int { return &l.MaxConnections }, false)},
	{row{"max-per-address", kindNumber, connections.String(), "0", "max-per-address: 20", "Connections at a time from one IP address; 0: no limit."},
		number(func(l *Listener) *int { return &l.MaxPerAddress }, false)},
	{row{"allow", kindList, prefixAllowed, "all", `allow: ["10.0.0.0/8", "2001:db8::/32"]`, "Whose calls are taken. An empty list takes everybody's."},
		texts(func(l *Listener) *[]string { return &l.Allow })},
	{row{"deny", kindList, prefixAllowed, "none", `deny: ["10.66.0.0/16"]`, "Whose calls are refused; it wins over allow."},
		texts(func(l *Listener) *[]string { return &l.Deny })},
	{row{"hook", kindGroup, "", "none", "", "Asked about each caller whom all other rules accept."},
		func(d *decoder, at string, n *yaml.Node, l *Listener) {
			h := defaultHook()
			decodeMap(d, at, n, hookKeys, &h)
			l.Hook = &h
		}},
	{row{"users", kindListOf, "", "none", "", "Who may call, by u= of the stream id. Without users nobody needs a name; with users everybody does."},
		func(d *decoder, at string, n *yaml.Node, l *Listener) { l.Users = decodeList(d, at, n, userItem) }},
}

var hookKeys = []key[Hook]{
	{row{"url", kindText, "http:// or https://", "required", "url: http://127.0.0.1:8080/srt", "Where the question is posted."},
		text(func(h *Hook) *string { return &h.URL })},
	{row{"timeout", kindDuration, hookRange.String(), "2s", "timeout: 1s", "Without an answer in this time the caller is refused. Callers give up after 3 s."},
		duration(func(h *Hook) *time.Duration { return &h.Timeout }, nil)},
}

var userKeys = []key[User]{
	{row{"name", kindText, userAllowed, "required", "name: camera-1", "u= of the stream id; unique within the listener."},
		text(func(u *User) *string { return &u.Name })},
	{row{"passphrase", kindSecret, passLength.String(), "that of the stream, else of the listener", "passphrase-file: secrets/camera-1", "Proves the name. Without one anybody who has the common passphrase can use the name."},
		secret(func(u *User) *Secret { return &u.Passphrase })},
	{row{"publish", kindList, patternAllowed, "none", `publish: ["live/*"]`, "Streams that the user may send."},
		texts(func(u *User) *[]string { return &u.Publish })},
	{row{"play", kindList, patternAllowed, "none", `play: ["*"]`, "Streams that the user may receive."},
		texts(func(u *User) *[]string { return &u.Play })},
}

var routeKeys = []key[Route]{
	{row{"name", kindText, nameAllowed, "required", "name: studio", "Unique; the name in the API, the log and the metrics."},
		text(func(r *Route) *string { return &r.Name })},
	{row{"source", kindGroup, urlAllowed, "", "source: udp://127.0.0.1:5000", "A list of sources of one: a URL, or what an item of the list may be."},
		func(d *decoder, at string, n *yaml.Node, r *Route) {
			var s Source
			item := at + "s[0]"
			d.lines[item] = n.Line
			sourceItem(d, item, n, &s)
			addSources(d, at, n, r, []Source{s})
		}},
	{row{"sources", kindListOf, "", "required, or source", "", "In the order of preference; the first that brings media is used."},
		func(d *decoder, at string, n *yaml.Node, r *Route) {
			addSources(d, at, n, r, decodeList(d, at, n, sourceItem))
		}},
	{row{"outputs", kindListOf, "", "none", "", "Everything that the source sends goes to each."},
		func(d *decoder, at string, n *yaml.Node, r *Route) { r.Outputs = decodeList(d, at, n, outputItem) }},
	{row{"failover-after", kindDuration, failoverRange.String(), "1s", "failover-after: 500ms", "Without media for so long the next source is used."},
		duration(func(r *Route) *time.Duration { return &r.FailoverAfter }, nil)},
	{row{"hold-off", kindDuration, holdOffRange.String(), "5s", "hold-off: 30s", "A preferred source has to be back for so long before it is used again; never: not while the other lives."},
		duration(func(r *Route) *time.Duration { return &r.HoldOff }, map[string]time.Duration{"never": -1})},
	{row{"queue", kindBytes, queueBytes.String(), "5MiB", "queue: 2MiB", "Kept for each output that is slow; beyond, its oldest media is dropped."},
		number(func(r *Route) *int { return &r.Queue }, true)},
	{row{"max-age", kindDuration, maxAgeRange.String(), "1s", "max-age: 3s", "Older media is not sent any more after an interruption."},
		duration(func(r *Route) *time.Duration { return &r.MaxAge }, nil)},
	{row{"slow-after", kindDuration, slowRange.String(), "0", "slow-after: 10s", "A player for whom messages had to be dropped all that time, from its queue or as too late on its link, is disconnected; 0: never."},
		duration(func(r *Route) *time.Duration { return &r.SlowAfter }, nil)},
	{row{"max-players", kindNumber, connections.String(), "0", "max-players: 200", "Players at a time, over all play outputs; 0: no limit."},
		number(func(r *Route) *int { return &r.MaxPlayers }, false)},
}

var sourceKeys = []key[Source]{
	{row{"url", kindText, urlAllowed, "", "url: srt://203.0.113.7:9000?streamid=cam", "Where the media comes from."},
		text(func(s *Source) *string { return &s.URL })},
	{row{"publish", kindGroup, "", "", "publish: {listener: main, stream: live/a}", "A stream that callers of a listener publish."},
		func(d *decoder, at string, n *yaml.Node, s *Source) { s.Publish = decodeRef(d, at, n) }},
}

var outputKeys = []key[Output]{
	{row{"url", kindText, urlAllowed, "", "url: udp://239.1.1.1:5000", "Where the media goes."},
		text(func(o *Output) *string { return &o.URL })},
	{row{"play", kindGroup, "", "", "play: {listener: main, stream: live/a}", "A stream that callers of a listener play."},
		func(d *decoder, at string, n *yaml.Node, o *Output) { o.Play = decodeRef(d, at, n) }},
}

var refKeys = []key[Ref]{
	{row{"listener", kindText, "the name of a listener", "required", "listener: main", "Whose callers."},
		text(func(r *Ref) *string { return &r.Listener })},
	{row{"stream", kindText, streamAllowed, "required", "stream: live/a", "r= of the stream id, or the whole of a plain one."},
		text(func(r *Ref) *string { return &r.Stream })},
	{row{"passphrase", kindSecret, passLength.String(), "that of the listener", "passphrase-file: secrets/live-a", "For callers whose user has none."},
		secret(func(r *Ref) *Secret { return &r.Passphrase })},
}

func listenerItem(d *decoder, at string, n *yaml.Node, l *Listener) {
	decodeMap(d, at, n, listenerKeys, l)
}

func userItem(d *decoder, at string, n *yaml.Node, u *User) { decodeMap(d, at, n, userKeys, u) }

func routeItem(d *decoder, at string, n *yaml.Node, r *Route) {
	*r = defaultRoute()
	decodeMap(d, at, n, routeKeys, r)
}

// sourceItem and outputItem take a URL in place of its group.
func sourceItem(d *decoder, at string, n *yaml.Node, s *Source) {
	if n.Kind == yaml.ScalarNode {
		s.URL, _ = d.text(at, n)
		return
	}
	decodeMap(d, at, n, sourceKeys, s)
}

func outputItem(d *decoder, at string, n *yaml.Node, o *Output) {
	if n.Kind == yaml.ScalarNode {
		o.URL, _ = d.text(at, n)
		return
	}
	decodeMap(d, at, n, outputKeys, o)
}

func decodeRef(d *decoder, at string, n *yaml.Node) *Ref {
	var r Ref
	decodeMap(d, at, n, refKeys, &r)
	return &r
}

func addSources(d *decoder, at string, n *yaml.Node, r *Route, list []Source) {
	if len(r.Sources) > 0 {
		d.complain(n, at, "source and sources are both given: allowed one of both")
		return
	}
	r.Sources = list
}
