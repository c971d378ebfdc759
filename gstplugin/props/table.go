package props

import "math"

// The names of the properties.
const (
	URI               = "uri"
	ConnectionMode    = "mode"
	LocalAddress      = "localaddress"
	LocalPort         = "localport"
	Passphrase        = "passphrase"
	PBKeyLen          = "pbkeylen"
	PollTimeout       = "poll-timeout"
	Latency           = "latency"
	WaitForConnection = "wait-for-connection"
	StreamID          = "streamid"
	Authentication    = "authentication"
	AutoReconnect     = "auto-reconnect"
	KeepListening     = "keep-listening"
	CallerPolicy      = "caller-policy"
	MaxCallers        = "max-callers"
	DrainOnEOS        = "drain-on-eos"
	SlowCaller        = "slow-caller"
	CallerBacklog     = "caller-backlog"
	PlayGrid          = "playgrid"
)

const (
	defaultURI     = "srt://127.0.0.1:7001"
	defaultPort    = 7001
	defaultLatency = 125
)

// Values of the enumerations.
const (
	ModeNone       = 0
	ModeCaller     = 1
	ModeListener   = 2
	ModeRendezvous = 3

	PolicyRefuse  = 0
	PolicyReplace = 1

	SlowDrop       = 0
	SlowDisconnect = 1
)

var modeEnum = &EnumType{"GstSrtGoConnectionMode", []EnumValue{
	{ModeNone, "GST_SRT_CONNECTION_MODE_NONE", "none"},
	{ModeCaller, "GST_SRT_CONNECTION_MODE_CALLER", "caller"},
	{ModeListener, "GST_SRT_CONNECTION_MODE_LISTENER", "listener"},
	{ModeRendezvous, "GST_SRT_CONNECTION_MODE_RENDEZVOUS", "rendezvous"},
}}

var keyLenEnum = &EnumType{"GstSrtGoKeyLength", []EnumValue{
	{0, "GST_SRT_KEY_LENGTH_NO_KEY", "no-key"},
	{0, "GST_SRT_KEY_LENGTH_0", "0"},
	{16, "GST_SRT_KEY_LENGTH_16", "16"},
	{24, "GST_SRT_KEY_LENGTH_24", "24"},
	{32, "GST_SRT_KEY_LENGTH_32", "32"},
}}

var policyEnum = &EnumType{"GstSrtGoCallerPolicy", []EnumValue{
	{PolicyRefuse, "GST_SRT_GO_CALLER_POLICY_REFUSE", "refuse"},
	{PolicyReplace, "GST_SRT_GO_CALLER_POLICY_REPLACE", "replace"},
}}

var slowEnum = &EnumType{"GstSrtGoSlowCaller", []EnumValue{
	{SlowDrop, "GST_SRT_GO_SLOW_CALLER_DROP", "drop"},
	{SlowDisconnect, "GST_SRT_GO_SLOW_CALLER_DISCONNECT", "disconnect"},
}}

// table is everything the elements can be told. The stock elements' properties
// keep their names, types, ranges and defaults.
var table = append([]Spec{
	{Name: URI, Kind: String, DefaultText: defaultURI, MutableReady: true, On: Both,
		Doc: "URI in the form of srt://address:port?option=value&option=value; no address means listener. A property that was set wins over the URI; the passphrase is read back as (hidden)"},
	{Name: ConnectionMode, Keys: []string{"mode"}, Kind: Enum, Enum: modeEnum, Default: ModeCaller, Max: ModeRendezvous, MutableReady: true, On: Both,
		Doc: "SRT connection mode: caller or listener (rendezvous is not served yet)"},
	{Name: LocalAddress, Keys: []string{"localaddress", "adapter"}, Kind: String, NullDefault: true, MutableReady: true, On: Both,
		Doc: "Local address to bind; a listener's default is the URI's address, else every address of IPv4 and IPv6"},
	{Name: LocalPort, Keys: []string{"localport", "port"}, Kind: Uint, Default: defaultPort, Max: 65535, MutableReady: true, On: Both,
		Doc: "Local port to bind; a listener's default is the URI's port"},
	{Name: Passphrase, Keys: []string{"passphrase"}, Kind: String, Secret: true, MutableReady: true, On: Both,
		Doc: "Password for the encrypted transmission, 10 to 80 bytes; empty: no encryption"},
	{Name: PBKeyLen, Keys: []string{"pbkeylen"}, Kind: Enum, Enum: keyLenEnum, Max: 32, MutableReady: true, On: Both,
		Doc: "Crypto key length in bytes; 0: what the other side wants, else 16"},
	{Name: PollTimeout, Keys: []string{"poll-timeout"}, Kind: Int, Default: -1, Min: -1, Max: math.MaxInt32, MutableReady: true, On: Both,
		Doc: "Accepted for compatibility, milliseconds; nothing here polls"},
	{Name: Latency, Keys: []string{"latency"}, Kind: Int, Default: defaultLatency, Max: math.MaxInt32, On: Both,
		Doc: "Minimum latency (milliseconds), 0 to 65535; the connection uses the larger of both sides'"},
	{Name: WaitForConnection, Keys: []string{"wait-for-connection"}, Kind: Bool, Default: 1, Max: 1, On: Both,
		Doc: "Sink: block the stream while nobody is connected; false: drop. Of no effect on a source"},
	{Name: StreamID, Keys: []string{"streamid", "srt_streamid"}, Kind: String, NullDefault: true, MutableReady: true, On: Both,
		Doc: "Stream ID for the SRT access control, at most 512 bytes"},
	{Name: Authentication, Keys: []string{"authentication"}, Kind: Bool, Max: 1, On: Both,
		Doc: "Listener: ask caller-connecting about each caller"},
	{Name: AutoReconnect, Keys: []string{"auto-reconnect"}, Kind: Bool, Default: 1, Max: 1, On: Both,
		Doc: "Caller: connect again when that can help; false: fail"},
	{Name: KeepListening, Keys: []string{"keep-listening"}, Kind: Bool, Max: 1, On: Source,
		Doc: "Listener: wait for the next caller when one has left; false: end of stream"},
	{Name: CallerPolicy, Keys: []string{"caller-policy"}, Kind: Enum, Enum: policyEnum, Max: PolicyReplace, MutablePlaying: true, On: Source,
		Doc: "Listener: what to do with a second caller while one is served: refuse it, or let it replace the first"},
	{Name: MaxCallers, Keys: []string{"max-callers"}, Kind: Int, Max: math.MaxInt32, MutablePlaying: true, On: Sink,
		Doc: "Listener: callers served at once; more are refused. 0: no limit"},
	{Name: DrainOnEOS, Keys: []string{"drain-on-eos"}, Kind: Bool, Default: 1, Max: 1, MutablePlaying: true, On: Sink,
		Doc: "At the end of the stream wait until everybody had time to receive and play it: the latency, a round trip and 0.1 s at most"},
	{Name: SlowCaller, Keys: []string{"slow-caller"}, Kind: Enum, Enum: slowEnum, Max: SlowDisconnect, MutablePlaying: true, On: Sink,
		Doc: "Listener: what happens to a caller beyond its caller-backlog: its packets are dropped, or it is disconnected"},
	{Name: CallerBacklog, Keys: []string{"caller-backlog"}, Kind: Int, Max: math.MaxInt32, MutablePlaying: true, On: Sink,
		Doc: "Listener: packets written for a caller and not yet acknowledged, beyond which it is slow. 0: as many as the send buffer takes"},
}, optionRows()...)

// byName finds rows: elements ask for some values with every buffer.
var byName = map[string]*Spec{}

func init() {
	for i := range table {
		s := &table[i]
		s.Writable, s.Readable = true, !s.Secret
		s.Property = i < properties
		byName[s.Name] = s
	}
}

// properties is how many rows of the table are GObject properties.
const properties = 18
