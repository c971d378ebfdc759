// Command ff-record receives MPEG-TS by SRT and writes a file, in the format that
// its name tells, until the sender or ^C ends it.
//
//	go run ./examples/ff-record "srt://:9000?latency=200" out.mkv
//
// Lives here: the least a demuxer needs. May import: avio, go-astiav. Never: sidecar.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"

	"github.com/asticode/go-astiav"

	"github.com/weirline/weirline/ffprotocol/avio"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: ff-record srt://host:port?option=value output")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // ends a read that waits
	defer stop()
	if err := record(ctx, os.Args[1], os.Args[2]); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

func record(ctx context.Context, url, output string) error {
	srt, err := avio.OpenInput(ctx, url)
	if err != nil {
		return err
	}
	defer srt.Close() // after CloseInput: the last to be deferred is the first to run
	in := astiav.AllocFormatContext()
	defer in.Free()
	in.SetPb(srt.IOContext())
	if err := in.OpenInput("", astiav.FindInputFormat("mpegts"), nil); err != nil {
		return errors.Join(err, srt.Err()) // FFmpeg's number, and what it was about
	}
	defer in.CloseInput()
	if err := in.FindStreamInfo(nil); err != nil {
		return errors.Join(err, srt.Err())
	}
	out, err := astiav.AllocOutputFormatContext(nil, "", output)
	if err != nil {
		return err
	}
	defer out.Free()
	file, err := astiav.OpenIOContext(output, astiav.NewIOContextFlags(astiav.IOContextFlagWrite)) // for FFmpeg 7 and 8: , nil, nil)
	if err != nil {
		return err
	}
	defer file.Close()
	out.SetPb(file)
	for _, s := range in.Streams() {
		if err := s.CodecParameters().Copy(out.NewStream(nil).CodecParameters()); err != nil {
			return err
		}
		out.Streams()[s.Index()].CodecParameters().SetCodecTag(0) // each format has its own
	}
	if err := out.WriteHeader(nil); err != nil {
		return err
	}
	packet := astiav.AllocPacket()
	defer packet.Free()
	for in.ReadFrame(packet) == nil {
		from, to := in.Streams()[packet.StreamIndex()], out.Streams()[packet.StreamIndex()]
		packet.RescaleTs(from.TimeBase(), to.TimeBase())
		if err := out.WriteInterleavedFrame(packet); err != nil {
			return err
		}
	}
	s := srt.Stats() // any goroutine may ask, at any time
	log.Printf("%d packets, %d lost, %d dropped, round trip %.1f ms", s.PktRecvTotal, s.PktRcvLossTotal, s.PktRcvDropTotal, s.MsRTT)
	return errors.Join(out.WriteTrailer(), srt.Err())
}
