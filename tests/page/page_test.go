package page

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/tests/page/fake"
)

const row = `tr.row[data-id="p2"]`

// TestOperate is an operator's walk: look, filter, open the charts, kick a
// caller, remove a route.
func TestOperate(t *testing.T) {
	d := fake.New(12)
	url := serve(t, d, control.Options{})
	ctx := browser(t, 1360, 900, false)
	do(t, ctx, chromedp.Navigate(url))
	until(t, ctx, "all connections are there", `document.querySelectorAll("tr.row").length === 15`)
	until(t, ctx, "a bitrate is shown", `parseFloat(document.querySelector('`+row+` .c-mbps').textContent) > 1`)

	first := value[string](t, ctx, `document.querySelector('`+row+` .c-mbps').textContent + document.querySelector('`+row+` .c-rtt').textContent`)
	until(t, ctx, "the numbers change", `document.querySelector('`+row+` .c-mbps').textContent + document.querySelector('`+row+` .c-rtt').textContent !== "`+first+`"`)

	if title := value[string](t, ctx, `document.title`); title != "weirline" {
		t.Errorf("the stream id ran a script: title %q", title)
	}
	if n := value[int](t, ctx, `document.querySelectorAll("img, #rows script").length`); n != 0 {
		t.Errorf("the stream id became %d elements", n)
	}
	if got := value[string](t, ctx, `document.querySelector('tr.row[data-id="p1"] .c-stream').textContent`); got != fake.Evil {
		t.Errorf("stream id %q", got)
	}

	do(t, ctx, chromedp.Click(chromedp.CSS(row+" .open")))
	until(t, ctx, "five charts are drawn", `[...document.querySelectorAll(".charts canvas")].filter(c => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(v => v)).length === 5`)
	until(t, ctx, "the charts have numbers", `[...document.querySelectorAll(".charts output")].every(o => /[0-9]/.test(o.textContent))`)
	d.Event("warn", "studio-a", "refused", "192.0.2.9:40100: wrong passphrase")
	until(t, ctx, "the event is listed", `document.querySelector("#events li").textContent.includes("wrong passphrase")`)
	until(t, ctx, "there is something to see in the charts", `charts.past.get("p2").mbps.length >= 12`)
	shot(t, ctx, "desktop-light")

	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#filter"), "viewer7"))
	until(t, ctx, "the filter leaves one", `document.querySelectorAll("tr.row").length === 1`)
	do(t, ctx, js(`document.querySelector("#filter").value = "", document.querySelector("#filter").oninput()`))

	kickCaller(t, d, ctx)
	do(t, ctx, chromedp.Click(chromedp.CSS(`[data-route="field-unit"] .remove`)), chromedp.WaitVisible(chromedp.CSS("#ask")))
	do(t, ctx, chromedp.Click(chromedp.CSS("#ask-yes")))
	until(t, ctx, "the route is gone", `!document.querySelector('[data-route="field-unit"]')`)
	if n := len(d.Routes()); n != 2 {
		t.Errorf("%d routes are left, want 2", n)
	}
}

// kickCaller says no first: nothing may happen then.
func kickCaller(t *testing.T, d *fake.Daemon, ctx context.Context) {
	t.Helper()
	for _, answer := range []string{"#ask-no", "#ask-yes"} {
		do(t, ctx, chromedp.Click(chromedp.CSS(row+" .kick")), chromedp.WaitVisible(chromedp.CSS("#ask")))
		if text := value[string](t, ctx, `document.querySelector("#ask").textContent`); !strings.Contains(text, "192.0.2.11:50001") {
			t.Errorf("the question does not name the caller: %q", text)
		}
		if answer == "#ask-yes" {
			shot(t, ctx, "confirm")
		}
		do(t, ctx, chromedp.Click(chromedp.CSS(answer)), chromedp.WaitNotVisible(chromedp.CSS("#ask")))
		if answer == "#ask-no" && d.WasKicked("p2") {
			t.Fatal("kicked after Cancel")
		}
	}
	until(t, ctx, "the caller is gone", `!document.querySelector('`+row+`')`)
	if !d.WasKicked("p2") {
		t.Error("the daemon was not told")
	}
}

func TestDark(t *testing.T) {
	d := fake.New(4)
	d.ConfigError = "weirline.yaml:12: routes[0].sourcs is not known: allowed are name, sources, outputs"
	ctx := browser(t, 1360, 900, true)
	do(t, ctx, chromedp.Navigate(serve(t, d, control.Options{})))
	until(t, ctx, "a bitrate is shown", `parseFloat(document.querySelector('tr.row .c-mbps').textContent) > 1`)
	do(t, ctx, chromedp.Click(chromedp.CSS(`[data-sort=mbps]`)), chromedp.Click(chromedp.CSS("tr.row .open")))
	until(t, ctx, "the charts have numbers", `[...document.querySelectorAll(".charts output")].every(o => /[0-9]/.test(o.textContent))`)
	until(t, ctx, "the order is by bitrate", `document.querySelector("th[aria-sort=descending]") && (v => v.every((x, i) => !i || v[i-1] >= x))([...document.querySelectorAll(".c-mbps")].map(e => parseFloat(e.textContent)))`)
	shot(t, ctx, "desktop-dark")
}

// TestPhone looks at 390 px: nothing is wider than the screen, and what is
// touched is large enough.
func TestPhone(t *testing.T) {
	ctx := browser(t, 390, 844, false)
	do(t, ctx, chromedp.Navigate(serve(t, fake.New(3), control.Options{})))
	until(t, ctx, "a bitrate is shown", `parseFloat(document.querySelector('tr.row .c-mbps').textContent) > 1`)
	do(t, ctx, chromedp.Click(chromedp.CSS("tr.row .open")))
	until(t, ctx, "the charts have numbers", `[...document.querySelectorAll(".charts output")].every(o => /[0-9]/.test(o.textContent))`)
	shot(t, ctx, "phone")
	if w := value[int](t, ctx, `document.documentElement.scrollWidth`); w > 390 {
		t.Errorf("the page is %d px wide on a screen of 390", w)
	}
	small := value[[]string](t, ctx, `[...document.querySelectorAll("button")].filter(b => b.offsetParent && b.offsetHeight < 30).map(b => b.textContent)`)
	if len(small) > 0 {
		t.Errorf("too small to touch: %q", small)
	}
}

// TestNames holds what a screen reader and a keyboard need.
func TestNames(t *testing.T) {
	ctx := browser(t, 1360, 900, false)
	do(t, ctx, chromedp.Navigate(serve(t, fake.New(2), control.Options{})))
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

// TestLogin: with a token the page shows a form, refuses a wrong token, and
// its cookie is out of the script's reach.
func TestLogin(t *testing.T) {
	const token = "0123456789abcdef-token"
	ctx := browser(t, 800, 600, false)
	do(t, ctx, chromedp.Navigate(serve(t, fake.New(1), control.Options{Token: token})), chromedp.WaitVisible(chromedp.CSS("#login")))
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#token"), "wrong\r"))
	until(t, ctx, "the refusal is shown", `document.querySelector("#login-fault").textContent.includes("not the token")`)
	shot(t, ctx, "login")
	do(t, ctx, js(`document.querySelector("#token").value = ""`), chromedp.SendKeys(chromedp.CSS("#token"), token+"\r"))
	until(t, ctx, "the page is there", `document.querySelectorAll("tr.row").length > 0`)
	if c := value[string](t, ctx, `document.cookie`); c != "" {
		t.Errorf("the script sees the cookie %q", c)
	}
}

// js runs a script for what it does.
func js(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](`(async () => { await (`+script+`); return {} })()`, chromedp.EvalAwaitPromise)
}

// TestOtherOrigin is a hostile page in the same browser: it can neither read
// nor change anything.
func TestOtherOrigin(t *testing.T) {
	d := fake.New(2)
	target := serve(t, d, control.Options{})
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>hostile</title>")
	}))
	t.Cleanup(hostile.Close)
	ctx := chromium(t, 800, 600, false)
	do(t, ctx, chromedp.Navigate(hostile.URL))
	for _, c := range []struct{ attack, want string }{
		{`fetch("` + target + `v1/status").then(r => r.text())`, "TypeError"},
		{`fetch("` + target + `v1/status", {mode: "no-cors"}).then(r => r.type + r.status)`, "opaque0"},
		{`fetch("` + target + `v1/connections/p1", {method: "DELETE"}).then(r => r.text())`, "TypeError"},
		{`fetch("` + target + `v1/reload", {method: "POST", mode: "no-cors"}).then(r => r.type + r.status)`, "opaque0"},
		{`fetch("` + target + `v1/routes/studio-a", {method: "DELETE"}).then(r => r.text())`, "TypeError"},
		{`new Promise(done => { const e = new EventSource("` + target + `v1/stats/stream"); e.onerror = () => done("refused"); e.onmessage = () => done("read") })`, "refused"},
	} {
		if got := value[string](t, ctx, c.attack+`.catch(e => e.name)`); got != c.want {
			t.Errorf("%s: %s, want %s", c.attack, got, c.want)
		}
	}
	if d.WasKicked("p1") || len(d.Routes()) != 3 || d.ReloadCount() != 0 {
		t.Error("a page of another origin drove the daemon")
	}
}
