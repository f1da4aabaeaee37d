#!/bin/sh
# The packages as their user meets them: in a fresh Debian 12, made here, they are installed, the
# command runs, a workload of one's own and the library's examples are compiled and run, and after
# their removal nothing is left of them. As root.
# usage: check.sh DIRECTORY
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
fail() {
	echo "check.sh: $*" >&2
	exit 1
}
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
files() { (cd "$root" && find . -path ./proc -prune -o -path ./sys -prune -o -path ./dev -prune -o -print | LC_ALL=C sort); }

mmdebstrap --variant=apt --quiet bookworm "$root" || fail "mmdebstrap has failed"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"; rm -rf "$root"' EXIT
mkdir "$root/packages"
cp "$1"/*.deb "$root/packages"
cp tests/library/hello.c tests/library/pipeline.c tests/library/echo.c "$root/packages"
rm -f "$root"/packages/*-dbgsym_*

# Their dependencies are installed first, so that the packages alone change the list of files.
inside apt-get -qq update
# shellcheck disable=SC2016
inside sh -c 'apt-get -qqy install --no-install-recommends gcc libc6-dev pkg-config \
	$(for p in /packages/*.deb; do dpkg-deb -f $p Depends; done | tr , "\n" | sed "s/[(|].*//; /schedbench/d" | sort -u)' >/dev/null 2>&1
files >"$root.before"
inside sh -c 'dpkg -i /packages/*.deb' >"$root.log" 2>&1 || {
	cat "$root.log"
	fail "the packages cannot be installed"
}
inside sched-bench --version
inside sh -c 'cd /tmp && sched-bench run -w pingpong -d 10ms -r 2 --no-plots -q -o first || [ $? -eq 2 ]'
inside sh -c 'cd /tmp && sched-bench run -w skynet --virtual --profile epyc-2s-nps4 --workers 8 -r 1 --no-plots -q -o virtual'
inside sh -c 'cd /tmp && sched-bench new workload mine && sched-bench run -w ./mine.c -d 2ms -r 2 --no-plots -q -o mine || [ $? -eq 2 ]'
for example in hello pipeline echo; do
	inside sh -c "cd /packages && gcc -std=gnu11 -O2 -Wall -Werror $example.c \$(pkg-config --cflags --libs schedbench) -o /tmp/$example" ||
		fail "$example.c does not compile"
done
inside /tmp/hello
inside /tmp/pipeline
# It serves until its input ends.
inside sh -c '/tmp/echo </dev/null | grep -qx "[0-9]*"' || fail "echo does not serve"

# ---- away with them ----

inside sh -c 'rm -rf /tmp/* /root/.cache /root/.config'
inside dpkg -P sched-bench libschedbench-dev libschedbench1 >>"$root.log" 2>&1
files >"$root.after"
diff "$root.before" "$root.after" | grep -v 'var/lib/dpkg\|var/log\|var/cache' | grep '^[<>]' &&
	fail "this is left of the packages, or gone with them"
rm -f "$root.before" "$root.after" "$root.log"
echo "check.sh: installed, used and removed: nothing is left"
