#!/bin/bash
# Installs the Debian packages that the demo, the tests and the benchmark use.
# Only what is missing is installed; where everything is there it costs a second.
# "deps.sh page" installs what the test of the daemon's page uses, and nothing else.
set -u

missing=()
# need PACKAGE COMMAND...: the package is missing if the command fails.
need() {
	local package=$1
	shift
	"$@" >/dev/null 2>&1 || missing+=("$package")
}

if [ "${1-}" = page ]; then
	need chromium sh -c 'command -v chromium'
	need fonts-dejavu-core test -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
	need() { :; }
fi
need ffmpeg ffmpeg -version
need mpv mpv --version
need srt-tools sh -c 'command -v srt-live-transmit'
need gcc gcc --version
need libc6-dev sh -c 'echo "#include <stdio.h>" | gcc -E -'
need pkg-config pkg-config --version
need libsrt-openssl-dev pkg-config --exists srt
need libssl-dev pkg-config --exists libcrypto
need gstreamer1.0-tools gst-launch-1.0 --version
need gstreamer1.0-plugins-base gst-inspect-1.0 --exists tcpserversink
need gstreamer1.0-plugins-good gst-inspect-1.0 --exists udpsrc
need gstreamer1.0-plugins-bad gst-inspect-1.0 --exists srtsrc
need gstreamer1.0-plugins-ugly gst-inspect-1.0 --exists x264enc
need libgstreamer1.0-dev pkg-config --exists gstreamer-base-1.0
need libgstreamer-plugins-base1.0-dev pkg-config --exists gstreamer-app-1.0
for lib in avcodec avdevice avfilter avformat swresample swscale avutil; do
	need "lib$lib-dev" pkg-config --exists "lib$lib"
done
need tshark tshark --version
need iproute2 sh -c 'command -v ip || test -x /usr/sbin/ip'
need mmdebstrap mmdebstrap --version
need systemd systemd-analyze --version
need curl curl --version
need python3 python3 --version
gi="import gi; gi.require_version('Gst', '1.0'); from gi.repository import Gst"
need python3-gi "${PYTHON:-/usr/bin/python3}" -c 'import gi'
need gir1.2-gstreamer-1.0 "${PYTHON:-/usr/bin/python3}" -c "$gi"

[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "deps: these are missing and there is no apt-get here; install the like of: ${missing[*]}" >&2
	exit 1
fi
root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "deps: missing packages: ${missing[*]}" >&2
		echo "deps: run as root, or install sudo, or run: apt-get install ${missing[*]}" >&2
		exit 1
	fi
	root=(sudo)
fi
echo "deps: installing by apt-get: ${missing[*]}"
run() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }
run update || echo "deps: apt-get update failed; trying with the lists that are there" >&2
if ! run install -y --no-install-recommends "${missing[@]}" >/dev/null; then
	echo "deps: apt-get could not install: ${missing[*]}" >&2
	exit 1
fi
