#!/bin/sh
# make dist: the same bytes each time; what it holds is this commit, knows its revision without git,
# and has all that a build needs.
# usage: test_dist.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

pack() {
	env -u MAKEFLAGS -u MAKELEVEL -u MODE make -s dist >"$work/name" 2>&1 && cp "$(tail -1 "$work/name")" "$1"
}
same_bytes() {
	pack "$work/a.tar.gz" && sleep 1.1 && pack "$work/b.tar.gz" && cmp "$work/a.tar.gz" "$work/b.tar.gz"
}
holds_commit() {
	mkdir "$work/tree" && tar -C "$work/tree" --strip-components=1 -xzf "$work/a.tar.gz" &&
		git ls-tree -r --name-only HEAD | sort >"$work/expected" &&
		(cd "$work/tree" && find . -type f -o -type l) | sed 's|^\./||' | grep -vx REVISION | sort |
		diff "$work/expected" -
}
knows_revision() {
	[ "$(cat "$work/tree/REVISION")" = "$(git describe --always --abbrev=12)" ] &&
		[ "$(env -u MAKEFLAGS -u MAKELEVEL make -s -C "$work/tree" print-REVISION)" = "$(cat "$work/tree/REVISION")" ]
}
if git rev-parse HEAD >/dev/null 2>&1; then
	holds "the same bytes each time" same_bytes
	holds "every file of the commit" holds_commit
	holds "and its revision, without git" knows_revision
else
	skips "make dist" "git is not installed, or finds no repository here"
fi
echo "1..$n"
