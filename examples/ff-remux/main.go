// Command ff-remux sends a file by SRT as MPEG-TS, in real time and not decoded.
//
//	go run ./examples/ff-remux in.mp4 "srt://203.0.113.7:9000?latency=200"
//
// Lives here: the least a muxer needs. May import: avio, go-astiav. Never: sidecar.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/asticode/go-astiav"

	"github.com/weirline/weirline/ffprotocol/avio"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: ff-remux input srt://host:port?option=value")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // ends a write that waits
	defer stop()
	if err := remux(ctx, os.Args[1], os.Args[2]); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

func remux(ctx context.Context, input, url string) (err error) {
	in := astiav.AllocFormatContext()
	defer in.Free()
	if err := in.OpenInput(input, nil, nil); err != nil {
		return err
	}
	defer in.CloseInput()
	if err := in.FindStreamInfo(nil); err != nil {
		return err
	}
	srt, err := avio.OpenOutput(ctx, url)
	if err != nil {
		return err // says why the peer refused, or that nobody is there
	}
	// Close waits for the tail; Err is what an "Input/output error" was about.
	defer func() { err = errors.Join(err, srt.Close(), srt.Err()) }()
	out, err := astiav.AllocOutputFormatContext(nil, "mpegts", "")
	if err != nil {
		return err
	}
	defer out.Free()
	out.SetPb(srt.IOContext())
	for _, s := range in.Streams() {
		if err := s.CodecParameters().Copy(out.NewStream(nil).CodecParameters()); err != nil {
			return err
		}
	}
	if err := out.WriteHeader(nil); err != nil {
		return err
	}
	packet, start, first := astiav.AllocPacket(), time.Now(), int64(-1)
	defer packet.Free()
	for in.ReadFrame(packet) == nil {
		from, to := in.Streams()[packet.StreamIndex()], out.Streams()[packet.StreamIndex()]
		at := astiav.RescaleQ(packet.Dts(), from.TimeBase(), astiav.NewRational(1, int(time.Second)))
		if first < 0 {
			first = at
		}
		time.Sleep(time.Until(start.Add(time.Duration(at - first)))) // SRT is for what happens now
		packet.RescaleTs(from.TimeBase(), to.TimeBase())
		if err := out.WriteInterleavedFrame(packet); err != nil {
			return err
		}
	}
	return out.WriteTrailer()
}
