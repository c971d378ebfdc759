package page

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/weirline/weirline/tests/served"
)

// browser starts headless Chromium for our page. What the page complains of, a
// script error or a breach of its policy, fails the test.
func browser(t *testing.T, width, height int64, dark bool) context.Context {
	t.Helper()
	ctx := chromium(t, width, height, dark)
	listen(t, ctx)
	return ctx
}

func chromium(t *testing.T, width, height int64, dark bool, flags ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("chromium is not installed: run make test-page, or apt-get install chromium: %v", err)
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(int(width), int(height)),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.UserDataDir(t.TempDir()),
	)
	opts = append(opts, flags...)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	do(t, ctx,
		chromedp.EmulateViewport(width, height, func(m *emulation.SetDeviceMetricsOverrideParams, _ *emulation.SetTouchEmulationEnabledParams) {
			m.Mobile = width < 600
		}),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		}),
	)
	ctx, cancel = context.WithTimeout(ctx, 80*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// listen collects what the page complains of; answers that a test asks for,
// 401, 403 and 429, are no complaint.
func listen(t *testing.T, ctx context.Context) {
	t.Helper()
	var mu sync.Mutex
	var heard []string
	err := chromedp.Listen(ctx, func(ev any) {
		text := ""
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			text = ev.ExceptionDetails.Text
			if x := ev.ExceptionDetails.Exception; x != nil {
				text += " " + x.Description
			}
		case *log.EventEntryAdded:
			asked := slices.ContainsFunc([]string{"401", "403", "429"}, func(status string) bool { return strings.Contains(ev.Entry.Text, status) })
			if ev.Entry.Level == log.EntryLevelError && !asked {
				text = ev.Entry.Text + " " + ev.Entry.URL
			}
		}
		if text != "" {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, text := range heard {
			t.Errorf("the page complains: %s", text)
		}
	})
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// until waits for a JavaScript expression to be true.
func until(t *testing.T, ctx context.Context, what, expr string) {
	t.Helper()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](`(() => { try { return Boolean(`+expr+`) } catch { return false } })()`, chromedp.WithPollingTimeout(served.Patience), chromedp.WithPollingInterval(100*time.Millisecond)))
	if err != nil {
		shot(t, ctx, "failed-"+t.Name())
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

// value evaluates a JavaScript expression.
func value[T any](t *testing.T, ctx context.Context, expr string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expr, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return v
}

// shot keeps a picture of the whole page in out/page.
func shot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Errorf("screenshot: %v", err)
		return
	}
	dir := filepath.Join("..", "..", "out", "page")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".png")
	if err := os.WriteFile(file, png, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("picture: out/page/%s (%d kB)", filepath.Base(file), len(png)/1000)
}
