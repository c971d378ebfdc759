// Package examples runs the programs under examples/ against each other.
//
// Lives here: black-box tests of the examples. May import: the standard library.
// Never: srtcore; what is tested is what a reader copies.
package examples

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
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

// ends waits for a command, not for ever.
func ends(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	timer := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v\n%v", cmd.Args, err, cmd.Stderr)
	}
}

func TestSendToReceive(t *testing.T) {
	sender, receiver := build(t, "send"), build(t, "receive")
	port, want := strconv.Itoa(port.Free(t)), content(200_000)
	recv := exec.Command(receiver, "srt://127.0.0.1:"+port+"?mode=listener&latency=120")
	var got, said bytes.Buffer
	recv.Stdout, recv.Stderr = &got, &said
	if err := recv.Start(); err != nil {
		t.Fatal(err)
	}
	send := exec.Command(sender, "srt://127.0.0.1:"+port+"?latency=120")
	send.Stdin = bytes.NewReader(want)
	if out, err := send.CombinedOutput(); err != nil {
		recv.Process.Kill()
		t.Fatalf("send: %v\n%s", err, out)
	}
	ends(t, recv)
	if sha256.Sum256(got.Bytes()) != sha256.Sum256(want) {
		t.Errorf("received %d bytes, sent %d", got.Len(), len(want))
	}
	if !strings.Contains(said.String(), "152 packets, 0 lost") {
		t.Errorf("statistics: %q", said.String())
	}
}

func TestPublishDecides(t *testing.T) {
	sender, publish := build(t, "send"), build(t, "publish")
	port := strconv.Itoa(port.Free(t))
	server := exec.Command(publish, "127.0.0.1:"+port)
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	base := "srt://127.0.0.1:" + port + "?streamid=#!::r="
	for _, tc := range []struct{ query, want string }{
		{"cam1,m=publish&passphrase=first camera", ""},
		{"cam1,m=publish&passphrase=wrong camera", "secret"},
		{"cam9,m=publish&passphrase=first camera", "not found"},
		{"cam1,m=request&passphrase=first camera", "mode"},
	} {
		send := exec.Command(sender, base+tc.query)
		send.Stdin = bytes.NewReader(content(13160))
		out, err := send.CombinedOutput()
		if (err == nil) != (tc.want == "") || !strings.Contains(string(out), tc.want) {
			t.Errorf("%s: %v %q, want %q", tc.query, err, out, tc.want)
		}
	}
	line, err := bufio.NewReader(io.LimitReader(said, 4096)).ReadString('\n')
	if err != nil || !strings.Contains(line, "13160 bytes") {
		t.Errorf("publish said %q (%v)", line, err)
	}
}
