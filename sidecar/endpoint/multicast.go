package endpoint

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// multicast is what a udp:// end does with a group.
type multicast struct {
	iface   string   // by name or by its address; empty: the system chooses
	sources []net.IP // senders that are listened to; none: all
	ttl     int      // of what is sent; negative: the system's, which is 1
	loop    bool     // what is sent is heard on this host, too
	reuse   bool     // others on this host may listen to the same group and port
}

// InterfaceError says that there is no such network interface. It may come later.
type InterfaceError struct{ Name string }

func (e *InterfaceError) Error() string {
	var names []string
	list, _ := net.Interfaces() // no names, then
	for _, i := range list {
		names = append(names, i.Name)
	}
	return fmt.Sprintf("iface %q: no such network interface: there are %s", e.Name, strings.Join(names, ", "))
}

// network returns the interface; nil: the system chooses.
func (m *multicast) network() (*net.Interface, error) {
	if m.iface == "" {
		return nil, nil
	}
	ip := net.ParseIP(m.iface)
	if ip == nil {
		if i, err := net.InterfaceByName(m.iface); err == nil {
			return i, nil
		}
		return nil, &InterfaceError{m.iface}
	}
	list, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	for _, i := range list {
		if has(i, ip) {
			return &i, nil
		}
	}
	return nil, &InterfaceError{m.iface}
}

func has(i net.Interface, ip net.IP) bool {
	addrs, err := i.Addrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}

// localTo reports groups of which every interface has its own (RFC 4291, 2.7).
func localTo(ip net.IP) bool {
	return ip.IsInterfaceLocalMulticast() || ip.IsLinkLocalMulticast() && ip.To4() == nil
}

// listen joins the group.
func (m *multicast) listen(group *net.UDPAddr) (*net.UDPConn, error) {
	ifi, err := m.network()
	if err != nil {
		return nil, err
	}
	at := *group
	if at.Zone == "" && ifi != nil && localTo(at.IP) {
		at.Zone = ifi.Name // what is local to a link has to say to which
	}
	c, err := bindGroup(&at, m.reuse)
	if err != nil {
		return nil, err
	}
	if err := m.join(c, ifi, group); err != nil {
		c.Close()
		return nil, fmt.Errorf("join %s: %w", group.IP, err)
	}
	return c, nil
}

// joiner is what both packages for sockets have.
type joiner interface {
	JoinGroup(*net.Interface, net.Addr) error
	JoinSourceSpecificGroup(*net.Interface, net.Addr, net.Addr) error
}

func (m *multicast) join(c *net.UDPConn, ifi *net.Interface, group *net.UDPAddr) error {
	var j joiner = ipv6.NewPacketConn(c)
	if group.IP.To4() != nil {
		j = ipv4.NewPacketConn(c)
	}
	g := &net.UDPAddr{IP: group.IP}
	if len(m.sources) == 0 {
		return j.JoinGroup(ifi, g)
	}
	for _, ip := range m.sources {
		if err := j.JoinSourceSpecificGroup(ifi, g, &net.UDPAddr{IP: ip}); err != nil {
			return fmt.Errorf("source %s: %w", ip, err)
		}
	}
	return nil
}

// dial returns a socket that can send to the group.
func (m *multicast) dial(group *net.UDPAddr) (*net.UDPConn, error) {
	ifi, err := m.network()
	if err != nil {
		return nil, err
	}
	network := "udp6"
	if group.IP.To4() != nil {
		network = "udp4"
	}
	// Not connected: the route to the group may be known by the interface alone. An
	// interface that was given by its address sends from that one.
	c, err := net.ListenUDP(network, &net.UDPAddr{IP: net.ParseIP(m.iface)})
	if err != nil {
		return nil, err
	}
	if err := m.prepare(c, ifi, network == "udp4"); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (m *multicast) prepare(c *net.UDPConn, ifi *net.Interface, four bool) (err error) {
	set := func(name string, e error) {
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %w", name, e)
		}
	}
	if four {
		p := ipv4.NewPacketConn(c)
		if ifi != nil {
			set("iface", p.SetMulticastInterface(ifi))
		}
		if m.ttl >= 0 {
			set("ttl", p.SetMulticastTTL(m.ttl))
		}
		set("loop", p.SetMulticastLoopback(m.loop))
		return err
	}
	p := ipv6.NewPacketConn(c)
	if ifi != nil {
		set("iface", p.SetMulticastInterface(ifi))
	}
	if m.ttl >= 0 {
		set("ttl", p.SetMulticastHopLimit(m.ttl))
	}
	set("loop", p.SetMulticastLoopback(m.loop))
	return err
}

// setTTL is for what is sent to a single host.
func setTTL(c *net.UDPConn, ip net.IP, ttl int) error {
	if ip.To4() != nil {
		return ipv4.NewConn(c).SetTTL(ttl)
	}
	return ipv6.NewConn(c).SetHopLimit(ttl)
}

// parseAddrs reads a list of addresses.
func parseAddrs(key, v string) (ips []net.IP, err error) {
	for s := range strings.SplitSeq(v, ",") {
		a, err := netip.ParseAddr(s)
		if err != nil || a.IsMulticast() {
			return nil, &URLError{Problem: fmt.Sprintf("option %q = %q is refused: allowed are addresses of senders, as in 192.0.2.7,192.0.2.8", key, v)}
		}
		ips = append(ips, a.AsSlice())
	}
	return ips, nil
}
