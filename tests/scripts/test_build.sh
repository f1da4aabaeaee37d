#!/bin/sh
# The Makefile: flags and compilers of the user count, and come last; what only prints writes nothing; only a
# changed flag builds again; a build folder elsewhere leaves the tree alone; the tree's place is in no object;
# the command is hardened.
# usage: test_build.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$1/sched-bench
. tests/tap.sh
out=$work/out
object=$out/release/core/placement.o

build() {
	env -u MAKEFLAGS -u MAKELEVEL -u MODE -u CC -u CXX -u CFLAGS -u WERROR LC_ALL=C O="$out" "$@" 2>&1
}
# shows NAME PATTERN COMMAND...: a line of what the command prints has the pattern.
shows() {
	name=$1 pattern=$2
	shift 2
	build "$@" >"$work/log"
	holds "$name" grep -e "$pattern" "$work/log" || sed 's/^/# /' "$work/log"
}
nothing_written() {
	build make help && build make print-OWN_CFLAGS CFLAGS=-O3 && build make -n all && [ ! -e "$out" ]
}
same_object() {
	for place in a b/c; do
		mkdir -p "$work/$place" && cp -r Makefile core affinity workloads results harness tests "$work/$place" &&
			build make -C "$work/$place" O=build build/release/core/placement.o build/release/harness/micro/shim.o \
				build/release/harness/virtual/models.o || return
	done
	for file in core/placement.o harness/micro/shim.o harness/virtual/models.o; do
		cmp "$work/a/build/release/$file" "$work/b/c/build/release/$file" || return
	done
}
refuses_32_bits() {
	printf '#!/bin/sh\necho "#define __ILP32__ 1"\n' >"$work/gcc-32" && chmod +x "$work/gcc-32" &&
		! build make -s "CC=$work/gcc-32" "$object" >"$work/log" && grep '64-bit' "$work/log" &&
		[ "$(grep -vc '^make' "$work/log")" -eq 1 ]
}
hardened() {
	readelf -hdW "$program" >"$work/elf" && nm -D "$program" >>"$work/elf" &&
		for sign in 'Type: *DYN' 'BIND_NOW' 'Flags:.* PIE' '__stack_chk_fail' '__[a-z]*_chk@'; do
			grep -q "$sign" "$work/elf" || {
				echo "without $sign"
				return 1
			}
		done
}

holds "what only prints writes nothing" nothing_written
shows "a compiler and flags of the command line" ' -Wall .* -O3 .*-MMD' \
	make -n CC=clang CFLAGS=-O3 LDFLAGS=-Wl,-z,lazy V=1
holds "the compiler" grep -q '^clang .*release-clang/core/placement.o' "$work/log"
holds "the linker's flags" grep -q '^clang .*-z,now -Wl,-z,lazy .*sched-bench' "$work/log"
shows "a compiler and flags of the environment" '^clang .* -DX=1 .* -O1 .*placement' \
	env CC=clang CPPFLAGS=-DX=1 CFLAGS=-O1 make -n V=1
holds "a warning is a warning" sh -c "! grep -q -e -Werror '$work/log'"
shows "and an error in CI" ' -Werror ' env WERROR=1 make -n V=1

shows "an object is built" 'CC .*placement' make "$object"
shows "once" 'up to date' make "$object"
build make print-CFLAGS CFLAGS=-O3 >/dev/null
shows "not again for flags that were printed" 'up to date' make "$object"
shows "but for other flags" 'CC .*placement' make "$object" CFLAGS=-O3
shows "once" 'up to date' make "$object" CFLAGS=-O3
holds "a compiler for 32 bits is refused in one line" refuses_32_bits
holds "the same bytes in another folder" same_object
case $1 in
*/release) holds "the command is hardened" hardened ;;
esac
echo "1..$n"
