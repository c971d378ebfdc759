package service

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// How the two processes of an upgrade talk: the new one has a pipe to say that
// it is ready, one to hear that it may begin, and the listening sockets.
const (
	upgradeEnv = "WEIRLINE_UPGRADE" // the number of sockets
	readyFD    = 3
	beginFD    = 4
	firstFD    = 5
	readyWord  = "ready"
	beginWord  = "begin"
)

// Heir is the process that takes over. Until Begin nothing has changed for this
// one; what goes wrong before leaves it as it was.
type Heir struct {
	cmd   *exec.Cmd
	ready *os.File
	begin *os.File
	ended chan struct{}
	err   error
}

// Upgrade starts program with args as this process's heir and gives it the
// listening sockets of s and the others named. ctx bounds the wait until it is
// ready: until its configuration is read and found good.
func (s *Sockets) Upgrade(ctx context.Context, program string, args []string, udp []*os.File) (*Heir, error) {
	own, err := s.files()
	if err != nil {
		return nil, fmt.Errorf("upgrade: %w", err)
	}
	defer closeAll(own)
	files := append(own, udp...)
	h, err := startHeir(program, args, files)
	if err != nil {
		return nil, fmt.Errorf("upgrade: start %s: %w", program, err)
	}
	if err := h.await(ctx); err != nil {
		h.Abandon()
		return nil, fmt.Errorf("upgrade: the new process did not become ready: %w", err)
	}
	return h, nil
}

func startHeir(program string, args []string, files []*os.File) (*Heir, error) {
	ready, readyHere, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	beginThere, begin, err := os.Pipe()
	if err != nil {
		closeAll([]*os.File{ready, readyHere})
		return nil, err
	}
	defer closeAll([]*os.File{readyHere, beginThere})
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = append([]*os.File{readyHere, beginThere}, files...)
	cmd.Env = append(os.Environ(), upgradeEnv+"="+strconv.Itoa(len(files)))
	if err := cmd.Start(); err != nil {
		closeAll([]*os.File{ready, begin})
		return nil, err
	}
	h := &Heir{cmd: cmd, ready: ready, begin: begin, ended: make(chan struct{})}
	go func() {
		defer close(h.ended)
		h.err = cmd.Wait()
	}()
	return h, nil
}

// await reads the one word; the end of the pipe is the end of the process.
func (h *Heir) await(ctx context.Context) error {
	said := make(chan error, 1)
	go func() {
		line, err := bufio.NewReader(h.ready).ReadString('\n')
		if err == nil && strings.TrimSpace(line) != readyWord {
			err = fmt.Errorf("it said %q", line)
		}
		said <- err
	}()
	var err error
	select {
	case err = <-said:
	case <-ctx.Done():
		err = ctx.Err()
		h.ready.Close()
		<-said
	}
	if errors.Is(err, io.EOF) {
		<-h.ended
		return fmt.Errorf("it ended: %v", h.err)
	}
	return err
}

// PID is the new process's.
func (h *Heir) PID() int { return h.cmd.Process.Pid }

// Begin tells the new process to listen. The caller has stopped reading all
// sockets that it gave away.
func (h *Heir) Begin() error {
	defer h.begin.Close()
	_, err := io.WriteString(h.begin, beginWord+"\n")
	h.ready.Close()
	return err
}

// Abandon ends the new process.
func (h *Heir) Abandon() {
	h.cmd.Process.Kill()
	<-h.ended
	h.begin.Close()
	h.ready.Close()
}

// heritage is the new process's side.
type heritage struct {
	ready, begin *os.File
	files        []*os.File
}

func inheritance() *heritage {
	n, err := strconv.Atoi(os.Getenv(upgradeEnv))
	os.Unsetenv(upgradeEnv)
	if err != nil || n < 0 {
		return nil
	}
	h := &heritage{ready: os.NewFile(readyFD, "ready"), begin: os.NewFile(beginFD, "begin")}
	for i := range n {
		h.files = append(h.files, os.NewFile(uintptr(firstFD+i), "inherited "+strconv.Itoa(i)))
	}
	return h
}

// Await says that this process is ready, and waits until the one before it has
// let go of the sockets. Without one before it returns at once.
func (s *Sockets) Await(ctx context.Context) error {
	h := s.heir
	if h == nil {
		return nil
	}
	defer h.begin.Close()
	_, err := io.WriteString(h.ready, readyWord+"\n")
	h.ready.Close()
	if err != nil {
		return fmt.Errorf("upgrade: the process before this one is gone: %w", err)
	}
	told := make(chan error, 1)
	go func() {
		line, err := bufio.NewReader(h.begin).ReadString('\n')
		if err == nil && strings.TrimSpace(line) != beginWord {
			err = fmt.Errorf("upgrade: told %q", line)
		}
		told <- err
	}()
	select {
	case err := <-told:
		if errors.Is(err, io.EOF) {
			return errors.New("upgrade: the process before this one gave up, or has ended")
		}
		return err
	case <-ctx.Done():
		h.begin.Close()
		<-told
		return ctx.Err()
	}
}
