package element

import (
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Packet is one received message. Payload is lent until Release.
type Packet struct {
	Payload []byte
	// Play is the message's play time, on this side's clock: when the sender
	// handed it in, and the connection's latency.
	Play time.Time
	// Discont: messages are missing before this one, or it is the first of a
	// connection.
	Discont bool

	conn *srtcore.Conn
	msg  srtcore.Message
}
