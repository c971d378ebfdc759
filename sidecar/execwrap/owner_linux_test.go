package execwrap

import (
	"net"
	"os"
	"testing"
)

func TestOwner(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	out, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if uid, ok := owner(in); !ok || uid != os.Getuid() {
		t.Errorf("%d, %v, want %d", uid, ok, os.Getuid())
	}
	if _, ok := owner(out); !ok {
		t.Error("the other side is not found")
	}
}
