#!/bin/sh
# .ci/run, in a tree whose targets are made up: a target that fails is its failure, and nothing that it
# has started goes on.
# usage: test_ci.sh BUILD_DIRECTORY
# What stands in single quotes is for the targets that are made up.
# shellcheck disable=SC2016
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
mkdir -p "$work/.ci" "$work/scripts"
cp .ci/run "$work/.ci"
printf '#!/bin/sh\n' >"$work/scripts/setup.sh"
chmod +x "$work/scripts/setup.sh"
all=$(sed -nE 's/^(setsid )?make (.*)$/\2/p' .ci/run | sed 's/ &$//' | tr ' ' '\n' | grep '^[a-z]' | sort -u | tr '\n' ' ')

# ends STATUS TARGET COMMAND [NUMA]: with that command for the target, and that one for check-numa, .ci/run
# succeeds (0) or fails (1), and check-numa is over.
ends() {
	{
		echo '%:; @true'
		echo "check-numa:; @echo \$\$PPID >numa; ${4-true}"
		echo "$2:; @$3"
	} >"$work/Makefile"
	rm -f "$work/numa"
	env -u MAKEFLAGS -u MAKELEVEL -u CC -u MODE sh "$work/.ci/run" </dev/null >"$work/log" 2>&1
	[ $(($? != 0)) -eq "$1" ] && { [ ! -s "$work/numa" ] || gone "$(cat "$work/numa")"; }
}
# gone PID: within the time that a busy machine may need.
gone() {
	for _ in $(seq 300); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.1
	done
	echo "process $1 goes on"
	return 1
}
holds "all targets succeed" ends 0 lint true
for target in $all; do
	case $target in
	check-numa) holds "$target fails" ends 1 none true false ;;
	gate) holds "gate fails while check-numa runs" ends 1 gate 'while [ ! -s numa ]; do sleep 0.1; done; false' 'exec sleep 60' ;;
	*) holds "$target fails" ends 1 "$target" false ;;
	esac
done
echo "1..$n"
