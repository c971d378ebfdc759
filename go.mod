module github.com/weirline/weirline

go 1.26

require (
	github.com/asticode/go-astits v1.13.0
	github.com/coreos/go-systemd/v22 v22.5.0
	github.com/go-gst/go-gst v1.4.0
	github.com/spf13/cobra v1.9.1
	golang.org/x/net v0.53.0
	golang.org/x/sys v0.43.0
)

require (
	github.com/asticode/go-astikit v0.30.0 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/go-gst/go-glib v1.4.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mattn/go-pointer v0.0.1 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/spf13/pflag v1.0.6 // indirect
	golang.org/x/exp v0.0.0-20240909161429-701f63a606c0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
