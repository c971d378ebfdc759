package ingest

import "testing"

func TestTargetURL(t *testing.T) {
	for _, c := range []struct{ uri, want string }{
		{"/srt://h:1?a=b&c=d", "srt://h:1?a=b&c=d"},
		{"/srt://[::1]:9000?mode=caller", "srt://[::1]:9000?mode=caller"},
		{"/srt://:9000?mode=listener", "srt://:9000?mode=listener"},
		{"/srt://h:1?streamid=%23!::r=live/x,m=publish", "srt://h:1?streamid=%23!::r=live/x,m=publish"},
		{"/srt:/h:1", "srt://h:1"},
		{"/srt/h:1?a=b", "srt://h:1?a=b"},
		{"/srt?url=srt%3A%2F%2Fh%3A1%3Fa%3Db%26streamid%3D%2523x+y", "srt://h:1?a=b&streamid=%23x+y"},
		{"http://127.0.0.1:9710/srt://h:1", "srt://h:1"},
		{"/", ""}, {"/srt", ""}, {"/srt/", ""}, {"/srt://", ""}, {"/favicon.ico", ""},
		{"/srt?url=srt://h:1?a=b&c=d", ""},
		{"/srt?url=http%3A%2F%2Fh", ""},
		{"/srt?url=%zz", ""},
		{"/srt?x=1", ""},
		{"http://127.0.0.1", ""},
	} {
		got, err := targetURL(c.uri)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: %q, %v; want %q", c.uri, got, err, c.want)
		}
	}
}

func FuzzTargetURL(f *testing.F) {
	f.Add("/srt://h:1?a=b")
	f.Add("/srt?url=srt%3A%2F%2Fh")
	f.Add("http://")
	f.Fuzz(func(t *testing.T, uri string) {
		got, err := targetURL(uri)
		if err == nil && len(got) <= len("srt://") {
			t.Errorf("%q gave %q", uri, got)
		}
	})
}
