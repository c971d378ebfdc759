//go:build !linux

package endpoint

import (
	"context"
	"net"
)

// bindGroup binds to the port of the group at every address; package net lets
// others do so, too.
func bindGroup(group *net.UDPAddr, _ bool) (*net.UDPConn, error) {
	var lc net.ListenConfig
	c, err := lc.ListenPacket(context.Background(), "udp", group.String())
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}
