// Command publish listens for SRT callers and lets in those that name a known
// stream, each with a passphrase of its own; it counts what they send.
//
//	go run ./examples/publish :9000
//	srt-live-transmit file://con "srt://127.0.0.1:9000?streamid=#!::r=cam1,m=publish&passphrase=first camera"
//
// Lives here: a listener that decides about its callers. May import: srtcore.
// Never: sidecar.
package main

import (
	"context"
	"log"
	"os"

	"github.com/weirline/weirline/srtcore"
)

var passphrases = map[string]string{"cam1": "first camera", "cam2": "second camera"}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: publish host:port")
	}
	cfg := srtcore.DefaultConfig()
	cfg.OnRequest = decide
	listener, err := srtcore.Listen(context.Background(), os.Args[1], &cfg)
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := listener.Accept(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		go count(conn)
	}
}

// decide runs before the connection is made; what it returns the caller hears.
func decide(r *srtcore.ConnRequest) error {
	id, err := srtcore.ParseStreamID(r.StreamID)
	if err != nil {
		return &srtcore.RejectError{Reason: srtcore.RejBadRequest}
	}
	secret, ok := passphrases[id.Resource()]
	switch {
	case !ok:
		return &srtcore.RejectError{Reason: srtcore.RejNotFound}
	case id.Mode() != "publish":
		return &srtcore.RejectError{Reason: srtcore.RejBadMode}
	}
	return r.SetPassphrase(secret)
}

func count(conn *srtcore.Conn) {
	defer conn.Close()
	message, bytes := make([]byte, 1500), 0
	for {
		n, err := conn.Read(message)
		if bytes += n; err != nil {
			log.Printf("%s from %v: %d bytes, then %v", conn.StreamID(), conn.RemoteAddr(), bytes, err)
			return
		}
	}
}
