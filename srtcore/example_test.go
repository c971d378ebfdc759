package srtcore_test

import (
	"fmt"

	"github.com/weirline/weirline/srtcore"
)

func ExampleParseURL() {
	target, err := srtcore.ParseURL("srt://example.net:9000?latency=200ms&streamid=#!::r=live/a,m=publish&passphrase=not-for-logs")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(target.Mode, target.Addr, target.Config.RcvLatency)
	fmt.Println(target.Config.StreamID)
	fmt.Println(target)
	// Output:
	// caller example.net:9000 200ms
	// #!::r=live/a,m=publish
	// srt://example.net:9000?mode=caller&latency=200ms&streamid=%23!::r=live/a,m=publish&passphrase=(hidden)
}

func ExampleParseURL_mistake() {
	_, err := srtcore.ParseURL("srt://example.net:9000?latancy=200")
	fmt.Println(err)
	// Output: option "latancy" is unknown; did you mean "latency"?
}

func ExampleParseStreamID() {
	id, err := srtcore.ParseStreamID("#!::r=live/a,m=publish,u=admin")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.Resource(), id.Mode(), id.User())
	// Output: live/a publish admin
}
