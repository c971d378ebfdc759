// Command receive waits for one SRT caller and writes what it sends to standard
// output, then prints the connection's statistics.
//
//	go run ./examples/receive "srt://:9000?latency=200" | ffplay -
//
// Lives here: the least a receiver needs. May import: srtcore. Never: sidecar.
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
		log.Fatal("usage: receive srt://:port?option=value")
	}
	if err := receive(context.Background(), os.Args[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func receive(ctx context.Context, url string, out io.Writer) error {
	target, err := srtcore.ParseURL(url)
	if err != nil {
		return err
	}
	listener, err := target.Listen(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	conn, err := listener.Accept(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	message := make([]byte, 1500) // one message at a time, never a part of one
	for {
		n, err := conn.Read(message)
		if errors.Is(err, io.EOF) {
			s := conn.Stats()
			log.Printf("%d packets, %d lost, %d dropped, RTT %.1f ms", s.PktRecvTotal, s.PktRcvLossTotal, s.PktRcvDropTotal, s.MsRTT)
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := out.Write(message[:n]); err != nil {
			return err
		}
	}
}
