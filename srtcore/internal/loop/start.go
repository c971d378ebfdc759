package loop

// Go starts f in a goroutine. It exists so that every goroutine of srtcore is
// started in this package, and the list of starts stays short:
//
//   - Loop.run, one a shard, until the Group is closed;
//   - udp.Socket.Pump, one a socket and only on the portable path, until the
//     socket is closed;
//   - Listener.decide, one a caller that waits for the application's OnRequest,
//     at most the backlog of them, until the callback returns.
func Go(f func()) { go f() }
