//go:build unix

package execwrap

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// wanted are the signals that are handed on, but for those this process was
// started to ignore: the program then ignores them too.
func wanted() []os.Signal {
	var list []os.Signal
	for _, s := range []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGCONT,
	} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

// stops reports whether a signal asks a program to end.
func stops(s os.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP || s == syscall.SIGQUIT
}

// ownGroup puts a program that has no terminal into a process group of its own,
// so that a signal to ours reaches it once, through us. With a terminal it must
// stay in our group: only the group in the foreground may read the keyboard.
func ownGroup(cmd *exec.Cmd) bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err == nil {
		tty.Close()
		return false
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return true
}

// fromTerminal reports whether the terminal sends this signal to the group in
// the foreground, and we are in it: the program has it then already.
func fromTerminal(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT && s != syscall.SIGWINCH {
		return s == syscall.SIGCONT // to the group, by who stopped it
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func exitCode(s *os.ProcessState) int {
	if st, ok := s.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return 128 + int(st.Signal())
	}
	return s.ExitCode()
}
