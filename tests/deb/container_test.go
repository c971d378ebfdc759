package deb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestContainer builds what the container file describes, an image of two files,
// and runs it as a container does: in that root, as that user, with a
// configuration mounted over its own.
func TestContainer(t *testing.T) {
	requirePackage(t)
	root := filepath.Join(t.TempDir(), "image")
	user, command := "", []string{}
	for line := range strings.Lines(packaged(t, "Containerfile")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "FROM":
			if rest != "scratch" {
				t.Errorf("it begins with %s", rest)
			}
		case "COPY":
			from, to, _ := strings.Cut(rest, " ")
			copyFile(t, filepath.Join("../..", from), filepath.Join(root, to))
		case "USER":
			user = rest
		case "ENTRYPOINT", "CMD":
			for _, w := range strings.Split(strings.Trim(rest, "[]"), ",") {
				command = append(command, strings.Trim(strings.TrimSpace(w), `"`))
			}
		}
	}
	if user == "" || strings.HasPrefix(user, "0") || len(command) == 0 {
		t.Fatalf("user %q, command %q", user, command)
	}
	p := portsOf(t)
	write(t, root, configuration(p))
	d := startProgram(t, root, nil, append([]string{"--userspec=" + user, root}, command...)...)
	d.notice(t, "READY=1")
	d.wantUnprivileged(t)
	wantHealthy(t, p)
	wantCarried(t, p)
	d.stop(t)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatalf("%v: make build makes the binary", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o755); err != nil {
		t.Fatal(err)
	}
}
