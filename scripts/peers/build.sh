#!/bin/sh
# Builds one peer whose newest version is wanted: with the compilers and libraries that
# setup.sh unpacked into DIRECTORY/newest, else with this Debian's. Without a network.
# NAME.version says of which suite and version it is.
# usage: build.sh go|tokio|tbb DIRECTORY
set -eu
sources=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
newest=$out/newest
[ -s "$newest/packages" ] || newest=

# needs PROGRAM PACKAGE: of this Debian.
needs() {
	[ -n "$newest" ] || command -v "$1" >/dev/null || {
		echo "error: there is no $1 (Debian: $2)" >&2
		exit 1
	}
}

# version_of PACKAGE
version_of() {
	if [ -n "$newest" ]; then
		sed -n "s/^$1 //p" "$newest/packages"
	else
		dpkg-query -W -f '${Version}' "$1"
	fi
}

suite() {
	if [ -n "$newest" ]; then
		sed -n 's/^suite /Debian /p' "$newest/packages"
	else
		sed -n 's/^VERSION_CODENAME=\(.*\)/Debian \1: the newest could not be had/p' /etc/os-release
	fi
}

if [ -n "$newest" ]; then
	libraries=$(dirname "$(find "$newest/usr/lib" -name 'libc.so.6' | head -1)")
	loader=$(find "$libraries" -name 'ld-linux*.so.*' | head -1)
fi

# runs_newest PROGRAM: a program that runs that one with its own libraries.
runs_newest() {
	cat >"$work/$1" <<-END
		#!/bin/sh
		exec '$loader' --library-path '$libraries' '$newest/usr/bin/$1' "\$@"
	END
	chmod +x "$work/$1"
}

go() {
	needs go golang-go
	go=go
	if [ -n "$newest" ]; then
		go=$(find "$newest/usr/lib" -path '*/go-*/bin/go' | head -1)
		export GOROOT="${go%/bin/go}"
	fi
	GO111MODULE=off CGO_ENABLED=0 "$go" build -o "$out/go" "$sources/go/main.go"
	echo "$("$go" version | cut -d" " -f3) ($(suite))" >"$out/go.version"
}

# Other compilers in the path do not count. Cargo writes its lock file next to the
# manifest: not into the sources.
tokio() {
	needs /usr/bin/cargo "cargo librust-tokio-dev"
	work=$out/tokio.build
	mkdir -p "$work"
	cp -p "$sources/tokio/Cargo.toml" "$sources/tokio/main.rs" "$work"
	cargo=/usr/bin/cargo flags=
	if [ -n "$newest" ]; then
		runs_newest rustc
		runs_newest cargo
		cargo=$work/cargo
		export RUSTC="$work/rustc"
		flags="--sysroot $newest/usr"
	fi
	cd "$work"
	rm -f Cargo.lock
	env -u CARGO_TARGET_DIR -u RUSTC_WRAPPER RUSTFLAGS="$flags" PATH=/usr/bin:/bin \
		CARGO_HOME="$work/home" "$cargo" build --quiet --offline --release \
		--config 'source.crates-io.replace-with="debian"' \
		--config "source.debian.directory=\"$newest/usr/share/cargo/registry\""
	install -m 755 target/release/peer-tokio "$out/tokio"
	echo "$(version_of librust-tokio-dev) ($(suite))" >"$out/tokio.version"
}

# The library needs its own C library, and the compiler's headers this system's.
tbb() {
	needs g++ g++
	set --
	if [ -n "$newest" ]; then
		mkdir -p "$out/tbb.include"
		ln -sfn "$newest/usr/include/tbb" "$newest/usr/include/oneapi" "$out/tbb.include"
		set -- "-I$out/tbb.include" "-L$libraries" -Wl,--allow-shlib-undefined \
			"-Wl,--dynamic-linker,$loader" "-Wl,-rpath,$libraries"
	fi
	g++ -std=c++17 -O3 -pthread -o "$out/tbb" "$sources/tbb.cc" "$@" -ltbb
	echo "$(version_of libtbb-dev) ($(suite))" >"$out/tbb.version"
}

case $1 in
go | tokio | tbb) "$1" ;;
*)
	echo "build.sh: expected go, tokio or tbb, not '$1'" >&2
	exit 3
	;;
esac
