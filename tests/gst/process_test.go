package gst

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/proctest"
)

// start runs a program, with the plugin under test, whose output goes to out.
func start(t *testing.T, out io.Writer, argv ...string) *proctest.Process {
	t.Helper()
	return startEnv(t, nil, out, argv...)
}

func startEnv(t *testing.T, env []string, out io.Writer, argv ...string) *proctest.Process {
	t.Helper()
	return proctest.Start(t, proctest.Program{
		Args: argv, Env: append(lab.env[:len(lab.env):len(lab.env)], env...),
		Pipe: true, Out: out, Grace: 2 * time.Second,
	})
}

// launch runs a pipeline by gst-launch-1.0. --no-fault: a crash must end the
// program, not make it spin.
func launch(t *testing.T, out io.Writer, line string) *proctest.Process {
	t.Helper()
	return start(t, out, append([]string{"gst-launch-1.0", "-q", "--no-fault"}, strings.Fields(line)...)...)
}
