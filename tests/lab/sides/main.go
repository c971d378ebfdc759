// Command sides is weirline bench send and recv without the rest of weirline:
// the library and the load, as the C peer is libsrt and the load. The lab runs
// it beside the peers, so that memory is that of the transport and not of a
// daemon's code that is never called.
//
// Lives here: two roles and their exit code. May import: sidecar/bench, pflag.
// Never: the rest of sidecar.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/weirline/weirline/sidecar/bench"
)

func main() { os.Exit(run(os.Args[1:])) }

// usage is the exit code of a command line that cannot be read.
const usage = 2

func run(args []string) int {
	if len(args) == 0 {
		return fail(fmt.Errorf("usage: sides send|recv [flags of weirline bench]"))
	}
	o := bench.DefaultOptions()
	flags := pflag.NewFlagSet("sides", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse(args[1:]); err != nil {
		return fail(err)
	}
	if err := o.Validate(); err != nil {
		return fail(err)
	}
	stop, err := bench.StartProfile(o.CPUProfile)
	if err != nil {
		return fail(err)
	}
	var code int
	switch args[0] {
	case "send":
		code = bench.Send(context.Background(), o, os.Stdout)
	case "recv":
		code = bench.Recv(context.Background(), o, os.Stdout, os.Stderr)
	default:
		return fail(fmt.Errorf("no role %q: allowed send, recv", args[0]))
	}
	if err := stop(); err != nil {
		return fail(err)
	}
	return code
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "sides:", err)
	return usage
}
