package endpoint

import (
	"net/http"
	"path/filepath"
	"runtime"
	"testing"
)

// Sessions that have ended leave no goroutine and no connection behind.
func TestSessionsLeaveNothingBehind(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			r.Body.Read(make([]byte, 1))
			return
		}
		w.Write(media(7))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	sock := filepath.Join(t.TempDir(), "s")
	in := listening(t, "unix:"+sock)
	pulled, pushed := mustSource(t, url), mustSink(t, url)
	before := runtime.NumGoroutine()
	for range 20 {
		src, err := pulled.OpenSource(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		src.Close()
		sink, err := pushed.OpenSink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sink.WriteBatch([][]byte{media(7)})
		sink.Abort()
		c := connect(t, in, media(7))
		connect(t, in, nil).Close()
		src = openSource(t, in)
		src.Close()
		c.Close()
	}
	until(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
}
