package client

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/tests/api/fake"
)

func TestAddresses(t *testing.T) {
	for addr, want := range map[string]string{
		"": Default, "host:80": "http://host:80", "http://host:80/": "http://host:80", "https://h": "https://h",
		"unix:/run/x.sock": "http://weirline", "unix:///run/x.sock": "http://weirline", "unix:rel.sock": "http://weirline",
	} {
		c, err := New(addr, "")
		if err != nil || c.base != want {
			t.Errorf("%q: %v %v", addr, c, err)
		}
	}
	for _, addr := range []string{"unix:", "unix:/", "ftp://h", "http://", "http://h/v1", "http://u:p@h"} {
		if _, err := New(addr, ""); err == nil || !strings.Contains(err.Error(), "allowed") {
			t.Errorf("%q: %v", addr, err)
		}
	}
}

func TestUnixSocketAndErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := control.NewServer(control.Options{Daemon: fake.New(1), Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	c, err := New("unix:"+path, "")
	if err != nil {
		t.Fatal(err)
	}
	var st control.Status
	if err := c.Do(ctx, "GET", "/v1/status", nil, &st); err != nil || st.PID != 4242 {
		t.Errorf("%+v %v", st, err)
	}
	var refused *Error
	err = c.Do(ctx, "DELETE", "/v1/connections/none", nil, nil)
	if !errors.As(err, &refused) || refused.Status != 404 || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("%v", err)
	}
	enough := errors.New("enough")
	events := 0
	err = c.Stream(ctx, 1, func(l *control.Live) error {
		if len(l.Routes) != 3 {
			t.Errorf("%d routes", len(l.Routes))
		}
		return enough
	}, func(control.Event) error { events++; return nil })
	if !errors.Is(err, enough) || events != 2 {
		t.Errorf("%v, %d events", err, events)
	}
	c.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := c.Do(context.Background(), "GET", "/v1/status", nil, &st); err == nil || !strings.Contains(err.Error(), "weirline serve") {
		t.Errorf("after the end: %v", err)
	}
}
