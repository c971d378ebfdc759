# weirline: `make` or `make help` lists the targets.
SHELL := /bin/bash
GO    ?= go

# Where install puts the binary.
PREFIX  ?= /usr/local
DESTDIR ?=

# The plugin's folder: where GStreamer looks, unless said otherwise; and the
# user's own, where it looks too.
PLUGIN_MAX   := 8388608
GST_PLUGINDIR ?= $(shell pkg-config --variable=pluginsdir gstreamer-1.0 2>/dev/null)
USER_DATA     = $(or $(XDG_DATA_HOME),$(HOME)/.local/share)

# Knobs of the long targets.
FUZZTIME     ?= 60s
SOAK_MINUTES ?= 10
BENCH_PROFILE ?= P2
BENCH_ROUNDS  ?= 3
BENCH_SECS    ?= 10

# Run without installing: the tool is built from the module cache at this version.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

# The packager, likewise, and what the package is called.
NFPM    := v2.41.1
VERSION ?= $(or $(shell git describe --tags --match 'v[0-9]*' 2>/dev/null | sed 's/^v//; s/-/+/; s/-/./g'),0.1.0~$(shell git show -s --format=%cd --date=format:%Y%m%d%H%M 2>/dev/null))

# The operating systems and architectures the transport and the sidecar compile for.
CROSS := darwin/arm64 windows/amd64 linux/arm64 linux/386

# Tests that drive other programs in real time run after the rest, one package
# at a time, so that they do not compete for the cores.
ALONE   := ./tests/interop ./tests/soak ./tests/ffproto ./tests/page ./tests/deb ./tests/gst ./tests/ffmpeg
TOGETHER = $(shell $(GO) list ./... | grep -v $(foreach t,$(ALONE),-e $(t:.%=%)$$))

.DEFAULT_GOAL := help
.PHONY: lab lab-quick lab-build
.PHONY: deb test-deb test-page test-ffmpeg
.PHONY: help deps demo test check cross race fuzz bench soak interop build plugin test-gst test-gst-newer install install-plugin install-user clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: deps build ## ffmpeg -> weirline -> SRT -> srt-live-transmit and back, content verified
	@bash tests/demo/demo.sh

test: deps check cross plugin deb ## install what is needed and run all tests (vet, staticcheck, race, cross build, quick interop and soak; plugin, package, page)
	$(GO) test -tags weirlinedebug -short ./srtcore/internal/engine ./srtcore/internal/sim
	$(GO) test -tags purego ./srtcore/internal/crypt
	@echo "go test -race of everything but $(ALONE)"
	@$(GO) test -race -timeout 10m $(TOGETHER)
	$(GO) test -race -count=1 -timeout 10m -p 1 ./tests/interop ./tests/soak ./tests/ffproto
	@$(MAKE) --no-print-directory test-page
	WEIRLINE_DEB=$(CURDIR)/dist $(GO) test -count=1 -timeout 5m ./tests/deb
	$(GO) test -short -count=1 -timeout 10m ./tests/ffmpeg
	$(GST_TEST) -short -timeout 5m ./tests/gst

check: ## vet and staticcheck
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

race: ## all tests that need no other programs, with the race detector, three times
	$(GO) test -race -count=3 -timeout 30m $(TOGETHER)

fuzz: ## run every fuzz target for FUZZTIME (60s) each
	@FUZZTIME=$(FUZZTIME) bash tests/fuzz.sh

bench: deps ## weirline against libsrt: BENCH_PROFILE (P2), BENCH_ROUNDS (3), BENCH_SECS (10)
	@$(MAKE) --no-print-directory -C tests/lab/peer OUT=$(CURDIR)/out/bench/bin
	CGO_ENABLED=0 $(GO) build -trimpath -o out/bench/bin/sides ./tests/lab/sides
	$(GO) run ./tests/lab/run -profile $(BENCH_PROFILE) -rounds $(BENCH_ROUNDS) -secs $(BENCH_SECS) \
	  -peer out/bench/bin/srtbench -weirline out/bench/bin/sides -out out/bench

soak: ## SOAK_MINUTES (10) of 20 Mbit/s through 1 % loss with key refresh; nothing lost, memory flat
	WEIRLINE_SOAK_MINUTES=$(SOAK_MINUTES) $(GO) test -count=1 -v -timeout $$(( $(SOAK_MINUTES) + 5 ))m ./tests/soak

interop: deps ## the full matrix against srt-live-transmit, ffmpeg and GStreamer
	WEIRLINE_INTEROP=full $(GO) test -count=1 -v -timeout 40m ./tests/interop

GST_TEST = WEIRLINE_GST_PLUGINS=$(CURDIR)/out/gst $(GO) test -count=1

test-gst: plugin ## srtgosrc and srtgosink beside the stock elements: drop-in, tables, churn, cost, timing (about 10 minutes)
	$(GST_TEST) -v -timeout 30m ./tests/gst

test-gst-newer: plugin ## the built plugin in GStreamer 1.26 (root; takes Debian's newer packages into a folder of its own)
	bash tests/gst/newer.sh

test-page: ## the daemon's page in headless Chromium (installs it by apt-get); pictures in out/page
	@bash tests/deps.sh page
	$(GO) test -count=1 -timeout 5m ./tests/page

test-ffmpeg: deps ## ffmpeg by http, unix, tcp, udp, pipe and weirline exec; peers that refuse, die, return (3 minutes; FFMPEG_ARGS=-short: 1)
	$(GO) test -count=1 -timeout 15m $(FFMPEG_ARGS) ./tests/ffmpeg

plugin: deps ## build out/gst/libgstsrtgo.so, the GStreamer plugin (stripped, at most 8 MiB)
	@mkdir -p out/gst
	$(GO) build -trimpath -ldflags='-s -w' -buildmode=c-shared -o out/gst/libgstsrtgo.so ./gstplugin/plugin
	@rm -f out/gst/libgstsrtgo.h
	@size=$$(stat -c %s out/gst/libgstsrtgo.so); echo "out/gst/libgstsrtgo.so: $$size bytes"; \
	  if [ $$size -gt $(PLUGIN_MAX) ]; then echo "plugin: larger than $(PLUGIN_MAX) bytes" >&2; exit 1; fi

build: ## build bin/weirline (static, no cgo)
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/weirline ./sidecar/cmd/weirline

cross: ## compile srtcore, sidecar and the plain callbacks of ffprotocol for the other systems
	@set -e; for t in $(CROSS); do \
	  echo "build for $$t"; CGO_ENABLED=0 GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) build ./srtcore/... ./sidecar/... ./ffprotocol; \
	done

install: build ## install the binary below PREFIX (/usr/local) and, where GStreamer is, the plugin; DESTDIR works
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 0755 bin/weirline $(DESTDIR)$(PREFIX)/bin/weirline
	@if pkg-config --exists gstreamer-base-1.0 2>/dev/null; then $(MAKE) --no-print-directory install-plugin; \
	  else echo "install: no GStreamer here, so no plugin; make install-plugin installs what it needs"; fi

install-plugin: plugin ## install the plugin where gst-inspect-1.0 finds it (GST_PLUGINDIR, DESTDIR)
	@dir="$(GST_PLUGINDIR)"; [ -n "$$dir" ] || dir=$$(pkg-config --variable=pluginsdir gstreamer-1.0) || exit 1; set -x; \
	  install -d "$(DESTDIR)$$dir" && install -m 0755 out/gst/libgstsrtgo.so "$(DESTDIR)$$dir/libgstsrtgo.so"

install-user: build plugin ## install both for this user alone: ~/.local/bin, ~/.local/share/gstreamer-1.0/plugins
	install -d $(HOME)/.local/bin $(USER_DATA)/gstreamer-1.0/plugins
	install -m 0755 bin/weirline $(HOME)/.local/bin/weirline
	install -m 0755 out/gst/libgstsrtgo.so $(USER_DATA)/gstreamer-1.0/plugins/libgstsrtgo.so

deb: build ## a Debian package of the daemon in dist/
	@rm -rf out/deb && mkdir -p out/deb/root dist
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w -X main.version=$(VERSION)' -o out/deb/root/weirline ./sidecar/cmd/weirline
	out/deb/root/weirline man out/deb/root/man && gzip -9n out/deb/root/man/*.1
	out/deb/root/weirline completion bash >out/deb/root/weirline.bash
	out/deb/root/weirline completion zsh >out/deb/root/_weirline
	out/deb/root/weirline completion fish >out/deb/root/weirline.fish
	VERSION=$(VERSION) ARCH=$$($(GO) env GOARCH) $(GO) run github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM) package -f sidecar/packaging/nfpm.yaml -p deb -t dist/

test-deb: deps deb ## install the package in a fresh root, start it, use it, stop it
	WEIRLINE_DEB=$(CURDIR)/dist $(GO) test -count=1 -v -timeout 10m ./tests/deb

deps: ## install the Debian packages that demo, tests and bench use (apt-get, as root or by sudo)
	@bash tests/deps.sh

clean: ## remove what was built
	rm -rf bin out dist

lab: lab-build ## measure everything beside libsrt, gosrt and raw UDP, about 50 minutes; report in out/lab (LAB_ARGS)
	out/lab/bin/suite $(LAB_ARGS)

lab-quick: lab-build ## the measurements of the README's bars, under 15 minutes; report in out/lab
	out/lab/bin/suite -quick $(LAB_ARGS)

lab-build: deps build
	@$(MAKE) --no-print-directory -C tests/lab/peer OUT=$(CURDIR)/out/lab/bin all
	$(GO) build -o out/lab/bin/load ./tests/lab/load
	CGO_ENABLED=0 $(GO) build -trimpath -o out/lab/bin/sides ./tests/lab/sides
	$(GO) build -o out/lab/bin/suite ./tests/lab/suite
