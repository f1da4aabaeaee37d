#!/bin/sh
# Builds Tokio's peer with Debian's compiler, cargo and crates, whatever others
# are in the path, and without a network.
# usage: build.sh [DIRECTORY] (where the program, tokio, is put: build/peers)
set -eu
sources=$(cd "$(dirname "$0")" && pwd)
out=${1-$sources/../../../build/peers}
mkdir -p "$out/tokio.build"
out=$(cd "$out" && pwd)
work=$out/tokio.build

# Cargo writes its lock file next to the manifest: not into the sources.
cp -p "$sources/Cargo.toml" "$sources/main.rs" "$work"
cd "$work"
env -u RUSTFLAGS -u CARGO_TARGET_DIR -u RUSTC_WRAPPER PATH=/usr/bin:/bin \
	CARGO_HOME="$work/home" cargo build --quiet --offline --release \
	--config 'source.crates-io.replace-with="debian"' \
	--config 'source.debian.directory="/usr/share/cargo/registry"'
install -m 755 target/release/peer-tokio "$out/tokio"
