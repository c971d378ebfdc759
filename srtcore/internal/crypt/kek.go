// Package crypt makes and uses the keys of SRT: the Key Encrypting Key from the
// passphrase, the wrapping of Stream Encrypting Keys with it, and the
// encryption of payloads (draft-sharabayko-srt-01, section 6).
//
// Lives here: keys and ciphers, nothing about who sends them when.
// May import: seq, the standard library's crypto; syscall only to find out what
// the processor can do. Never: wire, engine, a source of entropy; random bytes
// are handed in.
package crypt

import (
	"crypto/pbkdf2"
	"crypto/sha1"
	"fmt"
	"io"
)

// Salt is the salt of a Key Material message; all keys wrapped under one
// passphrase and salt share a KEK.
type Salt = [16]byte

// pbkdf2Rounds and saltLSB are fixed by section 6.1.4: 2048 rounds over the
// last 64 bits of the salt.
const (
	pbkdf2Rounds = 2048
	saltLSB      = 8
)

// DeriveKEK returns the Key Encrypting Key, as long as the keys it wraps. It
// takes about a millisecond: once a connection, not once a packet.
func DeriveKEK(passphrase string, salt Salt, keyLen int) []byte {
	kek, err := pbkdf2.Key(sha1.New, passphrase, salt[len(salt)-saltLSB:], pbkdf2Rounds, keyLen)
	if err != nil {
		// Only a negative length, or a policy that forbids what SRT prescribes.
		panic("crypt: " + err.Error())
	}
	return kek
}

// NewKey reads a Stream Encrypting Key of n bytes from the source of entropy.
func NewKey(entropy io.Reader, n int) ([]byte, error) {
	key := make([]byte, n)
	if _, err := io.ReadFull(entropy, key); err != nil {
		return nil, fmt.Errorf("crypt: no entropy for a key: %w", err)
	}
	return key, nil
}

// NewSalt reads a Salt from the source of entropy.
func NewSalt(entropy io.Reader) (s Salt, err error) {
	if _, err = io.ReadFull(entropy, s[:]); err != nil {
		err = fmt.Errorf("crypt: no entropy for a salt: %w", err)
	}
	return s, err
}
