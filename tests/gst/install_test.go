package gst

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirline/weirline/tests/proctest"
)

// TestInstall installs by the Makefile into folders of the test's, for everybody
// and for one user, and wants gst-inspect-1.0 to find the elements there.
func TestInstall(t *testing.T) {
	long(t)
	needGStreamer(t)
	proctest.Need(t, "make", "make", "--version")
	dir := t.TempDir()
	install := func(args ...string) {
		t.Helper()
		cmd := exec.Command("make", append([]string{"-C", "../.."}, args...)...)
		// The caches stay where they are when HOME does not.
		cmd.Env = append(os.Environ(), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "XDG_DATA_HOME=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make %v: %v\n%s", args, err, out)
		}
	}
	inspect := func(env ...string) {
		t.Helper()
		cmd := exec.Command("gst-inspect-1.0", "srtgosink")
		cmd.Env = append(append(os.Environ(), "GST_PLUGIN_PATH=", "GST_REGISTRY="+filepath.Join(t.TempDir(), "registry.bin")), env...)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), dir) {
			t.Errorf("gst-inspect-1.0 with %v: %v\n%s", env, err, out)
		}
	}
	install("install-plugin", "DESTDIR="+dir)
	where, err := exec.Command("pkg-config", "--variable=pluginsdir", "gstreamer-1.0").Output()
	if err != nil {
		t.Fatal(err)
	}
	inspect("GST_PLUGIN_SYSTEM_PATH=" + filepath.Join(dir, strings.TrimSpace(string(where))))
	install("install-user", "HOME="+filepath.Join(dir, "home"))
	inspect("HOME="+filepath.Join(dir, "home"), "XDG_DATA_HOME=")
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
