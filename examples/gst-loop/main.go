// Command gst-loop sends a file with srtgosink and receives it with srtgosrc, in
// one program and one Go runtime: Register is all it takes, no plugin is loaded.
//
//	go run ./examples/gst-loop in.ts out.ts && cmp in.ts out.ts
//
// Lives here: pipelines driven with go-gst. May import: gstplugin. Never: the
// sidecar.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/go-gst/go-gst/gst"

	"github.com/weirline/weirline/gstplugin"
)

// The sender paces the file to 10 Mbit/s, as a live encoder would.
const (
	send    = "filesrc location=%q blocksize=1316 ! identity datarate=1250000 ! srtgosink uri=srt://127.0.0.1:7001"
	receive = "srtgosrc uri=srt://:7001?latency=200 ! filesink location=%q"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: gst-loop input output")
	}
	gst.Init(nil)
	if err := gstplugin.Register(); err != nil {
		log.Fatal(err)
	}
	if err := loop(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func loop(input, output string) error {
	receiver, err := gst.NewPipelineFromString(fmt.Sprintf(receive, output))
	if err != nil {
		return err
	}
	defer receiver.SetState(gst.StateNull)
	sender, err := gst.NewPipelineFromString(fmt.Sprintf(send, input))
	if err != nil {
		return err
	}
	for _, p := range []*gst.Pipeline{receiver, sender} {
		if err := p.SetState(gst.StatePlaying); err != nil {
			return err
		}
	}
	err = untilEOS(sender) // all has been received by then
	sender.SetState(gst.StateNull)
	return errors.Join(err, untilEOS(receiver))
}

// untilEOS waits for the end of the stream or an error, a minute at most.
func untilEOS(p *gst.Pipeline) error {
	limit := gst.ClockTime(time.Minute)
	m := p.GetPipelineBus().TimedPopFiltered(limit, gst.MessageEOS|gst.MessageError)
	switch {
	case m == nil:
		return errors.New("nothing happened for a minute")
	case m.Type() == gst.MessageError:
		return m.ParseError()
	}
	return nil
}
