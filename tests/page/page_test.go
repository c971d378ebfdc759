package page

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/weirline/weirline/tests/served"
)

// number is what a cell of a row shows.
func number(row, cell string) string {
	return `parseFloat(document.querySelector('` + row + ` .c-` + cell + `').textContent)`
}

// TestOperate is an operator's walk: look, filter, open the charts, kick a
// caller, remove a route. Whoever was not meant notices nothing.
func TestOperate(t *testing.T) {
	const players = 8
	s := newStage(t, "", players)
	far := s.row("viewer2")
	ctx := browser(t, 1360, 900, false)
	do(t, ctx, chromedp.Navigate(s.URL))
	// Two publishers, the players, the watcher, two outputs to sockets, and the file.
	until(t, ctx, "all connections are there", fmt.Sprintf(`document.querySelectorAll("tr.row").length === %d`, players+6))
	until(t, ctx, "the bitrate of a real connection is shown", number(far, "mbps")+` > 1`)
	until(t, ctx, "the round trip of a long line is shown", number(far, "rtt")+` > 20`)
	until(t, ctx, "what was lost on it is sent again", number(far, "retrans")+` > 0`)
	for _, cell := range []string{"mbps", "rtt", "buffer"} {
		text := `document.querySelector('` + far + ` .c-` + cell + `').textContent`
		first := value[string](t, ctx, text)
		until(t, ctx, cell+" changes", fmt.Sprintf(`%s !== %q`, text, first))
	}
	wantLocalEnds(t, s, ctx)
	wantNoScript(t, s, ctx)
	wantCharts(t, s, ctx)
	if over := value[int](t, ctx, `(s => s.scrollWidth - s.clientWidth)(document.querySelector(".scroll"))`); over > 0 {
		t.Errorf("the table is %d px too wide for the screen", over)
	}
	shot(t, ctx, "desktop-light")

	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#filter"), "viewer7"))
	until(t, ctx, "the filter leaves one", `document.querySelectorAll("tr.row").length === 1`)
	do(t, ctx, js(`document.querySelector("#filter").value = "", document.querySelector("#filter").oninput()`))

	kickCaller(t, s, ctx)
	removeRoute(t, s, ctx)
}

// wantLocalEnds: an end without a peer is shown by its address.
func wantLocalEnds(t *testing.T, s *stage, ctx context.Context) {
	t.Helper()
	for _, url := range []string{"udp://" + s.local.LocalAddr().String(), "file:///"} {
		until(t, ctx, "the row of "+url, fmt.Sprintf(`[...document.querySelectorAll("tr.row .open")].some(b => b.textContent.startsWith(%q))`, url))
	}
	until(t, ctx, "an output that fails says why", `document.querySelector('[data-route="studio-a"] .ends').textContent.includes("back-off") && /failure/.test(document.querySelector('[data-route="studio-a"]').textContent)`)
	if text := value[string](t, ctx, `document.documentElement.outerHTML`); strings.Contains(text, secret) {
		t.Error("the page shows a passphrase")
	}
}

// wantNoScript: what a caller says is text.
func wantNoScript(t *testing.T, s *stage, ctx context.Context) {
	t.Helper()
	if title := value[string](t, ctx, `document.title`); title != "weirline" {
		t.Errorf("the stream id ran a script: title %q", title)
	}
	if n := value[int](t, ctx, `document.querySelectorAll("img, #rows script").length`); n != 0 {
		t.Errorf("the stream id became %d elements", n)
	}
	if got := value[string](t, ctx, `document.querySelector('`+s.row(evil)+` .c-stream').textContent`); !strings.Contains(got, evil) {
		t.Errorf("stream id %q", got)
	}
}

// wantCharts opens a connection: its charts move and its packets grow.
func wantCharts(t *testing.T, s *stage, ctx context.Context) {
	t.Helper()
	c := s.Find("viewer2")
	do(t, ctx, chromedp.Click(chromedp.CSS(s.row("viewer2")+" .open")))
	until(t, ctx, "five charts are drawn", `[...document.querySelectorAll(".charts canvas")].filter(c => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(v => v)).length === 5`)
	until(t, ctx, "the charts have numbers", `[...document.querySelectorAll(".charts output")].every(o => /[0-9]/.test(o.textContent))`)
	packets := `Number([...document.querySelectorAll(".facts div")].find(d => d.textContent.startsWith("Packets")).querySelector("dd").textContent.replace(" k", "e3"))`
	first := value[float64](t, ctx, packets)
	until(t, ctx, "the packets grow", fmt.Sprintf(`%s > %v + 100`, packets, first))
	served.Until(t, "the page to be no more than the daemon has", func() bool {
		return s.Find("viewer2").SRT.PktSentUniqueTotal >= int64(value[float64](t, ctx, packets))
	})
	until(t, ctx, "there is something to see in the charts", fmt.Sprintf(`charts.past.get(%q).mbps.length >= 8`, c.ID))
	served.Call(t, s.studio.Conn.RemoteAddr().String(), "#!::r=live/field,m=request,u=late").Conn.Close()
	until(t, ctx, "the event is listed", `[...document.querySelectorAll("#events li")].some(e => e.textContent.includes("player-left") && e.textContent.includes("field-unit"))`)
}

// kickCaller says no first: nothing may happen then. The connection that the
// daemon has with the caller ends, and nobody else's.
func kickCaller(t *testing.T, s *stage, ctx context.Context) {
	t.Helper()
	c, row, victim := s.Find("viewer2"), s.row("viewer2"), s.players[1]
	for _, answer := range []string{"#ask-no", "#ask-yes"} {
		do(t, ctx, chromedp.Click(chromedp.CSS(row+" .kick")), chromedp.WaitVisible(chromedp.CSS("#ask")))
		if text := value[string](t, ctx, `document.querySelector("#ask").textContent`); !strings.Contains(text, c.Peer) {
			t.Errorf("the question does not name the caller %s: %q", c.Peer, text)
		}
		if answer == "#ask-yes" {
			shot(t, ctx, "confirm")
		}
		do(t, ctx, chromedp.Click(chromedp.CSS(answer)), chromedp.WaitNotVisible(chromedp.CSS("#ask")))
		if answer == "#ask-no" {
			victim.WantMore("the caller after Cancel")
		}
	}
	victim.WantEnd("the caller that was kicked")
	until(t, ctx, "the caller is gone", `!document.querySelector('`+row+`')`)
	until(t, ctx, "the event says so", `[...document.querySelectorAll("#events li")].some(e => e.textContent.includes("kicked") && e.textContent.includes("`+c.ID+`"))`)
	s.wantUndisturbed(victim)
}

// removeRoute removes field-unit: its publisher and its watcher have to go.
func removeRoute(t *testing.T, s *stage, ctx context.Context) {
	t.Helper()
	do(t, ctx, chromedp.Click(chromedp.CSS(`[data-route="field-unit"] .remove`)), chromedp.WaitVisible(chromedp.CSS("#ask")))
	if text := value[string](t, ctx, `document.querySelector("#ask").textContent`); !strings.Contains(text, "2 connections end") {
		t.Errorf("the question does not say what ends: %q", text)
	}
	do(t, ctx, chromedp.Click(chromedp.CSS("#ask-yes")))
	until(t, ctx, "the route is gone", `!document.querySelector('[data-route="field-unit"]')`)
	s.field.WantEnd("the publisher of a route that was removed")
	s.watcher.WantEnd("the player of a route that was removed")
	if names := s.routes(); names != "studio-a backhaul" {
		t.Errorf("routes that are left: %s", names)
	}
	s.wantUndisturbed(s.players[1], s.field, s.watcher)
}

func (s *stage) routes() string {
	var all struct{ Routes []struct{ Name string } }
	s.Get("/v1/routes", &all)
	var names []string
	for _, r := range all.Routes {
		names = append(names, r.Name)
	}
	return strings.Join(names, " ")
}

// TestDark has a configuration file that is refused while the daemon runs, mends
// it, and has the page read it again.
func TestDark(t *testing.T) {
	s := newStage(t, "", 4)
	ctx := browser(t, 1360, 900, true)
	do(t, ctx, chromedp.Navigate(s.URL))
	until(t, ctx, "a bitrate is shown", number("tr.row", "mbps")+` > 1`)
	s.Configure("routes:\n  - { name: a, sourcs: [] }\n")
	until(t, ctx, "the page says what is wrong with the file", `document.querySelector("#fault").textContent.includes("sourcs") && document.querySelector("#fault").offsetParent`)
	do(t, ctx, chromedp.Click(chromedp.CSS(`[data-sort=mbps]`)), chromedp.Click(chromedp.CSS("tr.row .open")))
	until(t, ctx, "the charts have numbers", `[...document.querySelectorAll(".charts output")].every(o => /[0-9]/.test(o.textContent))`)
	until(t, ctx, "the order is by bitrate", `document.querySelector("th[aria-sort=descending]") && (v => v.every((x, i) => !i || v[i-1] >= x))([...document.querySelectorAll(".c-mbps")].map(e => parseFloat(e.textContent) || -1))`)
	shot(t, ctx, "desktop-dark")
	s.Configure(s.yaml)
	do(t, ctx, chromedp.Click(chromedp.CSS("#reload")))
	until(t, ctx, "the complaint is gone", `document.querySelector("#fault").hidden`)
	do(t, ctx, js(`document.querySelector("#level").value = "error", document.querySelector("#level").onchange()`))
	served.Until(t, "the daemon to log errors only", func() bool {
		_, text := s.Do("GET", "/v1/log-level", "")
		return strings.Contains(text, `"error"`)
	})
	s.wantUndisturbed()
}

// TestPhone looks at 390 px: nothing is wider than the screen, and what is
// touched is large enough.
func TestPhone(t *testing.T) {
	s := newStage(t, "", 3)
	ctx := browser(t, 390, 844, false)
	do(t, ctx, chromedp.Navigate(s.URL))
	far := s.row("viewer2")
	until(t, ctx, "a bitrate is shown", number(far, "mbps")+` > 1`)
	do(t, ctx, chromedp.Click(chromedp.CSS(far+" .open")))
	until(t, ctx, "the charts have numbers", `[...document.querySelectorAll(".charts output")].every(o => /[0-9]/.test(o.textContent))`)
	until(t, ctx, "there is something to see in the charts", `[...charts.past.values()].some(p => p.mbps.length >= 5)`)
	shot(t, ctx, "phone")
	if w := value[int](t, ctx, `document.documentElement.scrollWidth`); w > 390 {
		t.Errorf("the page is %d px wide on a screen of 390", w)
	}
	small := value[[]string](t, ctx, `[...document.querySelectorAll("button")].filter(b => b.offsetParent && b.offsetHeight < 30).map(b => b.textContent)`)
	if len(small) > 0 {
		t.Errorf("too small to touch: %q", small)
	}
	do(t, ctx, chromedp.Click(chromedp.CSS(far+" .kick")), chromedp.WaitVisible(chromedp.CSS("#ask")))
	shot(t, ctx, "phone-confirm")
	do(t, ctx, chromedp.Click(chromedp.CSS("#ask-yes")))
	s.players[1].WantEnd("the caller that was kicked on a phone")
}

// TestNames holds what a screen reader and a keyboard need.
func TestNames(t *testing.T) {
	s := newStage(t, "", 2)
	ctx := browser(t, 1360, 900, false)
	do(t, ctx, chromedp.Navigate(s.URL))
	until(t, ctx, "rows are there", `document.querySelectorAll("tr.row").length > 0`)
	nameless := value[[]string](t, ctx, `[...document.querySelectorAll("button, input, select, meter, canvas[role=img]")].filter(e => e.offsetParent &&
		!(e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length))).map(e => e.outerHTML)`)
	if len(nameless) > 0 {
		t.Errorf("without a name: %q", nameless)
	}
	do(t, ctx, js(`document.querySelector("tr.row .open").focus()`), chromedp.KeyEvent("\r"))
	until(t, ctx, "Enter opens the charts", `document.querySelector("tr.detail") && document.activeElement.getAttribute("aria-expanded") === "true"`)
	low := value[[]string](t, ctx, contrast)
	if len(low) > 0 {
		t.Errorf("contrast below 4.5: %q", low)
	}
}

// contrast lists visible texts whose color is too close to what is behind them.
const contrast = `(() => {
	const rgb = c => (c.match(/[\d.]+/g) || []).map(Number);
	const lum = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
	const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
	return [...document.querySelectorAll("body *")].filter(e => e.offsetParent && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())).map(e => {
		const a = lum(rgb(getComputedStyle(e).color)), b = lum(behind(e));
		return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.className + ": " + e.textContent.slice(0, 30)];
	}).filter(([c]) => c < 4.5).map(([c, text]) => c.toFixed(2) + " " + text);
})()`

// TestLogin: with a token the page shows a form, refuses a wrong token and who
// tries many, and its cookie is out of the script's reach.
func TestLogin(t *testing.T) {
	const token = "0123456789abcdef-token"
	d := served.Start(t, token, "routes:\n  - { name: a, sources: [ { url: 'unix:"+t.TempDir()+"/in.sock' } ] }\n")
	ctx := browser(t, 800, 600, false)
	do(t, ctx, chromedp.Navigate(d.URL), chromedp.WaitVisible(chromedp.CSS("#login")))
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#token"), "wrong\r"))
	until(t, ctx, "the refusal is shown", `document.querySelector("#login-fault").textContent.includes("not the token")`)
	shot(t, ctx, "login")
	enter := func(token string) {
		do(t, ctx, js(fmt.Sprintf(`document.querySelector("#token").value = %q, document.querySelector("#login").requestSubmit()`, token)))
		until(t, ctx, "an answer", `document.querySelector("#login-fault").textContent || document.querySelector('[data-route="a"]')`)
	}
	for i := 0; !value[bool](t, ctx, `document.querySelector("#login-fault").textContent.includes("Too many wrong tokens")`); i++ {
		if i > 100 {
			t.Fatal("a hundred tokens were looked at")
		}
		enter(fmt.Sprint("guess", i))
	}
	shot(t, ctx, "login-slow")
	served.Until(t, "the right token to be looked at", func() bool {
		enter(token)
		return value[bool](t, ctx, `Boolean(document.querySelector('[data-route="a"]'))`)
	})
	if c := value[string](t, ctx, `document.cookie`); c != "" {
		t.Errorf("the script sees the cookie %q", c)
	}
	do(t, ctx, chromedp.Click(chromedp.CSS("#logout")), chromedp.WaitVisible(chromedp.CSS("#login")))
}

// js runs a script for what it does.
func js(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](`(async () => { await (`+script+`); return {} })()`, chromedp.EvalAwaitPromise)
}

// TestOtherOrigin is a hostile page in the same browser: it can neither read
// nor change anything, not even when its name points to this machine.
func TestOtherOrigin(t *testing.T) {
	s := newStage(t, "", 1)
	id, target := s.Find(evil).ID, s.URL+"/"
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>hostile</title>")
	}))
	t.Cleanup(hostile.Close)
	ctx := chromium(t, 800, 600, false, chromedp.Flag("host-resolver-rules", "MAP rebound.example 127.0.0.1"))
	do(t, ctx, chromedp.Navigate(hostile.URL))
	for _, c := range []struct{ attack, want string }{
		{`fetch("` + target + `v1/status").then(r => r.text())`, "TypeError"},
		{`fetch("` + target + `v1/status", {mode: "no-cors"}).then(r => r.type + r.status)`, "opaque0"},
		{`fetch("` + target + `v1/connections/` + id + `", {method: "DELETE"}).then(r => r.text())`, "TypeError"},
		{`fetch("` + target + `v1/reload", {method: "POST", mode: "no-cors"}).then(r => r.type + r.status)`, "opaque0"},
		{`fetch("` + target + `v1/routes", {method: "POST", mode: "no-cors", body: '{"name":"x","sources":[{"url":"srt://127.0.0.1:1"}]}'}).then(r => r.type + r.status)`, "opaque0"},
		{`fetch("` + target + `v1/routes/studio-a", {method: "DELETE"}).then(r => r.text())`, "TypeError"},
		{`new Promise(done => { const e = new EventSource("` + target + `v1/stats/stream"); e.onerror = () => done("refused"); e.onmessage = () => done("read") })`, "refused"},
	} {
		if got := value[string](t, ctx, c.attack+`.catch(e => e.name)`); got != c.want {
			t.Errorf("%s: %s, want %s", c.attack, got, c.want)
		}
	}
	do(t, ctx, chromedp.Navigate(strings.Replace(target, "127.0.0.1", "rebound.example", 1)))
	for _, attack := range []string{`fetch("/v1/status")`, `fetch("/v1/reload", {method: "POST"})`, `fetch("/v1/connections/` + id + `", {method: "DELETE"})`, `fetch("/metrics")`, `fetch("/")`} {
		if got := value[int](t, ctx, attack+`.then(r => r.status)`); got != http.StatusMisdirectedRequest {
			t.Errorf("under a name that points here: %s: %d, want 421", attack, got)
		}
	}
	if names := s.routes(); names != "studio-a field-unit backhaul" {
		t.Errorf("a page of another origin drove the daemon: routes %s", names)
	}
	if _, events := s.Do("GET", "/v1/events", ""); strings.Contains(events, "taken over") || strings.Contains(events, "kicked") {
		t.Errorf("a page of another origin drove the daemon: %s", events)
	}
	s.wantUndisturbed()
}
