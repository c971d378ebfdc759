package element

import (
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Packet is one received message. Payload is lent until Release.
type Packet struct {
	Payload []byte
	// Source is when the sender handed the message in, on this side's clock.
	Source time.Time
	// Discont: messages are missing before this one, or it is the first of a
	// connection.
	Discont bool

	conn *srtcore.Conn
	msg  srtcore.Message
}
