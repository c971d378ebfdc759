package ffmpeg

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
)

// line is one command line, run by FFmpeg alone and by weirline exec.
// {in} is a clip of two seconds, {dir} a folder, {p}, {q}, {r} are ports.
type line struct {
	name  string
	flags string // of weirline exec
	args  string
	peers []string // URLs of ours; the first word: what they do, see begin
	files []string // in {dir}, to compare; stdout is what the program prints
	code  int
	// other: what arrives is not the clip itself, but must be the same both times.
	other bool
	// id and latency are what the first peer saw: stream id, latency of its receiver.
	id      string
	latency int
	long    int  // length of the longest message
	stdin   bool // the clip comes that way
	stdout  bool // compare what the program prints
	said    string
}

const (
	flatOut = "-muxdelay 0 -muxpreload 0 -f mpegts "
	fastIn  = "-analyzeduration 0 -probesize 150000 "
	re      = "ffmpeg -nostdin -v error -re -i {in} "
	once    = "--reconnect=false"
)

var lines = []line{
	// Sending as a caller.
	{name: "plain", args: re + "-c copy -f mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}, latency: 120},
	{name: "latency in the address", args: re + "-c copy -f mpegts 'srt://127.0.0.1:{p}?mode=caller&latency=250000'", peers: []string{"recv srt://:{p}?mode=listener"}, latency: 250},
	{name: "latency in front", args: re + "-map 0 -c copy -latency 200000 -f mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}, latency: 200},
	{name: "latency of the peer alone", args: re + "-c copy -f mpegts -peerlatency 300000 srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}, latency: 300},
	{name: "latency that is nothing", args: re + "-c copy -f mpegts srt://127.0.0.1:{p}?latency=200", peers: []string{"recv srt://:{p}?mode=listener&latency=40"}, latency: 40},
	{name: "encrypted, options in front", args: re + "-c copy -passphrase '0123456789 &%d' -pbkeylen 32 -f mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener&passphrase=0123456789%20%26%25d"}},
	{name: "encrypted, in the address", args: re + "-c copy -f mpegts 'srt://127.0.0.1:{p}?passphrase=correct-horse&pbkeylen=24'", peers: []string{"recv srt://:{p}?mode=listener&passphrase=correct-horse"}},
	{name: "stream id with a raw #", args: re + "-c copy -f mpegts 'srt://127.0.0.1:{p}?streamid=#!::r=live/x,m=publish&latency=200000'", peers: []string{"recv srt://:{p}?mode=listener"}, id: "#!::r=live/x,m=publish", latency: 200},
	{name: "stream id with a plain percent sign", args: re + "-c copy -f mpegts 'srt://127.0.0.1:{p}?streamid=100%,b'", peers: []string{"recv srt://:{p}?mode=listener"}, id: "100%,b"},
	{name: "stream id in front", args: re + "-c copy -srt_streamid '#!::r=100%,u=a b' -f mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}, id: "#!::r=100%,u=a b"},
	{name: "short packets", args: re + "-c copy -pkt_size 752 -f mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}, long: 752},
	{name: "several options", args: re + "-c copy -f mpegts 'srt://127.0.0.1:{p}?pkt_size=1316&transtype=live&tlpktdrop=1&nakreport=1&oheadbw=50&sndbuf=8000000&lossmaxttl=20&linger=1&smoother=live'", peers: []string{"recv srt://:{p}?mode=listener"}},
	{name: "IPv6", args: re + "-c copy -f mpegts 'srt://[::1]:{p}?latency=200000'", peers: []string{"recv srt://[::1]:{p}?mode=listener"}, latency: 200},
	{name: "video alone", args: re + "-map 0:v:0 -map -0:a? -c copy -f mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}, other: true},
	{name: "transcoded", args: re + "-map 0 -flags +bitexact -c:v mpeg2video -threads 1 -b:v 500k -g 12 -vf scale=160:90 -c:a mp2 -b:a 128k " + flatOut + "srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}, other: true},
	{name: "format by name", args: re + "-c copy srt://127.0.0.1:{p}?streamid=live/x.ts", peers: []string{"recv srt://:{p}?mode=listener"}, id: "live/x.ts"},
	{name: "no transport stream", args: re + "-c copy -f nut srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}},
	{name: "fifo", args: re + "-map 0 -c copy -flags +global_header -f fifo -fifo_format mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}},
	{name: "fifo with options of what is behind it", args: re + "-map 0 -c copy -flags +global_header -f fifo -fifo_format mpegts -format_opts latency=210000:mpegts_flags=resend_headers srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}, latency: 210},
	{name: "host by name", args: re + "-c copy -f mpegts srt://localhost:{p}", peers: []string{"recv srt://127.0.0.1:{p}?mode=listener"}},
	{name: "keys of UDP", args: re + "-c copy -f mpegts 'srt://127.0.0.1:{p}?pkt_size=940&overrun_nonfatal=1&fifo_size=50000000'", peers: []string{"recv srt://:{p}?mode=listener"}, long: 940, said: "fifo_size"},
	{name: "an address in metadata", args: re + "-map 0 -c copy -metadata comment=srt://h:1?latency=5 -metadata:s:v:0 title=srt://h:1 -f mpegts srt://127.0.0.1:{p} -map 0 -c copy -metadata comment=srt://h:1?latency=5 {dir}/out.mkv", peers: []string{"recv srt://:{p}?mode=listener"}, files: []string{"out.mkv"}},
	{name: "time limits", args: re + "-c copy -rw_timeout 9000000 -timeout 9000000 -f mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}},
	{name: "standard input", stdin: true, args: "ffmpeg -v error -re -f mpegts -i pipe:0 -map 0 -c copy -latency 170000 -f mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}, latency: 170},
	{name: "trailing option", args: re + "-y -c copy -f mpegts srt://127.0.0.1:{p} -latency 5", peers: []string{"recv srt://:{p}?mode=listener"}, latency: 120},

	{name: "RTP", args: re + "-map 0 -c copy -f rtp_mpegts srt://127.0.0.1:{p}", peers: []string{"refuse srt://:{p}?mode=listener"}, said: "-f mpegts is carried"},

	// Several outputs.
	{name: "tee", args: re + "-map 0 -c copy -f tee '[f=mpegts]srt://127.0.0.1:{p}?streamid=a|[f=mpegts:onfail=ignore]srt://127.0.0.1:{q}?streamid=b|{dir}/out.ts'",
		peers: []string{"recv srt://:{p}?mode=listener", "recv srt://:{q}?mode=listener"}, files: []string{"out.ts"}, id: "a"},
	{name: "tee with options inside", args: re + `-map 0 -c copy -f tee '[f=mpegts:latency=200000:passphrase=a\\:b\\]c\|d123]srt://127.0.0.1:{p}|[select=v:f=mpegts]srt://127.0.0.1:{q}'`,
		peers: []string{"recv srt://:{p}?mode=listener&passphrase=a:b]c|d123", "recv srt://:{q}?mode=listener"}, other: true, latency: 200},
	{name: "tee with fifos", args: re + `-map 0 -c copy -f tee '[f=mpegts:use_fifo=1:fifo_options=drop_pkts_on_overflow=1\\\:queue_size=600:latency=200000]srt://127.0.0.1:{p}|[f=mpegts:onfail=ignore]srt://127.0.0.1:{q}'`,
		peers: []string{"recv srt://:{p}?mode=listener", "recv srt://:{q}?mode=listener"}, latency: 200},
	{name: "outputs with options of their own", args: re + "-map 0 -c copy -f mpegts -latency 200000 srt://127.0.0.1:{p} -map 0:a -c copy -f mpegts -latency 300000 srt://127.0.0.1:{q} -map 0 -c copy {dir}/out.mkv",
		peers: []string{"recv srt://:{p}?mode=listener", "recv srt://:{q}?mode=listener"}, files: []string{"out.mkv"}, other: true, latency: 200},

	// Listening, with FFmpeg's meaning of its options.
	{name: "listening output", args: re + "-c copy -f mpegts srt://:{p}?mode=listener", peers: []string{"recv srt://127.0.0.1:{p}"}},
	{name: "listening output, in front", args: re + "-c copy -mode listener -latency 150000 -f mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://127.0.0.1:{p}"}, latency: 150},
	{name: "listening output with a limit", args: re + "-c copy -listen_timeout 900000 -f mpegts srt://:{p}?mode=listener", peers: []string{"recv srt://127.0.0.1:{p}"}},
	{name: "listening output with a limit of writing", args: re + "-c copy -rw_timeout 700000 -f mpegts srt://:{p}?mode=listener", peers: []string{"late srt://127.0.0.1:{p}"}, said: "rw_timeout"},
	{name: "listening output without a viewer", args: re + "-c copy -listen_timeout 600000 -f mpegts srt://:{p}?mode=listener", code: 1},

	// Receiving.
	{name: "calling input", flags: once, args: "ffmpeg -nostdin -v error " + fastIn + "-i srt://127.0.0.1:{p} -map 0 -c copy -f mpegts {dir}/out.ts", peers: []string{"send srt://:{p}?mode=listener"}, files: []string{"out.ts"}},
	{name: "listening input", flags: once, args: "ffmpeg -nostdin -v error " + fastIn + "-latency 200000 -mode listener -i srt://:{p} -map 0 -c copy -f mpegts {dir}/out.ts", peers: []string{"send srt://127.0.0.1:{p}"}, files: []string{"out.ts"}},
	{name: "encrypted input", flags: once, args: "ffmpeg -nostdin -v error " + fastIn + "-passphrase 'correct horse' -i srt://:{p}?mode=listener -map 0 -c copy -f mpegts {dir}/out.ts", peers: []string{"send srt://127.0.0.1:{p}?passphrase=correct%20horse&pbkeylen=32"}, files: []string{"out.ts"}},
	{name: "part of an input", args: "ffmpeg -nostdin -v error " + fastIn + "-i srt://127.0.0.1:{p} -map 0:v -c copy -frames:v 20 -f mpegts {dir}/out.ts", peers: []string{"long srt://:{p}?mode=listener"}, files: []string{"out.ts"}, other: true},
	{name: "two inputs", flags: once, args: "ffmpeg -nostdin -v error " + fastIn + "-i srt://127.0.0.1:{p} " + fastIn + "-latency 150000 -i srt://127.0.0.1:{q} -map 0:v -map 1:a -c copy -f mpegts {dir}/out.ts",
		peers: []string{"send srt://:{p}?mode=listener", "send srt://:{q}?mode=listener"}, files: []string{"out.ts"}},
	{name: "input to output", flags: once, args: "ffmpeg -nostdin -v error " + fastIn + "-i srt://127.0.0.1:{p} -map 0 -c copy -f mpegts -latency 180000 srt://127.0.0.1:{q}?streamid=r",
		peers: []string{"recv srt://:{q}?mode=listener", "send srt://:{p}?mode=listener"}, id: "r", latency: 180},
	{name: "limit of reading", args: "ffmpeg -nostdin -v error " + fastIn + "-rw_timeout 900000 -i srt://127.0.0.1:{p} -map 0 -c copy -f mpegts {dir}/out.ts", peers: []string{"still srt://:{p}?mode=listener"}, files: []string{"out.ts"}},
	{name: "an input that is sought in", flags: once, args: "ffmpeg -nostdin -v error " + fastIn + "-ss 0.5 -i srt://127.0.0.1:{p} -map 0 -c copy -f mpegts {dir}/out.ts", peers: []string{"send srt://:{p}?mode=listener"}, files: []string{"out.ts"}, other: true},
	{name: "an input that begins again", flags: once, args: "ffmpeg -nostdin -v error " + fastIn + "-stream_loop 1 -i srt://127.0.0.1:{p} -map 0 -c copy -f mpegts {dir}/out.ts", peers: []string{"send srt://:{p}?mode=listener"}, files: []string{"out.ts"}},
	{name: "standard output", flags: once, args: "ffmpeg -nostdin -v error " + fastIn + "-i srt://127.0.0.1:{p} -map 0 -c copy -f mpegts -", peers: []string{"send srt://:{p}?mode=listener"}, files: []string{"stdout"}},
	{name: "a filter that reads", args: `ffmpeg -nostdin -v error -f lavfi -i 'movie=srt\\://127.0.0.1\\:{p}:f=mpegts' -frames:v 5 -c:v rawvideo -f nut {dir}/out.nut`, peers: []string{"long srt://:{p}?mode=listener"}, files: []string{"out.nut"}, other: true, said: "cannot be replaced"},
	{name: "whitelist", flags: once, args: "ffmpeg -nostdin -v error -protocol_whitelist file,udp,srt " + fastIn + "-i srt://127.0.0.1:{p} -map 0 -c copy -f mpegts {dir}/out.ts", peers: []string{"send srt://:{p}?mode=listener"}, files: []string{"out.ts"}},
	{name: "ffprobe", args: "ffprobe -v error -show_entries stream=codec_name,width,height,sample_rate -latency 80000 -of json srt://127.0.0.1:{p}", peers: []string{"send srt://:{p}?mode=listener"}, stdout: true},
	{name: "ffplay", flags: once, args: "env SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy ffplay -v error -autoexit -nodisp -latency 80000 srt://127.0.0.1:{p}", peers: []string{"send srt://:{p}?mode=listener"}},
	{name: "mpv", flags: once, args: "mpv --no-config --msg-level=all=error --vo=null --ao=null --stream-lavf-o=latency=90000 srt://127.0.0.1:{p}", peers: []string{"send srt://:{p}?mode=listener"}},
	{name: "nice", args: "nice -n 1 " + re + "-c copy -latency 130000 -f mpegts srt://127.0.0.1:{p}", peers: []string{"recv srt://:{p}?mode=listener"}, latency: 130},

	// Failing.
	{name: "wrong passphrase", args: re + "-c copy -f mpegts srt://127.0.0.1:{p}?passphrase=not-the-right-one", peers: []string{"refuse srt://:{p}?mode=listener&passphrase=correct-horse"}, code: 1, said: "passphrase"},
	{name: "nobody there", args: re + "-c copy -connect_timeout 600 -f mpegts srt://127.0.0.1:{p}", code: 1},
	{name: "nobody there to receive from", args: "ffmpeg -nostdin -v error -i srt://127.0.0.1:{p}?connect_timeout=600 -c copy -f null -", code: 1},
	{name: "nobody calls", args: "ffmpeg -nostdin -v error -listen_timeout 600000 -i srt://:{p}?mode=listener -c copy -f null -", code: 1},
	{name: "no format", args: re + "-c copy srt://127.0.0.1:{p}", code: 1},
	{name: "no such file", args: "ffmpeg -nostdin -v error -i {dir}/none.ts -c copy -f mpegts srt://127.0.0.1:{p}", code: 1},
	{name: "a failing output that is ignored", args: re + "-map 0 -c copy -f tee '[f=mpegts:onfail=ignore:connect_timeout=500]srt://127.0.0.1:{p}|{dir}/out.ts'", files: []string{"out.ts"}},
}

// inShort are those of the lines that run in a short test.
var inShort = []string{"latency in front", "encrypted, options in front", "stream id with a raw #", "tee with options inside",
	"listening output", "listening input", "two inputs", "ffprobe", "wrong passphrase", "nobody there", "no format"}

func TestExecBehavesAsWithoutIt(t *testing.T) {
	for _, l := range lines {
		if testing.Short() && !contains(inShort, l.name) {
			continue
		}
		t.Run(strings.ReplaceAll(l.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			var direct, with run1
			t.Run("direct", func(t *testing.T) { t.Parallel(); direct = l.run(t, nil) })
			t.Run("exec", func(t *testing.T) {
				t.Parallel()
				with = l.run(t, append(append([]string{bench.weirline, "exec"}, words(l.flags)...), "--"))
			})
			t.Cleanup(func() { l.compare(t, direct, with) })
		})
	}
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// run1 is what came of one run.
type run1 struct {
	media  map[string]frames
	stdout string
}

func (l line) run(t *testing.T, before []string) run1 {
	dir := t.TempDir()
	fill := strings.NewReplacer("{in}", bench.short, "{dir}", dir, "{p}", strconv.Itoa(port.Free(t)), "{q}", strconv.Itoa(port.Free(t))).Replace
	peers := l.begin(t, fill)
	var out bytes.Buffer
	var in io.Reader
	if l.stdin {
		f, err := os.Open(bench.short)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in = f
	}
	prog := start(t, in, &out, append(before, words(fill(l.args))...)...)
	if code := prog.Code(); code != l.code {
		t.Errorf("exit code %d, want %d", code, l.code)
	}
	if before != nil && !strings.Contains(prog.Said.String(), l.said) {
		t.Errorf("it does not say %q", l.said)
	}
	r := run1{media: map[string]frames{}, stdout: out.String()}
	for name, p := range peers {
		r.media[name] = framesOf(t, p.file())
	}
	if err := os.WriteFile(filepath.Join(dir, "stdout"), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range l.files {
		r.media[name] = framesOf(t, filepath.Join(dir, name))
	}
	return r
}

// begin starts the peers and returns those whose media is compared: recv. late
// calls late, refuse is not asked for media; send sends the clip, long a longer
// one, still the clip and then nothing.
func (l line) begin(t *testing.T, fill func(string) string) map[string]*peer {
	peers := map[string]*peer{}
	for i, p := range l.peers {
		role, url, _ := strings.Cut(fill(p), " ")
		switch role {
		case "send":
			send(t, url, bench.short, 2)
		case "long":
			send(t, url, bench.long, 6)
		case "still":
			sendAndStay(t, url, bench.short, 2)
		case "late":
			peers[p] = receiveAfter(t, 1500*time.Millisecond, url)
		default:
			r := receive(t, url)
			if i == 0 {
				t.Cleanup(func() { l.wantOffer(t, r) })
			}
			if role == "recv" {
				peers[p] = r
			}
		}
	}
	return peers
}

// wantOffer holds what the first peer saw against what the line asks for.
func (l line) wantOffer(t *testing.T, p *peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id != l.id {
		t.Errorf("stream id %q, want %q", p.id, l.id)
	}
	if l.latency != 0 && p.lat[0] != l.latency {
		t.Errorf("latency %d, want %d", p.lat[0], l.latency)
	}
	if l.long != 0 && p.long != l.long {
		t.Errorf("longest message %d, want %d", p.long, l.long)
	}
}

// compare wants all of the clip with weirline, and of FFmpeg alone nothing else:
// it may lose some, at the end and, on a busy machine, whatever came too late.
func (l line) compare(t *testing.T, direct, with run1) {
	if t.Failed() {
		return
	}
	if l.stdout && direct.stdout != with.stdout {
		t.Errorf("alone it prints\n%s\nwith weirline\n%s", direct.stdout, with.stdout)
	}
	for name, f := range with.media {
		want := f
		if !l.other {
			want = framesOfClip(t, bench.short)
			f.wantAll(t, "with weirline, "+name, want)
		}
		share, strangers := direct.media[name].compare(want)
		if share < 0.8 {
			t.Logf("alone, %s: %.1f %% of what comes with weirline", name, 100*share)
		}
		if share < 0.1 || strangers > 2*len(want) || len(want) == 0 {
			t.Errorf("alone, %s: %.1f %% of what comes with weirline, and %d frames that do not", name, 100*share, strangers)
		}
	}
}
