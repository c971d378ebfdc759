package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// RunOptions are those of Run.
type RunOptions struct {
	Profile string
	Secs    float64
	Target  string // a server of the user's, see target; empty: a receiver of our own
	Program string // what understands "bench send" and "bench recv"; empty: this one
}

// load is a named load: options of both sides, and of the sender alone.
type load struct {
	name, text   string
	common, send string
}

var loads = []load{
	{"P1", "1 x 50 Mbit/s, latency 120 ms", "--streams 1 --latency 120", "--mbps 50"},
	{"P2", "32 x 10 Mbit/s, latency 20 ms, TLPKTDROP off", "--streams 32 --latency 20 --tlpktdrop 0", "--mbps 10"},
	{"P3", "32 x 62.5 Mbit/s, latency 120 ms", "--streams 32 --latency 120", "--mbps 62.5"},
	{"P4", "P2 with AES-128", "--streams 32 --latency 20 --tlpktdrop 0 --passphrase benchmark-secret-1 --pbkeylen 16", "--mbps 10"},
	{"P6", "256 x 1.25 Mbit/s, latency 120 ms", "--streams 256 --latency 120", "--mbps 1.25"},
	{"P7", "1 connection, as fast as it goes", "--streams 1 --latency 120 --tlpktdrop 0 --maxbw 1250000000 --fc 60000 --rcvbuf 87360000 --sndbuf 87360000", "--unpaced"},
	{"K1000", "1,000 x 100 kbit/s, latency 120 ms", "--streams 1000 --latency 120", "--mbps 0.1"},
}

// Profiles lists the loads of Run, one a line.
func Profiles() string {
	var b strings.Builder
	for _, l := range loads {
		fmt.Fprintf(&b, "  %-6s %s\n", l.name, l.text)
	}
	return b.String()
}

func findLoad(name string) (load, error) {
	var names []string
	for _, l := range loads {
		if l.name == name {
			return l, nil
		}
		names = append(names, l.name)
	}
	return load{}, fmt.Errorf("--profile %q is unknown: allowed %s", name, strings.Join(names, ", "))
}

// Check says what is wrong with o.
func (o RunOptions) Check() error {
	if o.Secs <= 0 {
		return errors.New("--secs must be above 0")
	}
	if o.Target != "" {
		if _, err := parseTarget(o.Target); err != nil {
			return err
		}
	}
	_, err := findLoad(o.Profile)
	return err
}

// side is one process of a run.
type side struct {
	cmd    *exec.Cmd
	out    bytes.Buffer
	listen *sign
}

func startSide(ctx context.Context, program, role string, args []string) (*side, error) {
	s := &side{
		cmd:    exec.CommandContext(ctx, program, append([]string{"bench", role}, args...)...),
		listen: &sign{want: []byte("listening"), seen: make(chan struct{})},
	}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, s.listen
	s.cmd.WaitDelay = time.Second
	return s, s.cmd.Start()
}

// result waits for the end and reads the line of JSON.
func (s *side) result() (map[string]any, error) {
	err := s.cmd.Wait()
	line := map[string]any{}
	if jerr := json.Unmarshal(s.out.Bytes(), &line); jerr != nil {
		return nil, fmt.Errorf("no result: %w: %s", errors.Join(err, jerr), s.listen.text())
	}
	if text, ok := line["error"].(string); ok {
		return nil, errors.New(text)
	}
	return line, err
}

// sign is a writer that tells when it has seen a word.
type sign struct {
	want []byte
	seen chan struct{}

	mu   sync.Mutex
	all  []byte
	told bool
}

// Write implements io.Writer.
func (s *sign) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, p...)
	if !s.told && bytes.Contains(s.all, s.want) {
		s.told = true
		close(s.seen)
	}
	return len(p), nil
}

func (s *sign) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.all))
}

// Run runs a sender and a receiver, each a process of its own, or a sender
// against a server of the user's, and prints a table and one line of JSON. It
// returns the process's exit code.
func Run(ctx context.Context, o RunOptions, out, errOut io.Writer) int {
	l, err := findLoad(o.Profile)
	if err == nil && o.Program == "" {
		o.Program, err = os.Executable()
	}
	if err != nil {
		fail(out, "run", "start", err)
		return 2
	}
	fmt.Fprintf(errOut, "%s: %s, %g s\n", l.name, l.text, o.Secs)
	sent, got, err := runBoth(ctx, o, l)
	if err != nil {
		fail(out, "run", l.name, err)
		return 2
	}
	return reportRun(out, l, o, sent, got)
}

func runBoth(ctx context.Context, o RunOptions, l load) (sent, got map[string]any, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration((o.Secs+60)*float64(time.Second)))
	defer cancel()
	at, err := o.where()
	if err != nil {
		return nil, nil, err
	}
	args := append([]string{"--host", at.host, "--port", at.port, "--secs", fmt.Sprint(o.Secs)}, strings.Fields(l.common)...)
	args = append(args, at.args...) // the target's own come last and hold
	var rcv *side
	if o.Target == "" {
		if rcv, err = startSide(ctx, o.Program, "recv", args); err != nil {
			return nil, nil, err
		}
		select {
		case <-rcv.listen.seen:
		case <-time.After(5 * time.Second):
			cancel()
			_, rerr := rcv.result()
			return nil, nil, fmt.Errorf("the receiver does not listen: %w", rerr)
		}
	}
	snd, err := startSide(ctx, o.Program, "send", append(args, strings.Fields(l.send)...))
	if err == nil {
		sent, err = snd.result()
	}
	if err != nil {
		cancel()
	}
	if rcv == nil {
		return sent, nil, err
	}
	got, rerr := rcv.result()
	return sent, got, errors.Join(err, rerr)
}

func freePort() (string, error) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return "", err
	}
	defer c.Close()
	return strconv.Itoa(c.LocalAddr().(*net.UDPAddr).Port), nil
}
