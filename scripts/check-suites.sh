#!/bin/sh
# Builds and runs the tests of core/ on other releases of Debian as strangers do: in a fresh root, from the
# tarball, without git, as a user who is not root, in a tree that they cannot write, in a German locale.
# As root. A release that cannot be had here is skipped, with the reason.
# usage: check-suites.sh TARBALL SUITE...
set -eu
tarball=$1
shift
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
trap 'exit 130' INT TERM
# What setup.sh installs for a build, and what the tests need.
needs=$(sed -n 's/^build="\(.*\)"$/\1/p' scripts/setup.sh | tr ' ' ','),libcmocka-dev,python3,locales

# In a namespace of its own, so the mounts end with it, however it ends.
inside() {
	# shellcheck disable=SC2016
	unshare --mount sh -c '
		mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys" &&
			exec chroot --userspec="$2" "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL="$3" sh -ec "$4"' \
		sh "$root" "$1" "$2" "$3"
}

if [ "$(id -u)" -ne 0 ]; then
	echo "# skipped: check-suites.sh needs root"
	exit 0
fi
for suite in "$@"; do
	rm -rf "$root"
	# Lists may be older than they say that they are valid: a mirror may be a snapshot.
	if ! mmdebstrap --variant=apt --quiet --aptopt='Acquire::Check-Valid-Until "false"' --include="$needs" \
		"$suite" "$root" >"$root.log" 2>&1; then
		echo "# skipped: Debian $suite cannot be had here: $(grep -m1 '^E: ' "$root.log" || tail -1 "$root.log")"
		rm -f "$root.log"
		continue
	fi
	rm -f "$root.log"
	echo "Debian $suite:"
	mkdir "$root/src"
	tar -C "$root/src" --strip-components=1 --no-same-owner -xzf "$tarball"
	inside 0:0 C 'localedef -i de_DE -f UTF-8 de_DE.UTF-8'
	# shellcheck disable=SC2016
	inside 1000:1000 de_DE.UTF-8 'cd /src && make -j "$(nproc)" O=/tmp/build check-core'
done
