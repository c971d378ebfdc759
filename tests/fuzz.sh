#!/bin/bash
# Runs every fuzz target of the tree for FUZZTIME (60s) each, one after another.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz DIR TARGET: the go command sometimes reports its own deadline as a
# failure of the target; a real one names the input that failed.
fuzz() {
	echo "== $1 $2"
	go test -run '^$' -fuzz "^$2\$" -fuzztime "${FUZZTIME:-60s}" -fuzzminimizetime 1x "$1" 2>&1 | tee "$log" && return
	if grep -q 'context deadline exceeded' "$log" && ! grep -qE 'Failing input|panic:|\.go:[0-9]+:' "$log"; then
		echo "$2: ended by the go command's own deadline; no input failed"
		return
	fi
	echo "fuzz: $2 in $1 FAILED" >&2
	exit 1
}

targets=$(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sort) || exit 1
while IFS=: read -r file _ func; do
	fuzz "$(dirname "$file")" "${func#func }" </dev/null
done <<<"$targets"
echo "every fuzz target ran for ${FUZZTIME:-60s}"
