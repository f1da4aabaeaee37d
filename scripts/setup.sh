#!/bin/sh
# Installs the Debian packages that a target needs and that are missing. Says
# first what it is about to install; does and says nothing when all is there.
# usage: setup.sh bench|check|models|lint
set -eu

build="gcc libc6-dev make pkg-config libhwloc-dev libjemalloc-dev liburcu-dev libjansson-dev"
run="gnuplot-nox fonts-dejavu-core"
models="gcc libc6-dev spin"
tools="python3 util-linux"
tests="libcmocka-dev $tools spin"
lint="clang clang-format clang-tidy shellcheck git"

case ${1-} in
bench) packages="$build $run" ;;
check) packages="$build $run $tests" ;;
models) packages="$models" ;;
lint) packages="$build $tests $lint" ;;
*)
	echo "setup.sh: expected bench, check, models or lint, not '${1-}'" >&2
	exit 3
	;;
esac
# The compiler that make was asked for.
case ${CC-} in
*aarch64*) packages="gcc-aarch64-linux-gnu qemu-user make pkg-config $run $tools" ;;
*clang*) packages="$packages clang" ;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "setup.sh: this is not Debian; needed are (Debian's names): $packages" >&2
	exit 0
fi

# What a program for arm64 is compiled with and runs with, unpacked into a
# directory of its own. Installed beside the host's, each of these would have to
# be of the very version of the host's package, which then is upgraded, too.
sysroot() {
	root=build/arm64/sysroot
	work=$PWD/build/arm64/apt
	wanted="libc6 libc6-dev linux-libc-dev libgcc-s1 libstdc++6 libudev1
		libhwloc15 libhwloc-dev libjemalloc2 libjemalloc-dev liburcu8 liburcu-dev
		libjansson4 libjansson-dev libcmocka0 libcmocka-dev"
	[ "$(cat $root/packages 2>/dev/null)" != "$wanted" ] || return 0
	# shellcheck disable=SC2086
	echo "Unpacking Debian packages for arm64 into $root:" $wanted
	rm -rf $root "$work"
	mkdir -p $root "$work/lists/partial" "$work/cache/archives/partial" "$work/deb"
	: >"$work/status"
	apt="-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64
		-o APT::Sandbox::User=root -o Dir::State::Lists=$work/lists
		-o Dir::State::status=$work/status -o Dir::Cache=$work/cache"
	# shellcheck disable=SC2086
	apt-get $apt update && (cd "$work/deb" && apt-get $apt download $wanted) || return 1
	for deb in "$work"/deb/*.deb; do
		dpkg -x "$deb" $root || return 1
	done
	# Libraries' links from /usr/lib to /lib are absolute.
	find $root -type l -lname '/*' | while read -r link; do
		ln -sfnr "$root$(readlink "$link")" "$link"
	done
	rm -rf "$work"
	echo "$wanted" >$root/packages
}

missing=
for package in $packages; do
	# A tool in the path will do, however it came there.
	case $package in
	gcc | make | spin | pkg-config | clang | clang-format | clang-tidy | shellcheck | git)
		command -v "$package" >/dev/null && continue
		;;
	python3)
		python3 -c 'import csv, json' 2>/dev/null && continue
		;;
	esac
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
		missing="$missing $package"
done

install_missing() {
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null; then
			echo "setup.sh: root is needed to install:$missing" >&2
			exit 4
		fi
		sudo=sudo
	fi
	echo "Installing Debian packages:$missing"
	# shellcheck disable=SC2086
	if ! { $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null; }; then
		echo "setup.sh: apt-get could not install:$missing" >&2
		exit 4
	fi
}

[ -z "$missing" ] || install_missing
case ${CC-} in
*aarch64*)
	sysroot || {
		echo "setup.sh: apt-get could not fetch or unpack them" >&2
		exit 4
	}
	;;
esac
