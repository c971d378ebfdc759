package srtcore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// serve accepts one caller and prints what it says; it stands for the other side.
func serve(ctx context.Context, l *srtcore.Listener, done chan<- struct{}) {
	defer close(done)
	conn, err := l.Accept(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	b := make([]byte, 1456)
	for {
		n, err := conn.Read(b)
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", b[:n])
	}
}

func ExampleDial() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	l, err := srtcore.Listen(ctx, "127.0.0.1:0", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go serve(ctx, l, done)

	conn, err := srtcore.Dial(ctx, l.Addr().String(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := 1; i <= 3; i++ {
		if _, err := fmt.Fprintf(conn, "message %d", i); err != nil {
			log.Fatal(err)
		}
	}
	conn.Close() // waits until everything has arrived
	<-done
	// Output:
	// message 1
	// message 2
	// message 3
}

func ExampleListen() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cfg := srtcore.DefaultConfig()
	cfg.RcvLatency = 50 * time.Millisecond
	l, err := srtcore.Listen(ctx, "127.0.0.1:0", &cfg)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	go func() { // a caller
		conn, err := srtcore.Dial(ctx, l.Addr().String(), nil)
		if err != nil {
			log.Fatal(err)
		}
		conn.Write([]byte("hello"))
		conn.Close()
	}()

	conn, err := l.Accept(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	b := make([]byte, conn.MaxPayload())
	n, err := conn.Read(b)
	fmt.Printf("%s %v, latency %v\n", b[:n], err, conn.RcvLatency())
	_, err = conn.Read(b)
	fmt.Println(err)
	// Output:
	// hello <nil>, latency 50ms
	// EOF
}

// A listener that looks at the stream id and has a passphrase for each caller.
func ExampleListener() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	secrets := map[string]string{"live/one": "open sesame!"}
	cfg := srtcore.DefaultConfig()
	cfg.OnRequest = func(r *srtcore.ConnRequest) error {
		secret, ok := secrets[r.StreamID]
		if !ok {
			return &srtcore.RejectError{Reason: srtcore.RejNotFound}
		}
		return r.SetPassphrase(secret)
	}
	l, err := srtcore.Listen(ctx, "127.0.0.1:0", &cfg)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	call := srtcore.DefaultConfig()
	call.Passphrase = "open sesame!"
	for _, id := range []string{"live/two", "live/one"} {
		call.StreamID = id
		conn, err := srtcore.Dial(ctx, l.Addr().String(), &call)
		if rej, ok := errors.AsType[*srtcore.RejectError](err); ok {
			fmt.Println(id, "refused with code", int(rej.Reason))
			continue
		}
		fmt.Println(conn.StreamID(), "accepted:", conn.Stats().SndKMState)
		conn.Close()
	}
	// Output:
	// live/two refused with code 2404
	// live/one accepted: SECURED
}

// One goroutine reads all connections.
func ExamplePoller() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	l, err := srtcore.Listen(ctx, "127.0.0.1:0", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	p := srtcore.NewPoller()
	for range 3 {
		caller, err := srtcore.Dial(ctx, l.Addr().String(), nil)
		if err != nil {
			log.Fatal(err)
		}
		conn, err := l.Accept(ctx)
		if err != nil {
			log.Fatal(err)
		}
		p.Add(conn)
		go func() {
			caller.Write([]byte("0123456789"))
			caller.Close()
		}()
	}

	buffers := make([][]byte, 16)
	for i := range buffers {
		buffers[i] = make([]byte, 1456)
	}
	bytes, open := 0, 3
	for open > 0 {
		ready, err := p.Wait(ctx, nil)
		if err != nil {
			log.Fatal(err)
		}
		for _, conn := range ready {
			n, err := conn.TryReadBatch(buffers)
			for _, b := range buffers[:n] {
				bytes += len(b)
			}
			if err != nil { // io.EOF: the caller has closed
				p.Remove(conn)
				conn.Close()
				open--
			}
		}
	}
	fmt.Println(bytes, "bytes")
	// Output: 30 bytes
}
