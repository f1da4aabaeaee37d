#!/bin/sh
# Installs the Debian packages that a target needs and that are missing. Says
# first what it is about to install; does and says nothing when all is there.
# usage: setup.sh bench|check|deb|fuzz|models|lint|numa|peers|readers|slurm|suites
set -eu

build="gcc g++ libc6-dev make pkg-config libhwloc-dev libjemalloc-dev liburcu-dev libjansson-dev libsqlite3-dev zlib1g-dev libzstd-dev libcminpack-dev libbenchmark-dev libboost-context-dev"
run="gnuplot-nox fonts-dejavu-core hwloc"
models="gcc libc6-dev spin tcc"
tools="python3 util-linux"
tests="libcmocka-dev $tools spin tcc chromium valgrind zstd"
lint="clang clang-format clang-tidy shellcheck python3"
# Without one of these its peer is left out, and all else goes on.
peers="erlang-base erlang-dev libcaf-dev"
# Of these the newest of Debian is wanted, and this Debian's is the second choice.
# The crates are named with all that Tokio's build needs: as packages they depend
# on hundreds more.
newest="golang-go rustc cargo libtbb-dev"
crates="librust-tokio-dev librust-pin-project-lite-dev"
# Other tools that read results, and other shells: a test that lacks one is skipped.
readers="zsh fish strace libbenchmark-tools python3-scipy python3-prometheus-client libhdrhistogram-java default-jdk-headless"
guest="qemu-system-x86 busybox-static cpio numactl python3"

# Elsewhere tests/numa/check.sh is skipped, and says why.
guest_possible() {
	[ "$(uname -m)" = x86_64 ] && grep -qx 'ID=debian' /etc/os-release
}

case ${1-} in
bench) packages="$build $run" ;;
check) packages="$build $run $tests" ;;
deb) packages="$build debhelper git lintian mmdebstrap" ;;
fuzz) packages="$build clang afl++" ;;
models) packages="$models" ;;
lint) packages="$build $tests $lint" ;;
numa)
	packages="$build"
	! guest_possible || packages="$build $guest"
	;;
peers) packages="$build $run $tools" ;;
readers) packages="$readers" ;;
slurm) packages="$build $tools slurm-wlm slurmctld slurmd" ;;
suites) packages="mmdebstrap" ;;
*)
	echo "setup.sh: expected bench, check, deb, fuzz, models, lint, numa, peers, readers, slurm or suites, not '${1-}'" >&2
	exit 3
	;;
esac
# The compiler that make was asked for.
case ${CC-} in
*aarch64*) packages="gcc-aarch64-linux-gnu qemu-user make pkg-config $run $tools" ;;
*clang*) packages="$packages clang lld" ;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "setup.sh: this is not Debian; needed are (Debian's names): $packages" >&2
	exit 0
fi

# own_apt ARCHITECTURE DIRECTORY [OPTION...]: fetches lists of its own into the
# directory, so neither root is needed, nor do the host's lists have to be there and
# new. $apt are the options that make apt-get and apt-cache use them.
own_apt() {
	rm -rf "$2"
	mkdir -p "$2/lists/partial" "$2/cache/archives/partial" "$2/deb"
	: >"$2/status"
	apt="-qq -o APT::Architecture=$1 -o APT::Architectures=$1
		-o APT::Sandbox::User=root -o Dir::State::Lists=$2/lists
		-o Dir::State::status=$2/status -o Dir::Cache=$2/cache"
	shift 2
	apt="$apt $*"
	# shellcheck disable=SC2086
	apt-get $apt update
}

# own_unpack DIRECTORY INTO PACKAGE...: downloads and unpacks with these lists.
own_unpack() {
	work=$1 into=$2
	shift 2
	# shellcheck disable=SC2086
	(cd "$work/deb" && apt-get $apt download "$@") || return 1
	for deb in "$work"/deb/*.deb; do
		dpkg -x "$deb" "$into" || return 1
	done
}

# What a program for arm64 is compiled with and runs with, unpacked into a
# directory of its own. Installed beside the host's, each of these would have to
# be of the very version of the host's package, which then is upgraded, too.
sysroot() {
	root=build/arm64/sysroot
	work=$PWD/build/arm64/apt
	wanted="libc6 libc6-dev linux-libc-dev libgcc-s1 libstdc++6 libudev1
		libhwloc15 libhwloc-dev libjemalloc2 libjemalloc-dev liburcu8 liburcu-dev
		libjansson4 libjansson-dev libsqlite3-0 libsqlite3-dev
		libcminpack1 libcminpack-dev zlib1g zlib1g-dev libzstd1 libzstd-dev libcmocka0 libcmocka-dev"
	[ "$(cat $root/packages 2>/dev/null)" != "$wanted" ] || return 0
	# shellcheck disable=SC2086
	echo "Unpacking Debian packages for arm64 into $root:" $wanted
	rm -rf $root
	mkdir -p $root
	# shellcheck disable=SC2086
	own_apt arm64 "$work" && own_unpack "$work" $root $wanted || return 1
	# Libraries' links from /usr/lib to /lib are absolute.
	find $root -type l -lname '/*' | while read -r link; do
		ln -sfnr "$root$(readlink "$link")" "$link"
	done
	rm -rf "$work"
	echo "$wanted" >$root/packages
}

# The kernel that the guest boots: the one that Debian's package for virtual
# machines depends on. One that is there will do; nothing of it is installed.
kernel() {
	root=$PWD/build/numa
	work=$root/apt
	guest_possible && [ ! -s "$root/vmlinuz" ] || return 0
	echo "Unpacking the kernel of Debian's linux-image-cloud-amd64 into build/numa"
	own_apt amd64 "$work" || return 1
	# shellcheck disable=SC2086
	image=$(apt-cache $apt depends linux-image-cloud-amd64 |
		sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p')
	[ -n "$image" ] && own_unpack "$work" "$work/files" "$image" &&
		mv "$work/files/boot/vmlinuz-${image#linux-image-}" "$root/vmlinuz" || return 1
	rm -rf "$work"
}

# unpack_newest SUITE: peers' compilers and libraries of that suite, unpacked into
# build/peers/newest, which touches nothing of the system. They run with their own C
# library. This system's own mirror has them. The file "packages" has suite and versions,
# and is written last.
unpack_newest() {
	root=$PWD/build/peers/newest
	work=$PWD/build/peers/apt
	mkdir -p "$work"
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	# shellcheck disable=SC2016
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		"Codename: $codename" | head -1)
	cat >"$work.sources" <<-END
		Types: deb
		URIs: $mirror
		Suites: $1
		Components: main
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	END
	own_apt "$(dpkg --print-architecture)" "$work" -o "Dir::Etc::sourcelist=$work.sources" \
		-o Dir::Etc::sourceparts=- || return 1
	# shellcheck disable=SC2086
	needed=$(apt-get $apt -s --no-install-recommends install $newest | awk '$1 == "Inst" { print $2 }')
	rm -rf "$root"
	mkdir -p "$root"
	# shellcheck disable=SC2086
	[ -n "$needed" ] && own_unpack "$work" "$root" $needed $crates || return 1
	{
		echo "suite $1"
		for deb in "$work"/deb/*.deb; do
			dpkg-deb -W "$deb" | tr '\t' ' '
		done
	} >"$work/packages"
	mv "$work/packages" "$root"
	rm -rf "$work" "$work.sources"
}

# What is there already stays: `rm -r build/peers/newest` makes it new.
fetch_newest() {
	[ ! -s build/peers/newest/packages ] || return 0
	grep -qx 'ID=debian' /etc/os-release || return 1
	for suite in sid trixie; do
		echo "Unpacking packages of Debian $suite into build/peers/newest: $newest $crates"
		! unpack_newest $suite || return 0
	done
	rm -rf build/peers/newest
	return 1
}

# is_there PACKAGE: installed, or what it is needed for is there.
is_there() {
	# A tool in the path will do, however it came there.
	case $1 in
	gcc | g++ | make | spin | tcc | chromium | valgrind | pkg-config | clang | clang-format | clang-tidy | shellcheck | git | cpio | numactl)
		command -v "$1" >/dev/null && return
		;;
	default-jdk-headless)
		command -v javac >/dev/null && return
		;;
	golang-go)
		command -v go >/dev/null && return
		;;
	hwloc)
		command -v lstopo >/dev/null && command -v hwloc-calc >/dev/null && return
		;;
	qemu-system-x86)
		command -v qemu-system-x86_64 >/dev/null && return
		;;
	busybox-static) # busybox does, too, and cannot be installed beside it
		command -v busybox >/dev/null && return
		;;
	python3)
		python3 -c 'import csv, json' 2>/dev/null && return
		;;
	esac
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# not_there PACKAGE...: those of them.
not_there() {
	for package in "$@"; do
		is_there "$package" || printf ' %s' "$package"
	done
}

# apt_install PACKAGE...: after the lists have been brought up to date.
apt_install() {
	DEBIAN_FRONTEND=noninteractive \
		$sudo apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo

install_missing() {
	if ! { [ -z "$sudo" ] || command -v sudo >/dev/null; }; then
		echo "setup.sh: root is needed to install:$missing" >&2
		exit 4
	fi
	echo "Installing Debian packages:$missing"
	# shellcheck disable=SC2086
	if ! { $sudo apt-get update -qq && apt_install $missing; }; then
		echo "setup.sh: apt-get could not install:$missing" >&2
		exit 4
	fi
}

# One at a time: what cannot be installed keeps nothing else from it.
install_peers() {
	echo "Installing Debian packages of peers:$missing"
	$sudo apt-get update -qq || true
	for package in $missing; do
		apt_install "$package" || left_out="$left_out $package"
	done
	[ -z "$left_out" ] ||
		echo "setup.sh: could not be installed, so what needs it is left out:$left_out" >&2
}

# shellcheck disable=SC2086
missing=$(not_there $packages)
[ -z "$missing" ] || install_missing
if [ "$1" = peers ]; then
	left_out=
	fetch_newest || {
		echo "setup.sh: Debian's newest packages cannot be had; those of this Debian do" >&2
		peers="$peers $newest $crates"
	}
	# shellcheck disable=SC2086
	missing=$(not_there $peers)
	[ -z "$missing" ] || install_peers
fi
unpacked() {
	"$@" || {
		echo "setup.sh: apt-get could not fetch or unpack what is needed" >&2
		exit 4
	}
}
case $1,${CC-} in
numa,*) unpacked kernel ;;
*aarch64*) unpacked sysroot ;;
esac
