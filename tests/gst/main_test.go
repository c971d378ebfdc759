package gst

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weirline/weirline/tests/proctest"
)

// lab is what all tests share: a folder of their own, the environment in which
// GStreamer finds the plugin under test, and the plugin's file.
var lab struct {
	dir, plugin string
	env         []string
}

// parallel is how many pipelines run at a time: each spends nearly all its time
// waiting for the next packet to be due.
const parallel = "6"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer os.RemoveAll(lab.dir)
	return m.Run()
}

func prepare() error {
	if err := flag.Set("test.parallel", parallel); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "weirline-gst-")
	if err != nil {
		return err
	}
	lab.dir = dir
	plugins := os.Getenv("WEIRLINE_GST_PLUGINS")
	if plugins == "" {
		plugins = dir
		if err := buildPlugin(dir); err != nil {
			return err
		}
	}
	if plugins, err = filepath.Abs(plugins); err != nil {
		return err
	}
	lab.plugin = filepath.Join(plugins, "libgstsrtgo.so")
	// A registry of our own: neither what is installed here nor what was scanned
	// before decides which plugin is tested.
	lab.env = append(os.Environ(), "GST_PLUGIN_PATH="+plugins, "GST_REGISTRY="+filepath.Join(dir, "registry.bin"),
		"XDG_DATA_HOME="+filepath.Join(dir, "data"), "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8", "GST_DEBUG_NO_COLOR=1")
	scan := exec.Command("gst-inspect-1.0", "srtgosrc")
	scan.Env = lab.env
	if out, err := scan.CombinedOutput(); err != nil {
		return fmt.Errorf("gst-inspect-1.0 srtgosrc: %v\n%s", err, out)
	}
	return nil
}

// buildPlugin builds the shared object as make plugin does.
func buildPlugin(dir string) error {
	if err := exec.Command("pkg-config", "--exists", "gstreamer-base-1.0").Run(); err != nil {
		return fmt.Errorf("no GStreamer to build the plugin with; install the package libgstreamer1.0-dev (make deps): %w", err)
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared",
		"-o", filepath.Join(dir, "libgstsrtgo.so"), "../../gstplugin/plugin")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the plugin: %v\n%s", err, out)
	}
	return nil
}

// short says that only a part of some tests runs.
func short() bool { return testing.Short() }

// long is for tests that -short leaves out: those that measure and want a machine
// of their own, and those that take long.
func long(t *testing.T) {
	t.Helper()
	if short() {
		t.Skip("left out by -short")
	}
}

// needGStreamer wants the tools, the stock elements and the libraries.
func needGStreamer(t *testing.T) {
	t.Helper()
	proctest.Need(t, "gstreamer1.0-tools", "gst-launch-1.0", "--version")
	proctest.Need(t, "gstreamer1.0-plugins-bad", "gst-inspect-1.0", "--exists", "srtsrc")
	proctest.Need(t, "libgstreamer1.0-dev", "pkg-config", "--exists", "gstreamer-base-1.0")
}

// python is Debian's own interpreter, for which python3-gi is packaged; another
// one may come first in PATH.
func python() string {
	if p := os.Getenv("PYTHON"); p != "" {
		return p
	}
	return "/usr/bin/python3"
}

func needPython(t *testing.T) {
	t.Helper()
	needGStreamer(t)
	proctest.Need(t, "python3-gi gir1.2-gstreamer-1.0", python(), "-c",
		"import gi; gi.require_version('Gst', '1.0'); from gi.repository import Gst")
}

// load is the C program that plays the load, built once.
var load = sync.OnceValues(func() (string, error) {
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "gstreamer-1.0", "gstreamer-app-1.0").Output()
	if err != nil {
		return "", fmt.Errorf("pkg-config: %w", err)
	}
	bin := filepath.Join(lab.dir, "load")
	args := append([]string{"-O2", "-Wall", "-Wextra", "-Werror", "-o", bin, "drive/load.c"}, strings.Fields(string(flags))...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("gcc: %w\n%s", err, out)
	}
	return bin, nil
})

func needLoad(t *testing.T) string {
	t.Helper()
	needGStreamer(t)
	proctest.Need(t, "gcc", "gcc", "--version")
	proctest.Need(t, "libgstreamer-plugins-base1.0-dev", "pkg-config", "--exists", "gstreamer-app-1.0")
	bin, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}
