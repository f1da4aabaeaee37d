#!/bin/sh
# Runs the Erlang peer: so many schedulers, and room for N processes and those
# that the emulator has of its own. sb_peer.beam and outside.so are in build/peers,
# or in $PEERS_BUILD.
# usage: run.sh WORK WORKERS N
set -eu

usage() {
	echo "erlang: $1" >&2
	exit 3
}

[ $# -eq 3 ] || usage "usage: run.sh WORK WORKERS N"
for number in "$2" "$3"; do
	case $number in
	'' | 0* | *[!0-9]*) usage "expected a number from 1, not '$number'" ;;
	esac
done
build=${PEERS_BUILD-$(dirname "$0")/../../../build/peers}
[ -e "$build/sb_peer.beam" ] || usage "there is no sb_peer.beam in $build"

# A million processes at a time: without an area of its own (MiB), 4 KiB for each,
# the emulator gives the memory of the warm-up back to the system.
area=
[ "$1" != skynet ] || area="+MMscs $(($3 / 256 + 512)) +MMsco false"

export ERL_CRASH_DUMP_BYTES=0
# shellcheck disable=SC2086
exec erl -noinput -boot no_dot_erlang -kernel logger_level none -pa "$build" \
	+S "$2:$2" +P "$(($3 + $3 / 4 + 10000))" $area -run sb_peer main "$1" "$2" "$3"
