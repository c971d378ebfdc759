#!/bin/bash
# Loads the plugin that was built here into a newer GStreamer, that of another
# Debian (SUITE, trixie), and sends between it and the stock elements there, both
# ways and encrypted, the content compared. The packages are only unpacked, into a
# folder that is removed at the end (KEEP=folder keeps it there and uses it again).
#
#   make plugin && sudo tests/gst/newer.sh
set -u
cd "$(dirname "$0")/../.." || exit 1

suite=${SUITE:-trixie}
plugin=${1:-out/gst/libgstsrtgo.so}
work=$(mktemp -d)
root=${KEEP:-$work/root}
running=()

finish() {
	for p in "${running[@]}"; do kill "$p" 2>/dev/null; done
	rm -rf "$work"
}
trap finish EXIT
fail() { echo "newer: $*" >&2; exit 1; }

[ "$(id -u)" -eq 0 ] || fail "a root of its own needs root: run it by sudo"
[ -f "$plugin" ] || fail "there is no $plugin: make plugin builds it"

if ! [ -x "$root/usr/bin/gst-launch-1.0" ]; then
	# From where this system's own packages come.
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $codename" 'Component: main' | head -1)
	[ -n "$mirror" ] || fail "apt knows no source of $codename: run apt-get update"
	mmdebstrap --quiet --variant=extract --include=base-files,gstreamer1.0-tools,gstreamer1.0-plugins-bad \
		"$suite" "$root" "deb $mirror $suite main" || fail "cannot unpack the packages of $suite"
fi

run() { env -i PATH="$PATH" HOME=/tmp GST_PLUGIN_PATH=/w GST_REGISTRY=/w/registry.bin timeout 30 chroot "$root" "$@" 2>>"$work/said"; }
mkdir -p "$root/w" "$root/tmp" && rm -f "$root"/w/* && cp "$plugin" "$root/w/" || exit 1
head -c 1316000 /dev/urandom >"$root/w/in"

run gst-inspect-1.0 --version | head -1
run gst-inspect-1.0 srtgosrc >/dev/null && run gst-inspect-1.0 srtgosink >/dev/null || fail "the elements are not found: $(tail -5 "$work/said")"

# transfer SENDER RECEIVER
transfer() {
	local port=$((10000 + RANDOM % 20000)) receiver secret=passphrase=correct-horse-battery
	rm -f "$root/w/out"
	run gst-launch-1.0 -q "$2" uri="srt://:$port?mode=listener&$secret" ! filesink location=/w/out &
	receiver=$!
	running+=("$receiver")
	until grep -q ":$(printf %04X $port) " /proc/net/udp /proc/net/udp6; do
		kill -0 "$receiver" 2>/dev/null || fail "$2 does not listen: $(tail -5 "$work/said")"
		sleep 0.1
	done
	run gst-launch-1.0 -q filesrc location=/w/in blocksize=1316 ! identity datarate=1000000 sync=true ! \
		"$1" uri="srt://127.0.0.1:$port?pbkeylen=32&$secret" || fail "$1 ended with an error: $(tail -5 "$work/said")"
	wait "$receiver" || fail "$2 ended with an error: $(tail -5 "$work/said")"
	# The stock sink loses what is in flight at the end of the stream.
	local size
	size=$(stat -c %s "$root/w/out")
	if [ "$1" = srtsink ]; then [ "$size" -gt 1000000 ]; else [ "$size" -eq 1316000 ]; fi || fail "$1 to $2: $size bytes of 1316000"
	cmp -n "$size" "$root/w/in" "$root/w/out" || fail "$1 to $2: the content differs"
	echo "$1 to $2: $size bytes, content identical"
}
transfer srtgosink srtgosrc
transfer srtgosink srtsrc
transfer srtsink srtgosrc
