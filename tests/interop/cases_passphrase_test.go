package interop

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secretOf is a passphrase of n bytes that no text contains by accident.
func secretOf(n int) string { return strings.Repeat("~", n) }

// C05: passphrases of every length that is allowed work with libsrt, whoever
// sends and whoever calls, and never show.
func TestC05PassphraseLengths(t *testing.T) {
	t.Parallel()
	passes := []string{secretOf(10), secretOf(11), strings.Repeat("本", 10), secretOf(63), secretOf(64), secretOf(79), secretOf(80)}
	for i, pass := range passes {
		for j, f := range []field{{from: weirline, to: slt}, {from: slt, to: weirline}} {
			f.callerSends = (i+j)%2 == 0
			f.spec = spec{keyLen: 16 + 8*(i%3), pass: pass}
			f.want = 60 * message
			t.Run(fmt.Sprintf("%d_%s_sends_%v", len(pass), f.from.name, f.callerSends), func(t *testing.T) {
				t.Parallel()
				l := f.open(t)
				data := transportStream(uint64(i), 60)
				if !f.from.ours {
					data = append(data, bytes.Repeat(nullPacket(), 7*padding)...)
				}
				if err := pace(l.snd, data, 200*message*8); err != nil {
					t.Error(err)
				}
				l.finish(t, l.snd, l.rcv)
				wantPrefix(t, l.sink.bytes(), data, f.want)
				for _, end := range []any{l.snd, l.rcv} {
					if p := end.(*process); p.Cmd.Path == binary && strings.Contains(p.Said.String(), pass) {
						t.Errorf("the passphrase shows: %s", p.Said.String())
					}
				}
			})
		}
	}
}

// C05: 1 to 9 bytes and more than 80 are refused by every front end, before any
// packet, with the range and without the secret.
func TestC05RefusedPassphrases(t *testing.T) {
	t.Parallel()
	nobody := newSilentPort(t)
	daemonAt, d := daemon(t)
	file := filepath.Join(t.TempDir(), "secret")
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 81, 82, 200} {
		secret := secretOf(n)
		if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		target := "srt://" + nobody.addr() + "?passphrase=" + secret
		for front, got := range map[string]struct {
			outcome
			want int
		}{
			"relay to":   {runBinary(t, "relay", "-", target), 2},
			"relay from": {runBinary(t, "relay", target, "-"), 2},
			"a file":     {runBinary(t, "relay", "--passphrase-file", file, "-", "srt://"+nobody.addr()), 2},
			"bench":      {runBinary(t, "bench", "send", "--port", "9", "--streams", "1", "--secs", "0.1", "--passphrase", secret), 2},
			"PUT":        {put(t, daemonAt, "PUT", "/"+target), 400},
			"GET":        {put(t, daemonAt, "GET", "/"+target), 400},
		} {
			if got.code != got.want {
				t.Errorf("%s, %d bytes: ended with %d, want %d", front, n, got.code, got.want)
			}
			got.wantSays(t, fmt.Sprintf("%s, %d bytes", front, n), "10..80 bytes")
			if strings.Contains(got.said, "~") {
				t.Errorf("%s, %d bytes: the passphrase shows: %s", front, n, got.said)
			}
		}
	}
	if strings.Contains(d.Said.String(), "~") {
		t.Errorf("the passphrase shows: %s", d.Said.String())
	}
	nobody.wantSilence(t)
}
