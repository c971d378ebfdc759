package interop

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the weirline program, built once for all tests.
var binary string

// parallel is how many connections run at a time: each spends nearly all its
// time waiting for the next packet to be due.
const parallel = "6"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	dir, err := os.MkdirTemp("", "weirline-interop-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "weirline")
	build := exec.Command("go", "build", "-o", binary, "../../sidecar/cmd/weirline")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building weirline: %v\n%s", err, out)
		return 2
	}
	return m.Run()
}

// full says whether the whole matrix runs, or a part in which every value meets
// every program.
func full() bool { return os.Getenv("WEIRLINE_INTEROP") == "full" }
