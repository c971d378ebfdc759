// Command send sends standard input to an SRT listener, 1316 bytes a message.
//
//	ffmpeg ... -f mpegts - | go run ./examples/send "srt://203.0.113.7:9000?latency=200"
//
// Lives here: the least a sender needs. May import: srtcore. Never: sidecar.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"

	"github.com/weirline/weirline/srtcore"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: send srt://host:port?option=value")
	}
	if err := send(context.Background(), os.Args[1], os.Stdin); err != nil {
		log.Fatal(err)
	}
}

func send(ctx context.Context, url string, in io.Reader) error {
	target, err := srtcore.ParseURL(url)
	if err != nil {
		return err
	}
	conn, err := target.Dial(ctx)
	if err != nil {
		return err // a *srtcore.RejectError says why the peer refused
	}
	defer conn.Close() // returns when the peer has had time to play the tail
	message := make([]byte, 1316)
	for {
		n, err := io.ReadFull(in, message)
		if n > 0 {
			if _, err := conn.Write(message[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}
