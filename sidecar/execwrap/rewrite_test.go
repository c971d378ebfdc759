package execwrap

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// words splits as a shell does, as far as the tables need it.
func words(line string) (out []string) {
	var b strings.Builder
	var inside byte
	some := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case inside != 0 && c == inside:
			inside = 0
		case inside == 0 && (c == '\'' || c == '"'):
			inside, some = c, true
		case inside == 0 && c == ' ':
			if some {
				out = append(out, b.String())
			}
			b.Reset()
			some = false
		default:
			b.WriteByte(c)
			some = true
		}
	}
	if some {
		out = append(out, b.String())
	}
	return out
}

type rewriteCase struct {
	line      string
	want      string   // L0, L1 stand for the local addresses
	addresses []string // without srt://
	note      string   // part of a note; empty: there is none
}

var rewriteCases = []rewriteCase{
	// Outputs.
	{"ffmpeg -re -i in.ts -c copy -f mpegts srt://h:9000", "ffmpeg -re -i in.ts -c copy -f mpegts L0", []string{"h:9000?mode=caller"}, ""},
	{"ffmpeg -i in.ts -c copy -f mpegts srt://h:9000?mode=caller&latency=200000", "ffmpeg -i in.ts -c copy -f mpegts L0", []string{"h:9000?mode=caller&latency=200ms"}, ""},
	{"ffmpeg -i in.ts -f mpegts -latency 120000 srt://h:1", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&latency=120ms"}, ""},
	{"ffmpeg -i in.ts -latency 120000 -f mpegts -c copy srt://h:1", "ffmpeg -i in.ts -f mpegts -c copy L0", []string{"h:1?mode=caller&latency=120ms"}, ""},
	{"ffmpeg -i in.ts -pkt_size 1128 -passphrase 'a b&c%d' -pbkeylen 32 -f mpegts srt://h:1", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&pbkeylen=32&passphrase=a%20b%26c%25d&payloadsize=1128"}, ""},
	{"ffmpeg -i in.ts -f mpegts -latency 120000 srt://h:1?latency=300000", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&latency=300ms"}, ""},
	{"ffmpeg -i in.ts -f mpegts -latency 100000 -latency 200000 srt://h:1", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&latency=200ms"}, ""},
	{"ffmpeg -i in.ts srt://h:1", "ffmpeg -i in.ts L0", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts srt://h:1?streamid=live/a.ts", "ffmpeg -i in.ts L0.ts", []string{"h:1?mode=caller&streamid=live/a.ts"}, ""},
	{"ffmpeg -i in.ts srt://h:1?streamid=a.flv", "ffmpeg -i in.ts L0.flv", []string{"h:1?mode=caller&streamid=a.flv"}, ""},
	{"ffmpeg -i in.ts -f mpegts -- srt://h:1", "ffmpeg -i in.ts -f mpegts -- L0", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -map 0:v:0 -map -0:a? -c:v libx264 -b:v 2M -f mpegts srt://h:1", "ffmpeg -i in.ts -map 0:v:0 -map -0:a? -c:v libx264 -b:v 2M -f mpegts L0", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -fflags -autobsf -flags -global_header -f mpegts srt://h:1", "ffmpeg -i in.ts -fflags -autobsf -flags -global_header -f mpegts L0", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -y -nostdin -i in.ts -f mpegts srt://h:1 -latency 5", "ffmpeg -y -nostdin -i in.ts -f mpegts L0 -latency 5", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -f mpegts srt://h:1?mode=listener", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=listener"}, ""},
	{"ffmpeg -i in.ts -f mpegts -mode listener -listen_timeout 1500000 srt://0.0.0.0:1", "ffmpeg -i in.ts -f mpegts L0", []string{"0.0.0.0:1?mode=listener&listen_timeout=1500ms"}, ""},
	{"ffmpeg -i in.ts -f mpegts srt://[::1]:9000?latency=200000", "ffmpeg -i in.ts -f mpegts L0", []string{"[::1]:9000?mode=caller&latency=200ms"}, ""},
	{"ffmpeg -i in.ts -f mpegts srt://[fe80::1%25eth0]:9000", "ffmpeg -i in.ts -f mpegts L0", []string{"[fe80::1%25eth0]:9000?mode=caller"}, ""},
	{"ffmpeg -i in.ts -f mpegts srt://h:1?streamid=#!::r=live/x,m=publish&latency=200000", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&streamid=%23!::r=live/x,m=publish&latency=200ms"}, ""},
	{"ffmpeg -i in.ts -f mpegts srt://h:1?streamid=%23%21%3A%3Ar%3Da%26b+c", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&streamid=%23!::r=a%26b%20c"}, ""},
	{"ffmpeg -i in.ts -f mpegts -srt_streamid '#!::r=100%,m=publish' srt://h:1", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&streamid=%23!::r=100%25,m=publish"}, ""},
	{"ffmpeg -i in.ts -f mpegts -streamid 0:33 srt://h:1", "ffmpeg -i in.ts -f mpegts -streamid 0:33 L0", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -f mpegts -streamid live/a srt://h:1", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&streamid=live/a"}, "-srt_streamid"},
	{"ffmpeg -i in.ts -f mpegts srt://h:1?pkt_size=ts_size&transtype=live&smoother=live&linger=5&snddropdelay=-1&maxbw=-1", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&payloadsize=1316&transtype=live&congestion=live&linger=5&snddropdelay=-1"}, ""},
	{"ffmpeg -i in.ts -f mpegts -ffs 64Ki -tlpktdrop false -nakreport auto -recv_buffer_size 8M -minversion 0x010300 srt://h:1", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&minversion=0x010300&udp_rcvbuf=8000000&tlpktdrop=0&fc=65536"}, ""},
	{"ffmpeg -i in.ts -f mpegts -timeout 5000000 srt://h:1", "ffmpeg -i in.ts -f mpegts -timeout 5000000 L0", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -f mpegts srt://h:1?connect_timeout=1000&timeout=2000000", "ffmpeg -i in.ts -f mpegts -timeout 2000000 L0", []string{"h:1?mode=caller&conntimeo=1000"}, ""},
	{"ffmpeg -i in.ts -f mpegts -timeout 2s srt://h:1", "ffmpeg -i in.ts -f mpegts -timeout 2000000 L0", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -f mpegts -rcvlatency 80000 -peerlatency 90500 srt://h:1?peeridletimeo=9000&reconnect=0", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&peeridletimeo=9000&reconnect=0&peerlatency=90ms&rcvlatency=80ms"}, ""},
	{"ffmpeg -i in.ts -f mpegts -latency:v 5 srt://h:1", "ffmpeg -i in.ts -f mpegts -latency:v 5 L0", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -f fifo -fifo_format mpegts -map 0 srt://h:1", "ffmpeg -i in.ts -f fifo -fifo_format mpegts -map 0 L0", []string{"h:1?mode=caller"}, ""},

	// Inputs.
	{"ffmpeg -i srt://h:1 -c copy out.ts", "ffmpeg -i L0 -c copy out.ts", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -latency 200000 -mode listener -i srt://:9000 -c copy out.ts", "ffmpeg -i L0 -c copy out.ts", []string{":9000?mode=listener&latency=200ms"}, ""},
	{"ffmpeg -hide_banner -re -latency 200000 -i srt://:9000?mode=listener -c copy out.ts", "ffmpeg -hide_banner -re -i L0 -c copy out.ts", []string{":9000?mode=listener&latency=200ms"}, ""},
	{"ffmpeg -futureflag -latency 200000 -i srt://h:1 out.ts", "ffmpeg -futureflag -i L0 out.ts", []string{"h:1?mode=caller&latency=200ms"}, ""},
	{"ffmpeg -timeout 9 -i srt://:1?mode=listener out.ts", "ffmpeg -i L0 out.ts", []string{":1?mode=listener"}, "listen_timeout"},
	{"ffmpeg -protocol_whitelist file,udp,srt -i srt://h:1 out.ts", "ffmpeg -protocol_whitelist file,udp,srt,http,tcp -i L0 out.ts", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -i async:srt://h:1?latency=90000 out.ts", "ffmpeg -i async:L0 out.ts", []string{"h:1?mode=caller&latency=90ms"}, ""},
	{"ffmpeg -latency 30000 -i srt://a:1 -latency 40000 -i srt://b:1 -map 0:v -map 1:a -c copy -f mpegts -latency 50000 srt://c:1",
		"ffmpeg -i L0 -i L1 -map 0:v -map 1:a -c copy -f mpegts L2", []string{"a:1?mode=caller&latency=30ms", "b:1?mode=caller&latency=40ms", "c:1?mode=caller&latency=50ms"}, ""},

	// Several outputs: an option belongs to the next.
	{"ffmpeg -i in.ts -c copy -f mpegts -latency 30000 srt://a:1 -c:v libx264 -f mpegts -pkt_size 188 udp://b:1?pkt_size=188 -f mpegts srt://c:1",
		"ffmpeg -i in.ts -c copy -f mpegts L0 -c:v libx264 -f mpegts -pkt_size 188 udp://b:1?pkt_size=188 -f mpegts L1", []string{"a:1?mode=caller&latency=30ms", "c:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -f mpegts srt://a:1 -latency 99000 out.ts", "ffmpeg -i in.ts -f mpegts L0 -latency 99000 out.ts", []string{"a:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -progress srt://p:1 -f mpegts srt://a:1", "ffmpeg -i in.ts -progress srt://p:1 -f mpegts L0", []string{"a:1?mode=caller"}, "argument 4 (behind -progress)"},

	// tee.
	{"ffmpeg -i in.ts -map 0 -f tee '[f=mpegts]srt://a:1?latency=200000|[f=mpegts:onfail=ignore]srt://b:1?streamid=x|c.mkv'",
		"ffmpeg -i in.ts -map 0 -f tee '[f=mpegts]L0|[f=mpegts:onfail=ignore]L1|c.mkv'", []string{"a:1?mode=caller&latency=200ms", "b:1?mode=caller&streamid=x"}, ""},
	{"ffmpeg -i in.ts -map 0 -f tee '[f=mpegts:latency=200000:select=v,a]srt://a:1|[f=nut]pipe:'",
		"ffmpeg -i in.ts -map 0 -f tee '[f=mpegts:select=v,a]L0|[f=nut]pipe:'", []string{"a:1?mode=caller&latency=200ms"}, ""},
	{`ffmpeg -i in.ts -map 0 -f tee '[f=mpegts:passphrase=a\\:b\\]c\|d123]srt://a:1|o\|ut.ts'`,
		`ffmpeg -i in.ts -map 0 -f tee '[f=mpegts]L0|o\|ut.ts'`, []string{"a:1?mode=caller&passphrase=a:b%5Dc%7Cd123"}, ""},
	{`ffmpeg -i in.ts -map 0 -f tee '[f=mpegts:bsfs/v=dump_extra\\:freq=k]srt://a:1?timeout=9'`,
		`ffmpeg -i in.ts -map 0 -f tee '[f=mpegts:bsfs/v=dump_extra\\:freq=k:timeout=9]L0'`, []string{"a:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -map 0 -f tee 'a.ts|b.ts'", "ffmpeg -i in.ts -map 0 -f tee 'a.ts|b.ts'", nil, ""},
	{"ffmpeg -i in.ts -f mpegts 'tee:[f=mpegts]srt://a:1|b.ts'", "ffmpeg -i in.ts -f mpegts 'tee:[f=mpegts]L0|b.ts'", []string{"a:1?mode=caller"}, ""},

	// Other programs.
	{"/usr/bin/ffmpeg-7.1 -i srt://h:1 -f null -", "/usr/bin/ffmpeg-7.1 -i L0 -f null -", []string{"h:1?mode=caller"}, ""},
	{"nice -n 5 ffmpeg -latency 90000 -i srt://h:1 -f null -", "nice -n 5 ffmpeg -i L0 -f null -", []string{"h:1?mode=caller&latency=90ms"}, ""},
	{"ffprobe -v error -show_streams -latency 90000 srt://h:1", "ffprobe -v error -show_streams L0", []string{"h:1?mode=caller&latency=90ms"}, ""},
	{"ffprobe -show_entries stream=codec_name -i srt://h:1 -latency 90000 -of json", "ffprobe -show_entries stream=codec_name -i L0 -of json", []string{"h:1?mode=caller&latency=90ms"}, ""},
	{"ffplay -autoexit -streamid live/a -fflags nobuffer srt://h:1 -an", "ffplay -autoexit -fflags nobuffer L0 -an", []string{"h:1?mode=caller&streamid=live/a"}, ""},
	{"ffplay -i srt://h:1?timeout=7 -window_title x", "ffplay -timeout 7 -i L0 -window_title x", []string{"h:1?mode=caller"}, ""},
	{"mpv --no-cache srt://h:1?latency=90000", "mpv --no-cache L0", []string{"h:1?mode=caller&latency=90ms"}, ""},
	{"mpv --stream-lavf-o=latency=90000,reconnect=1 --stream-lavf-o-append=passphrase=0123456789 lavf://srt://h:1", "mpv --stream-lavf-o=reconnect=1 L0", []string{"h:1?mode=caller&passphrase=0123456789&latency=90ms"}, ""},
	{"mpv --stream-lavf-o=timeout=9 file.ts", "mpv --stream-lavf-o=timeout=9 file.ts", nil, ""},
	{"player --url srt://h:1?mode=caller x", "player --url L0 x", []string{"h:1?mode=caller"}, ""},
	{"player srt://h:1?timeout=9", "player L0", []string{"h:1?mode=caller"}, "timeout"},
	{"sh -c 'ffmpeg -i srt://h:1 out.ts'", "sh -c 'ffmpeg -i srt://h:1 out.ts'", nil, "argument 2 (behind -c)"},
	{"ffmpeg -i in.ts -vf 'movie=srt\\://h\\:1' -f null -", "ffmpeg -i in.ts -vf 'movie=srt\\://h\\:1' -f null -", nil, "argument 4 (behind -vf)"},

	{"ffmpeg -i in.ts -metadata comment=srt://h:1 -metadata:s:v:0 title=srt://h:1 -f mpegts srt://h:1", "ffmpeg -i in.ts -metadata comment=srt://h:1 -metadata:s:v:0 title=srt://h:1 -f mpegts L0", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -metadata srt://h:1 -i in.ts out.ts", "ffmpeg -metadata srt://h:1 -i in.ts out.ts", nil, ""},
	{"ffmpeg -rw_timeout 5 -i srt://:1?mode=listener x.ts", "ffmpeg -i L0 x.ts", []string{":1?mode=listener"}, "rw_timeout of srt://:1 is left out"},
	{"ffplay -rw_timeout 5 -mode listener srt://:1", "ffplay L0", []string{":1?mode=listener"}, "rw_timeout of srt://:1 is left out"},
	{"ffmpeg -rw_timeout 5 -i srt://h:1 x.ts", "ffmpeg -rw_timeout 5 -i L0 x.ts", []string{"h:1?mode=caller"}, ""},
	{"ffmpeg -i in.ts -f fifo -fifo_format mpegts -format_opts latency=90000:mpegts_flags=resend_headers:passphrase=a\\:b srt://h:1",
		"ffmpeg -i in.ts -f fifo -fifo_format mpegts -format_opts mpegts_flags=resend_headers L0", []string{"h:1?mode=caller&passphrase=a:b&latency=90ms"}, ""},
	{"ffmpeg -i in.ts -f fifo -format_opts latency=90000 srt://h:1", "ffmpeg -i in.ts -f fifo L0", []string{"h:1?mode=caller&latency=90ms"}, ""},
	{"ffmpeg -i in.ts -f fifo -format_opts x srt://h:1", "ffmpeg -i in.ts -f fifo -format_opts x L0", []string{"h:1?mode=caller"}, ""},

	{"ffmpeg -i in.ts -c copy -f rtp_mpegts srt://h:1?latency=200000", "ffmpeg -i in.ts -c copy -f rtp_mpegts srt://h:1?latency=200000", nil, "-f mpegts is carried"},

	// Odd values.
	{"ffmpeg -i in.ts -f mpegts srt://h:1?streamid=50%&passphrase=%4abcdefg%xy%25%2", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&streamid=50%25&passphrase=Jbcdefg%25xy%25%252"}, ""},
	{"ffmpeg -i in.ts -f mpegts srt://h:1?pkt_size=1316&fifo_size=50000000", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&payloadsize=1316"}, "fifo_size in the address of srt://h:1 is left out"},
	{"ffmpeg -i in.ts -f mpegts srt://h:1?latency=200", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&latency=0ms"}, "is 0 ms: FFmpeg counts in microseconds; for 200 ms write latency=200000"},
	{"ffmpeg -i in.ts -f mpegts srt://h:1?latency=200ms", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&latency=200ms"}, ""},
	{"ffmpeg -i in.ts -f mpegts srt://h:1?latency=1200000000", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&latency=1200000ms"}, "microseconds"},
	{"ffmpeg -i in.ts -f mpegts srt://u:p@h:1/live/x?latency=-1", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller"}, "left out"},
	{"ffmpeg -i in.ts -f mpegts srt://h:1?latancy=5", "ffmpeg -i in.ts -f mpegts L0", []string{"h:1?mode=caller&latancy=5"}, ""},
	{"ffmpeg -i in.ts out.ts", "ffmpeg -i in.ts out.ts", nil, ""},
	{"ffmpeg", "ffmpeg", nil, ""},
}

func TestRewrite(t *testing.T) {
	for _, c := range rewriteCases {
		plan, err := Rewrite(words(c.line), func(i int) string { return fmt.Sprint("L", i) })
		if err != nil {
			t.Errorf("%s\n  %v", c.line, err)
			continue
		}
		if want := words(c.want); !slices.Equal(plan.Args, want) {
			t.Errorf("%s\n  is  %q\n want %q", c.line, plan.Args, want)
		}
		for i, a := range plan.Addresses {
			if i >= len(c.addresses) || a != "srt://"+c.addresses[i] {
				t.Errorf("%s\n  address %d is %s, want %q", c.line, i, a, c.addresses)
			}
		}
		notes := strings.Join(plan.Notes, "\n")
		if len(plan.Addresses) < len(c.addresses) || (c.note == "") != (notes == "") || !strings.Contains(notes, c.note) {
			t.Errorf("%s\n  %d addresses, notes %q, want %q", c.line, len(plan.Addresses), notes, c.note)
		}
	}
}

// Inputs are told apart: they cannot be asked for again.
func TestInputs(t *testing.T) {
	for line, want := range map[string][]int{
		"ffmpeg -i srt://a:1 -f mpegts srt://b:1 -i srt://c:1": {0, 2}, "ffmpeg -i async:srt://a:1 x.ts": {0},
		"ffmpeg -i in.ts -f tee srt://a:1|srt://b:1": nil, "ffprobe srt://a:1": {0}, "ffplay -i srt://a:1": {0},
		"mpv srt://a:1": nil, "player srt://a:1": nil,
	} {
		plan, err := Rewrite(words(line), func(int) string { return "L" })
		if err != nil || !slices.Equal(plan.Inputs, want) {
			t.Errorf("%s: %v, inputs %v, want %v", line, err, plan.Inputs, want)
		}
	}
}

// Of a file that the command line names it is said that addresses are in it, not
// what they are.
func TestLookInside(t *testing.T) {
	files := map[string]string{
		"list": "file 'srt://h:1?passphrase=0123456789abc'", "graph": `movie=srt\\\\://h:1`, "./run.sh": "exec ffmpeg -i srt://h:1",
		"in.ts": "\x47\x00srt://h:1", "other": "udp://h:1",
	}
	for line, want := range map[string]string{
		"ffmpeg -f concat -i list -c copy out.ts": "list", "mpv --playlist=list": "list", "ffmpeg -i file:list x.ts": "list",
		"ffmpeg -i in.ts -filter_complex_script graph x.ts": "graph", "./run.sh": "run.sh", "sh ./run.sh": "run.sh",
		"ffmpeg -i in.ts -i other x.ts": "", "list": "",
	} {
		plan, err := Rewrite(words(line), func(int) string { return "L" })
		if err != nil {
			t.Fatal(err)
		}
		plan.LookInside(func(name string) []byte { return []byte(files[name]) })
		said := strings.Join(plan.Notes, "\n")
		if (want == "") != (said == "") || !strings.Contains(said, want) || strings.Contains(said, "srt://") {
			t.Errorf("%s: it says %q, want %q", line, said, want)
		}
	}
}

func TestRewriteRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"ffmpeg -i in.ts -f mpegts srt://h:1?mode=rendezvous&passphrase=0123456789":    "rendezvous",
		"ffmpeg -mode rendezvous -i srt://h:1 x.ts":                                    "rendezvous",
		"ffmpeg -i in.ts -f mpegts -latency abc srt://h:1?passphrase=0123456789":       "latency",
		"ffmpeg -i in.ts -f mpegts -tlpktdrop perhaps srt://h:1":                       "truth value",
		"ffmpeg -i in.ts -f mpegts -pkt_size large srt://h:1":                          "pkt_size",
		"ffmpeg -i in.ts -f tee '[f=mpegts:latency=x]srt://h:1?passphrase=0123456789'": "latency",
		"ffplay srt://h:1?passphrase=0123456789 srt://h:2":                             "two SRT addresses",
		"mpv srt://h:1?latency=":                                                       "latency",
	} {
		_, err := Rewrite(words(line), func(int) string { return "L" })
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "0123456789") {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// Notes never hold what an address holds behind its port.
func TestNotesHoldNoSecrets(t *testing.T) {
	const secret = "0123456789abc"
	for _, line := range []string{
		"ffmpeg -i in.ts -f mpegts srt://u:" + secret + "@h:1/x?latency=200&passphrase=" + secret,
		"ffmpeg -i in.ts -vf movie=srt\\://h:1?passphrase=" + secret + " -f null -",
		"sh -c srt://h:1?passphrase=" + secret, "player x=srt://h:1?passphrase=" + secret,
		"ffmpeg -timeout 5 -i srt://" + secret + "@:1?mode=listener&passphrase=" + secret + " x",
	} {
		plan, err := Rewrite(words(line), func(int) string { return "L" })
		if err != nil || strings.Contains(strings.Join(plan.Notes, " "), secret) {
			t.Errorf("%s: %v %v", line, err, plan)
		}
	}
}

func TestQuoteIsUndoneByToken(t *testing.T) {
	for _, text := range []string{"", "a", " a ", `a\b`, "it's", "a|b:c]d", `\`, "'", "  ", "ä|ö"} {
		for _, end := range []string{"|", ":]"} {
			got, rest := token(quote(text, end)+end[:1]+"rest", end)
			if got != text || rest != end[:1]+"rest" {
				t.Errorf("%q quoted for %q is read back as %q, rest %q", text, end, got, rest)
			}
		}
	}
}

func FuzzRewrite(f *testing.F) {
	for _, c := range rewriteCases {
		f.Add(strings.Join(words(c.line), "\x00"))
	}
	f.Fuzz(func(t *testing.T, line string) {
		plan, err := Rewrite(strings.Split(line, "\x00"), func(int) string { return "L" })
		if err == nil && (len(plan.Args) == 0 || strings.Contains(strings.Join(plan.Addresses, ""), "\x00")) {
			t.Errorf("%q gave %+v", line, plan)
		}
	})
}
