package control

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"
	"time"
)

const (
	cookieName = "weirline"
	cookieLife = 12 * time.Hour
)

// authorized wraps an operation that needs the token, if there is one.
func (s *Server) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.opt.Token == "" || s.hasCookie(r, time.Now()) {
			next(w, r)
			return
		}
		if guess := bearer(r); guess != "" {
			right, answered := s.judge(w, r, guess)
			if right {
				next(w, r)
			}
			if right || answered {
				return
			}
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="weirline"`)
		problem(w, http.StatusUnauthorized, "This server wants its token: send the header `Authorization: Bearer TOKEN` with the value of control.token, or log in on the page.")
	}
}

// bearer is the token that the request brings; empty: none.
func bearer(r *http.Request) string {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// isToken takes the same time for every guess: hashes of equal length are compared.
func (s *Server) isToken(guess string) bool {
	a, b := sha256.Sum256([]byte(guess)), sha256.Sum256([]byte(s.opt.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// hasCookie looks for a cookie that login made: when it ends, and our seal.
func (s *Server) hasCookie(r *http.Request, now time.Time) bool {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return false
	}
	b, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil || len(b) != 8+sha256.Size || !hmac.Equal(b[8:], s.seal(b[:8])) {
		return false
	}
	return now.Unix() < int64(binary.BigEndian.Uint64(b))
}

func (s *Server) seal(b []byte) []byte {
	m := hmac.New(sha256.New, s.key)
	m.Write(b)
	return m.Sum(nil)
}

// login exchanges the token for a cookie that the page's script cannot read
// and other sites' pages do not send.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Token string `json:"token"`
	}
	if !s.body(w, r, &in) {
		return
	}
	if s.opt.Token != "" {
		right, answered := s.judge(w, r, in.Token)
		if !right && !answered {
			problem(w, http.StatusForbidden, "This is not the token. It is the value of control.token in the daemon's configuration.")
		}
		if !right {
			return
		}
	}
	ends := time.Now().Add(cookieLife)
	b := binary.BigEndian.AppendUint64(nil, uint64(ends.Unix()))
	s.setCookie(w, r, base64.RawURLEncoding.EncodeToString(append(b, s.seal(b)...)), int(cookieLife.Seconds()))
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	s.setCookie(w, r, "", -1)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
}
