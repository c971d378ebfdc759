package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestSecretIn(t *testing.T) {
	cases := []struct {
		args []string
		want []string
	}{
		{[]string{"relay", "srt://h:1?passphrase=0123456789&latency=5", "-"}, []string{"", "0123456789", ""}},
		{[]string{"srt://h:1?latency=5&passphrase=0123456789"}, []string{"0123456789"}},
		{[]string{"--passphrase", "0123456789"}, []string{"", "0123456789"}},
		{[]string{"exec", "ffmpeg", "-passphrase", "0123456789", "srt://h:1"}, []string{"", "", "", "0123456789", ""}},
		{[]string{"--passphrase=0123456789"}, []string{"0123456789"}},
		{[]string{"--passphrase-file", "/run/secret"}, []string{"", ""}},
	}
	for _, tc := range cases {
		for i, a := range tc.args {
			from, to := secretIn(tc.args, i)
			if a[from:to] != tc.want[i] {
				t.Errorf("%q: secret %q, want %q", tc.args, a[from:to], tc.want[i])
			}
		}
	}
}

// TestProcessTitleKeepsTheSecret reads the command line of a process that was
// given a passphrase, as ps would.
func TestProcessTitleKeepsTheSecret(t *testing.T) {
	const secret = "correct horse battery"
	if os.Getenv("WEIRLINE_SHOW_ARGS") == "1" {
		own := takeArgs(os.Args)
		line, err := os.ReadFile("/proc/self/cmdline")
		if err != nil || !strings.HasSuffix(own[len(own)-1], secret) {
			os.Exit(3)
		}
		os.Stdout.Write(line)
		os.Exit(0)
	}
	if runtime.GOOS != "linux" {
		return // nothing to blot out
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestProcessTitleKeepsTheSecret", "srt://h:1?passphrase="+secret)
	cmd.Env = append(os.Environ(), "WEIRLINE_SHOW_ARGS=1")
	line, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(line, []byte(secret)) || !bytes.Contains(line, []byte("passphrase=****")) {
		t.Errorf("command line shows %q", line)
	}
}
