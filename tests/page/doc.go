// Package page opens the page of a running daemon in headless Chromium and looks
// at it as an operator does, while media passes: numbers that move, a caller
// kicked, a route removed, a hostile stream id, a login, a phone. Pictures of it
// stay in out/page.
//
// Lives here: the browser test, and the stage: the daemon with its callers. May
// import: tests/served, tests/port, tests/lab/impair, chromedp. Never: sidecar.
package page
