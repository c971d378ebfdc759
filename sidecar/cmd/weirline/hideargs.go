package main

import (
	"regexp"
	"strings"
	"unsafe"
)

// takeArgs returns a copy of args and blots out the secrets in the originals.
// On Linux these lie where the system shows a process's command line, so that
// ps and /proc do not tell a passphrase that was given on it; elsewhere the
// copy alone is made.
func takeArgs(args []string) []string {
	own := make([]string, len(args))
	for i, a := range args {
		own[i] = strings.Clone(a)
	}
	if argsWritable {
		for i := range own {
			from, to := secretIn(own, i)
			blot(args[i], from, to)
		}
	}
	return own
}

// secretIn returns where in args[i] a secret stands; from == to: none.
func secretIn(args []string, i int) (from, to int) {
	if i > 0 && (args[i-1] == "--passphrase" || args[i-1] == "-passphrase") {
		return 0, len(args[i])
	}
	key := "passphrase="
	at := strings.Index(args[i], key)
	if at < 0 {
		return 0, 0
	}
	from = at + len(key)
	to = len(args[i])
	if end := strings.IndexByte(args[i][from:], '&'); end >= 0 {
		to = from + end
	}
	return from, to
}

var secrets = regexp.MustCompile(`(?i)(passphrase=)[^&"\n]+`)

// hideSecrets takes passphrases out of a text.
func hideSecrets(text string) string { return secrets.ReplaceAllString(text, "${1}(hidden)") }

// blot overwrites a part of s in place.
func blot(s string, from, to int) {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for i := from; i < to; i++ {
		b[i] = '*'
	}
}
