// Package deb tests the Debian package in a fresh root: it installs, the daemon
// starts as its own user, serves, stops, and leaves nothing behind.
//
// Lives here: the test, and nothing else. May import: srtcore, to publish and
// play. Never: sidecar; the package is seen from outside.
package deb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

func TestPackage(t *testing.T) {
	requirePackage(t)
	root := freshRoot(t)
	inside(t, root, "dpkg", "-i", "/weirline.deb")
	t.Cleanup(func() { killInside(root) })
	wantUser(t, root)
	verifyUnit(t, root)
	p := portsOf(t)
	write(t, root, configuration(p))
	inside(t, root, "weirline", "check-config", configFile)

	d := start(t, root, nil)
	d.notice(t, "READY=1")
	d.wantUnprivileged(t)
	wantHealthy(t, p)
	wantCarried(t, p)
	d.stop(t)
	wantActivated(t, root, p)

	inside(t, root, "dpkg", "-r", "weirline")
	wantFile(t, root, "/usr/bin/weirline", false)
	wantFile(t, root, configFile, true)
	inside(t, root, "dpkg", "-P", "weirline")
	wantFile(t, root, configFile, false)
}

// requirePackage wants a folder with a package, and that the tests run as root.
func requirePackage(t *testing.T) {
	t.Helper()
	if os.Getenv("WEIRLINE_DEB") == "" {
		const why = "WEIRLINE_DEB names no folder with a package: run make test-deb"
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	if os.Getuid() != 0 {
		t.Fatal("a root of its own needs root: run make test-deb as root")
	}
}

const configFile = "/etc/weirline/weirline.yaml"

// freshRoot is a small Debian of the kind that runs here, from the sources of
// its packages, with the package copied in.
func freshRoot(t *testing.T) string {
	t.Helper()
	debs, _ := filepath.Glob(filepath.Join(os.Getenv("WEIRLINE_DEB"), "weirline_*.deb"))
	if len(debs) == 0 {
		t.Fatalf("no package in WEIRLINE_DEB=%q: make deb makes one", os.Getenv("WEIRLINE_DEB"))
	}
	newest := debs[0]
	for _, d := range debs {
		if modified(t, d).After(modified(t, newest)) {
			newest = d
		}
	}
	root := filepath.Join(t.TempDir(), "root")
	args := []string{"--quiet", "--variant=essential", "--include=passwd", codename(t), root}
	args = append(args, aptSources()...)
	// It passes file descriptors around and can only do that with those below 10,
	// of which whoever started this may have left it few.
	args = append([]string{"-c", `exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec mmdebstrap "$@"`, "sh"}, args...)
	if out, err := exec.Command("sh", args...).CombinedOutput(); err != nil {
		t.Fatalf("mmdebstrap: %v\n%s", err, out)
	}
	b, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "weirline.deb"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func modified(t *testing.T, path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

func codename(t *testing.T) string {
	b, err := os.ReadFile("/etc/os-release")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "VERSION_CODENAME="); ok {
			return name
		}
	}
	t.Fatal("/etc/os-release names no VERSION_CODENAME")
	return ""
}

func aptSources() (files []string) {
	for _, pattern := range []string{"/etc/apt/sources.list", "/etc/apt/sources.list.d/debian*.list", "/etc/apt/sources.list.d/debian*.sources"} {
		found, _ := filepath.Glob(pattern)
		files = append(files, found...)
	}
	return files
}

// inside runs a command in the root and returns what it printed.
func inside(t *testing.T, root string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), proctest.Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "chroot", append([]string{root}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func wantUser(t *testing.T, root string) {
	t.Helper()
	passwd := inside(t, root, "getent", "passwd", "weirline")
	if !strings.Contains(passwd, "/nologin") {
		t.Errorf("the user can log in: %s", passwd)
	}
	if got := strings.TrimSpace(inside(t, root, "stat", "-c", "%U:%G %a", configFile)); got != "root:weirline 640" {
		t.Errorf("%s belongs to %s: it may hold passphrases", configFile, got)
	}
	for _, f := range []string{"/usr/share/man/man1/weirline-serve.1.gz", "/usr/share/man/man1/weirline.1.gz",
		"/usr/share/bash-completion/completions/weirline", "/usr/share/zsh/vendor-completions/_weirline",
		"/usr/share/fish/vendor_completions.d/weirline.fish", "/usr/lib/sysusers.d/weirline.conf",
		"/usr/lib/systemd/system/weirline.service", "/usr/lib/systemd/system/weirline.socket", "/etc/default/weirline"} {
		wantFile(t, root, f, true)
	}
}

// verifyUnit has systemd read the unit, and judge how little it may do: 0 is
// nothing, 100 everything.
func verifyUnit(t *testing.T, root string) {
	t.Helper()
	for _, args := range [][]string{
		{"verify", "--root=" + root, "--man=no", "--recursive-errors=no", "weirline.service", "weirline.socket"},
		{"security", "--root=" + root, "--offline=true", "--threshold=16", "weirline.service"},
	} {
		out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
		if err != nil {
			t.Errorf("systemd-analyze %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// ports are the daemon's, and the stream that its SRT port has.
type ports struct {
	http, control, srt int
	stream             string
}

func portsOf(t *testing.T) ports {
	t.Helper()
	return ports{http: port.Free(t), control: port.Free(t), srt: port.Free(t), stream: "studio"}
}

func configuration(p ports) string {
	return fmt.Sprintf(`listen: 127.0.0.1:%d
control: { listen: "127.0.0.1:%d" }
listeners:
  - { name: main, address: "srt://127.0.0.1:%d?mode=listener&latency=100" }
routes:
  - name: studio
    sources: [ { publish: { listener: main, stream: studio } } ]
    outputs: [ { play: { listener: main, stream: studio } } ]
`, p.http, p.control, p.srt)
}

func write(t *testing.T, root, text string) {
	t.Helper()
	// In place: the package has set owner and mode.
	if err := os.WriteFile(filepath.Join(root, configFile), []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func wantHealthy(t *testing.T, p ports) {
	t.Helper()
	for path, want := range map[string]string{"/healthz": "", "/metrics": "weirline_", "/v1/routes": `studio"`} {
		rsp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", p.control, path))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(rsp.Body)
		rsp.Body.Close()
		if err != nil || rsp.StatusCode != http.StatusOK || !strings.Contains(string(b), want) {
			t.Errorf("%s: %s, %v, without %q in %d bytes", path, rsp.Status, err, want, len(b))
		}
	}
}

// wantCarried publishes to the route and plays from it.
func wantCarried(t *testing.T, p ports) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), proctest.Patience)
	defer cancel()
	at := fmt.Sprintf("127.0.0.1:%d", p.srt)
	play := call(t, ctx, at, "#!::r="+p.stream+",m=request")
	defer play.Abort()
	publish := call(t, ctx, at, "#!::r="+p.stream+",m=publish")
	defer publish.Abort()
	messages := make([][]byte, 200)
	seeded := rand.New(rand.NewPCG(1, 2))
	for i := range messages {
		m := make([]byte, 1316)
		for j := range m {
			m[j] = byte(seeded.Uint32())
		}
		for j := 0; j < len(m); j += 188 {
			m[j], m[j+1], m[j+2], m[j+3] = 0x47, 0x1f, 0xff, 0x10
		}
		messages[i] = m
	}
	go func() {
		for _, m := range messages {
			if _, err := publish.Write(m); err != nil {
				t.Errorf("publish: %v", err)
				return
			}
		}
	}()
	play.SetReadDeadline(time.Now().Add(proctest.Patience))
	got := make([]byte, 2000)
	for i, want := range messages {
		n, err := play.Read(got)
		if err != nil || !bytes.Equal(got[:n], want) {
			t.Fatalf("message %d: %d bytes, %v; want the published one", i, n, err)
		}
	}
}

func call(t *testing.T, ctx context.Context, at, streamID string) *srtcore.Conn {
	t.Helper()
	cfg := srtcore.DefaultConfig()
	cfg.StreamID = streamID
	c, err := srtcore.Dial(ctx, at, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantFile(t *testing.T, root, path string, there bool) {
	t.Helper()
	_, err := os.Lstat(filepath.Join(root, path))
	if errors.Is(err, os.ErrNotExist) == there {
		t.Errorf("%s: there is %v, want %v", path, err == nil, there)
	}
}

// killInside ends what may still run from the root, so that it can be removed.
func killInside(root string) {
	entries, _ := filepath.Glob("/proc/[0-9]*/root")
	for _, e := range entries {
		if at, err := os.Readlink(e); err == nil && at == root {
			var pid int
			fmt.Sscanf(e, "/proc/%d/root", &pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
