#!/bin/bash
# The main job in a minute, nothing simulated but the camera:
#   there: ffmpeg --http--> weirline serve --srt--> srt-live-transmit --> file
#   back:  file --> srt-live-transmit --srt--> weirline serve --http--> ffmpeg
# The content is compared at both ends of each way. Everything runs on loopback.
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 1

weirline=${WEIRLINE:-bin/weirline}
seconds=${DEMO_SECONDS:-5}
work=$(mktemp -d)
began=$SECONDS
running=()

cleanup() {
	for p in "${running[@]}"; do kill "$p" 2>/dev/null; done
	for p in "${running[@]}"; do wait "$p" 2>/dev/null; done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
	echo "demo: FAILED: $*" >&2
	for f in "$work"/*.log; do
		[ -s "$f" ] && { echo "--- $(basename "$f")" >&2; tail -n 15 "$f" >&2; }
	done
	exit 1
}

# port prints a free port below the range from which the system picks its own.
port() {
	local p
	for _ in $(seq 100); do
		p=$((20000 + RANDOM % 12000))
		if ! grep -qi ":$(printf %04X $p) " /proc/net/udp /proc/net/udp6 /proc/net/tcp /proc/net/tcp6 2>/dev/null; then
			echo $p
			return
		fi
	done
}

# bound KIND PORT waits until somebody has the udp or tcp port.
bound() {
	for _ in $(seq 200); do
		grep -qi ":$(printf %04X "$2") " /proc/net/"$1" /proc/net/"$1"6 2>/dev/null && return
		sleep 0.05
	done
	fail "nobody has $1 port $2 after 10 s"
}

# ends PID SECONDS WHAT waits for a process to end by itself.
ends() {
	for _ in $(seq $(($2 * 20))); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	fail "$3 does not end"
}

sha() { sha256sum <"$1" | cut -d' ' -f1; }

# streams FILE prints the sha256 of each elementary stream.
streams() { ffmpeg -v error -nostdin -f mpegts -i "$1" -map 0 -c copy -f streamhash -hash sha256 - | sort; }

# null prints an empty MPEG-TS packet.
null() {
	printf '\x47\x1f\xff\x10'
	printf '\xff%.0s' $(seq 184)
}

# trickle FILE writes a file at about 5 Mbit/s, says so, and then stays: libsrt
# throws the last moments away if its sender closes at once. Empty packets follow,
# because srt-live-transmit takes from its input ten full messages at a time.
trickle() {
	local block=31584 i
	sleep 1 # what it reads before it is connected it throws away
	for i in $(seq 0 $((($(stat -c %s "$1") - 1) / block))); do
		dd if="$1" bs=$block skip="$i" count=1 status=none || return
		sleep 0.05
	done
	for i in $(seq 84); do null; done
	touch "$work/fed"
	exec sleep 30
}

http=$(port)
"$weirline" serve --listen "127.0.0.1:$http" >"$work/weirline.log" 2>&1 &
running+=($!)
bound tcp "$http"

echo "== there: ffmpeg sends a test pattern for $seconds s through weirline to srt-live-transmit"
there=$(port)
srt-live-transmit -q -a no -c 1316 "srt://127.0.0.1:$there?mode=listener&latency=200" file://con \
	>"$work/there.ts" 2>"$work/slt-there.log" &
slt=$!
running+=($slt)
bound udp "$there"
# Two copies from one encoder: a file to compare with, and the network.
url="http://weirline@127.0.0.1:$http/srt://127.0.0.1:$there?latency=200"
ffmpeg -v error -nostdin -re -f lavfi -i "testsrc2=size=640x360:rate=25" -f lavfi -i "sine=frequency=440:sample_rate=48000" \
	-t "$seconds" -map 0 -map 1 -c:v mpeg2video -b:v 3M -g 25 -c:a mp2 -b:a 128k \
	-f tee "[f=mpegts]$work/sent.ts|[f=mpegts]$url" 2>"$work/ffmpeg-there.log" || fail "ffmpeg exited with $?"
ends $slt 10 "srt-live-transmit"
a=$(sha "$work/sent.ts") b=$(sha "$work/there.ts")
echo "   ffmpeg wrote          $(stat -c %s "$work/sent.ts") bytes  sha256 $a"
echo "   srt-live-transmit got $(stat -c %s "$work/there.ts") bytes  sha256 $b"
[ "$a" = "$b" ] && [ -s "$work/there.ts" ] || fail "what arrived is not what was sent"

echo "== back: srt-live-transmit sends it through weirline to ffmpeg"
back=$(port)
ffmpeg -v error -nostdin -analyzeduration 0 -probesize 500000 -f mpegts \
	-i "http://127.0.0.1:$http/srt://127.0.0.1:$back?mode=listener&latency=200&reconnect=0" \
	-map 0 -c copy -f streamhash -hash sha256 "$work/back.hash" 2>"$work/ffmpeg-back.log" &
viewer=$!
running+=($viewer)
bound udp "$back"
mkfifo "$work/fifo"
trickle "$work/sent.ts" >"$work/fifo" 2>/dev/null &
feeder=$!
running+=($feeder)
srt-live-transmit -q -a no -c 1316 file://con "srt://127.0.0.1:$back?latency=200" <"$work/fifo" 2>"$work/slt-back.log" &
slt=$!
running+=($slt)
for _ in $(seq 400); do
	[ -e "$work/fed" ] && break
	kill -0 $slt 2>/dev/null || fail "srt-live-transmit ended early"
	sleep 0.05
done
[ -e "$work/fed" ] || fail "srt-live-transmit does not take its input"
sleep 1 # the latency and some: everything has been played
kill $slt $feeder # it notices the signal when its input ends
ends $viewer 10 "ffmpeg"
streams "$work/sent.ts" >"$work/sent.hash" || fail "the file cannot be read"
sort -o "$work/back.hash" "$work/back.hash"
while IFS='=' read -r stream sum; do
	echo "   sent   stream ${stream/,SHA256/} sha256 $sum"
done <"$work/sent.hash"
while IFS='=' read -r stream sum; do
	echo "   ffmpeg stream ${stream/,SHA256/} sha256 $sum"
done <"$work/back.hash"
[ -s "$work/sent.hash" ] && cmp -s "$work/sent.hash" "$work/back.hash" || fail "what ffmpeg received is not what was sent"

echo
echo "report: $((SECONDS - began)) s; there $(stat -c %s "$work/there.ts") bytes, back $(wc -l <"$work/back.hash") streams, nothing missing, nothing altered"
echo "OK sha256 sent $a received $b"
