// Command ff-transcode relays MPEG-TS from SRT to SRT and encodes the video anew.
// Lives here: a relay. May import: avio, go-astiav. Never: sidecar.
//
//	go run ./examples/ff-transcode "srt://:9000?latency=200" "srt://203.0.113.7:9001?latency=200"
package main

import (
	"context"
	"errors"
	"log"
	"os"

	"github.com/asticode/go-astiav"

	"github.com/weirline/weirline/ffprotocol/avio"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: ff-transcode srt://from?option=value srt://to?option=value")
	}
	options := astiav.NewDictionary() // who is given them takes out what it knows: first the demuxer, then the encoder
	check(options.ParseString("analyzeduration=0,probesize=500000,b=1000000,preset=veryfast,tune=zerolatency", "=", ",", 0))
	source, err := avio.OpenInput(context.Background(), os.Args[1])
	check(err)
	in := astiav.AllocFormatContext()
	in.SetPb(source.IOContext())
	check(in.OpenInput("", astiav.FindInputFormat("mpegts"), options))
	check(in.FindStreamInfo(nil))
	sink, err := avio.OpenOutput(context.Background(), os.Args[2])
	check(err)
	out, err := astiav.AllocOutputFormatContext(nil, "mpegts", "")
	check(err)
	out.SetPb(sink.IOContext())
	video, decoder, encoder := -1, astiav.AllocCodecContext(nil), astiav.AllocCodecContext(nil)
	for _, s := range in.Streams() {
		from, to := s.CodecParameters(), out.NewStream(nil).CodecParameters()
		if video >= 0 || from.MediaType() != astiav.MediaTypeVideo {
			check(from.Copy(to))
			continue
		}
		codec, x264 := astiav.FindDecoder(from.CodecID()), astiav.FindEncoderByName("libx264")
		video, decoder, encoder = s.Index(), astiav.AllocCodecContext(codec), astiav.AllocCodecContext(x264)
		check(from.ToCodecContext(decoder))
		check(decoder.Open(codec, nil))
		encoder.SetWidth(decoder.Width())
		encoder.SetHeight(decoder.Height())
		encoder.SetPixelFormat(decoder.PixelFormat())
		encoder.SetFramerate(in.GuessFrameRate(s, nil))
		encoder.SetTimeBase(s.TimeBase()) // 1/90000 s, as MPEG-TS has it on both sides
		check(encoder.Open(x264, options))
		check(to.FromCodecContext(encoder))
	}
	check(out.WriteHeader(nil))
	packet, frame := astiav.AllocPacket(), astiav.AllocFrame()
	for last := false; !last; packet.Unref() {
		if last = in.ReadFrame(packet) != nil; !last && packet.StreamIndex() != video {
			check(out.WriteInterleavedFrame(packet))
			continue
		}
		_ = decoder.SendPacket(packet) // a damaged one costs a picture; the last, empty one brings out what was kept
		for decoder.ReceiveFrame(frame) == nil {
			frame.SetPictureType(astiav.PictureTypeNone) // the encoder decides
			check(encoder.SendFrame(frame))
			for encoder.ReceivePacket(packet) == nil {
				packet.SetStreamIndex(video)
				check(out.WriteInterleavedFrame(packet))
			}
		}
	}
	check(errors.Join(source.Err(), out.WriteTrailer(), sink.Close())) // Close waits for the tail
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
