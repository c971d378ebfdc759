// Package page is the web page of the daemon: one HTML, one CSS and one JS file,
// carried in the program. It needs no build step and nothing from elsewhere.
//
// Lives here: the three files and how they are served. May import: embed,
// net/http. Never: control, route; the page asks the API like everybody.
package page

import (
	"bytes"
	_ "embed"
	"net/http"
	"time"
)

var (
	//go:embed index.html
	index []byte
	//go:embed app.css
	style []byte
	//go:embed app.js
	script []byte
)

// Policy lets the page run its own script and nothing else, and turns a
// careless write of markup into an error (trusted types).
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// HTML serves the page.
func HTML(w http.ResponseWriter, r *http.Request) { serve(w, r, "text/html; charset=utf-8", index) }

// CSS serves its style.
func CSS(w http.ResponseWriter, r *http.Request) { serve(w, r, "text/css; charset=utf-8", style) }

// JS serves its script.
func JS(w http.ResponseWriter, r *http.Request) {
	serve(w, r, "text/javascript; charset=utf-8", script)
}

func serve(w http.ResponseWriter, r *http.Request, kind string, content []byte) {
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
