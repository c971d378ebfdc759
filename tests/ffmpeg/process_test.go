package ffmpeg

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/weirline/weirline/tests/proctest"
)

// start runs a program; in and out may be nil.
func start(t *testing.T, in io.Reader, out io.Writer, argv ...string) *proctest.Process {
	t.Helper()
	return proctest.Start(t, proctest.Program{Args: argv, In: in, Out: out})
}

// weirline runs the program of this project.
func weirline(t *testing.T, args ...string) *proctest.Process {
	t.Helper()
	return start(t, nil, nil, append([]string{bench.weirline}, args...)...)
}

func containsWord(text []byte, word string) bool {
	return slices.Contains(strings.Fields(string(text)), word)
}

// words splits as a shell does, as far as the tables need it.
func words(line string) (out []string) {
	var b strings.Builder
	var inside byte
	some := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case inside != 0 && c == inside:
			inside = 0
		case inside == 0 && (c == '\'' || c == '"'):
			inside, some = c, true
		case inside == 0 && c == ' ':
			if some {
				out = append(out, b.String())
			}
			b.Reset()
			some = false
		default:
			b.WriteByte(c)
			some = true
		}
	}
	if some {
		out = append(out, b.String())
	}
	return out
}
