// Package page opens the daemon's page in headless Chromium and looks at it as
// an operator does: numbers that move, a caller kicked, a route removed, a
// hostile stream id, a login, a phone. Pictures of it stay in out/page.
//
// Lives here: the browser test; fake is the daemon behind it. May import:
// sidecar/control, tests/page/fake, chromedp. Never: shipped code.
package page
