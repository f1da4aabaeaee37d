#!/bin/sh
# Installs the Debian packages that a target needs and that are missing. Says
# first what it is about to install; does and says nothing when all is there.
# usage: setup.sh bench|check|models|lint
set -eu

build="gcc libc6-dev make pkg-config libhwloc-dev libjemalloc-dev liburcu-dev libjansson-dev"
run="gnuplot-nox fonts-dejavu-core"
models="gcc libc6-dev spin"
tests="libcmocka-dev python3 util-linux spin"
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
case ${CC-} in *clang*) packages="$packages clang" ;; esac

if ! command -v dpkg-query >/dev/null; then
	echo "setup.sh: this is not Debian; needed are (Debian's names): $packages" >&2
	exit 0
fi

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
[ -n "$missing" ] || exit 0

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
