// Package examples runs the programs under examples/ against each other.
//
// Lives here: black-box tests of the examples. May import: tests/port,
// tests/proctest.
// Never: srtcore; what is tested is what a reader copies.
package examples

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// build builds one example and returns its path.
func build(t *testing.T, name string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-o", bin, "./examples/"+name)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return bin
}

// content is n bytes that no two tests confuse.
func content(n int) []byte {
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{1, 2, 3})
	rng.Read(b)
	return b
}

func TestSendToReceive(t *testing.T) {
	sender, receiver := build(t, "send"), build(t, "receive")
	port, want := strconv.Itoa(port.Free(t)), content(200_000)
	var got bytes.Buffer
	recv := proctest.Start(t, proctest.Program{Args: []string{receiver, "srt://127.0.0.1:" + port + "?mode=listener&latency=120"}, Out: &got})
	send := proctest.Start(t, proctest.Program{Args: []string{sender, "srt://127.0.0.1:" + port + "?latency=120"}, In: bytes.NewReader(want)})
	send.WantCode(0)
	recv.WantCode(0)
	if sha256.Sum256(got.Bytes()) != sha256.Sum256(want) {
		t.Errorf("received %d bytes, sent %d", got.Len(), len(want))
	}
	if said := recv.Said.String(); !strings.Contains(said, "152 packets, 0 lost") {
		t.Errorf("statistics: %q", said)
	}
}

func TestPublishDecides(t *testing.T) {
	sender, publish := build(t, "send"), build(t, "publish")
	port := strconv.Itoa(port.Free(t))
	server := proctest.Start(t, proctest.Program{Args: []string{publish, "127.0.0.1:" + port}})
	base := "srt://127.0.0.1:" + port + "?streamid=#!::r="
	for _, tc := range []struct{ query, want string }{
		{"cam1,m=publish&passphrase=first camera", ""},
		{"cam1,m=publish&passphrase=wrong camera", "secret"},
		{"cam9,m=publish&passphrase=first camera", "not found"},
		{"cam1,m=request&passphrase=first camera", "mode"},
	} {
		send := proctest.Start(t, proctest.Program{Args: []string{sender, base + tc.query}, In: bytes.NewReader(content(13160)), SayAll: true})
		code, said := send.Code(), send.Said.String()
		if (code == 0) != (tc.want == "") || !strings.Contains(said, tc.want) {
			t.Errorf("%s: exit code %d, %q, want %q", tc.query, code, said, tc.want)
		}
	}
	proctest.Eventually(t, "publish tells of no 13160 bytes", func() bool { return strings.Contains(server.Said.String(), "13160 bytes") })
}
