package srtcore

// Close ends the connection and waits for that: what was written is delivered,
// within Config.Linger beyond the latency and the round trip, what was not read
// is dropped, and the peer is told. Pending reads and writes return ErrClosed.
func (c *Conn) Close() error {
	if c.linger == 0 {
		return c.Abort()
	}
	c.release()
	c.lc.Close(c.linger)
	<-c.lc.Done()
	return nil
}

// Abort ends the connection at once and does not wait: what was not yet sent is
// lost. The peer is told, once.
func (c *Conn) Abort() error {
	c.release()
	c.lc.Abort()
	return nil
}

// release lets go of the timers.
func (c *Conn) release() {
	c.readDeadline.clear()
	c.writeDeadline.clear()
}
