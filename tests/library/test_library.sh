#!/bin/sh
# The library as a program meets it: installed below a folder of the test's own, found by
# pkg-config. Its headers compile alone, nothing but its interface is visible, the examples run,
# and what was installed can be removed.
# usage: test_library.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

usr=$work/usr
export PKG_CONFIG_PATH="$usr/lib/pkgconfig" LD_LIBRARY_PATH="$usr/lib"
# Its flags are this script's own, not those of a make around it.
run_make() {
	env -u MAKEFLAGS -u MAKELEVEL -u MODE make -s PREFIX="$usr" "$@" >"$work/make" 2>&1 || {
		cat "$work/make"
		return 1
	}
}
holds "install-library" run_make install-library

# ---- headers ----

alone() {
	find "$usr/include/schedbench" -name '*.h' >"$work/headers"
	[ "$(wc -l <"$work/headers")" -gt 8 ] || return 1
	while read -r header; do
		echo "#include \"$header\"" >"$work/alone.c"
		cp "$work/alone.c" "$work/alone.cc"
		gcc -std=c11 -pedantic -Wall -Wextra -Werror -I "$usr/include/schedbench" \
			-fsyntax-only "$work/alone.c" &&
			g++ -std=c++17 -pedantic -Wall -Wextra -Werror -I "$usr/include/schedbench" \
				-fsyntax-only "$work/alone.cc" || return 1
	done <"$work/headers"
}
holds "each header compiles alone, as C11 and as C++17" alone

# ---- symbols ----

# Every function of the headers is one of them, but for those that are inline.
symbols() {
	nm -D --defined-only "$usr/lib/libschedbench.so.0" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		LC_ALL=C sort | diff affinity/schedbench.symbols -
}
holds "the shared library shows its interface alone (affinity/schedbench.symbols)" symbols
static_symbols() {
	nm --defined-only "$usr/lib/libschedbench.a" | awk '$2 ~ /[TDBRWV]/ { print $3 }' |
		LC_ALL=C sort -u | diff affinity/schedbench.symbols -
}
holds "and so does the static one" static_symbols
soname() {
	readelf -d "$usr/lib/libschedbench.so" | grep -q 'SONAME.*libschedbench\.so\.0'
}
holds "its soname has a version" soname

# What the library asks of others for the process: nothing of that list.
process_wide() {
	sed '/^#/d' tests/library/process_wide.txt | cut -f 2- | tr -s ' \t' '\n' | sed '/^$/d' | LC_ALL=C sort -u >"$work/forbidden"
	[ "$(wc -l <"$work/forbidden")" -gt 100 ] || return 1
	nm -u "$@" | awk 'NF > 1 { sub(/@.*/, "", $NF); print $NF }' | LC_ALL=C sort -u >"$work/used"
	grep -qx pthread_create "$work/used" && ! LC_ALL=C comm -12 "$work/forbidden" "$work/used" | grep .
}
holds "the shared library calls no function that changes the process (tests/library/process_wide.txt)" \
	process_wide -D "$usr/lib/libschedbench.so"
holds "nor does the static one" process_wide "$usr/lib/libschedbench.a"

# ---- programs ----

# builds NAME [FLAG...]: tests/library/NAME.c as a user would, with pkg-config's flags.
builds() {
	example=$1
	shift
	# shellcheck disable=SC2046
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror "tests/library/$example.c" \
		$(pkg-config --cflags schedbench) "$@" $(pkg-config --libs schedbench) -o "$work/$example"
}
prints() {
	[ "$("$work/$1")" = "$2" ] || {
		"$work/$1"
		return 1
	}
}
holds "a program that does nothing" builds quiet
holds "has neither threads nor handlers of the library's" prints quiet "threads 1, signal handlers 0"
holds "a program that compares its process before and after" builds unchanged
holds "finds nothing changed, and gets all of its signals itself" prints unchanged "differences: 0"
holds "a program that reads its environment" builds environment
holds "may do so while the library reads the machine" prints environment "50 calls, 0 failed, 0 lookups wrong"
holds "hello" builds hello
hello() {
	"$work/hello" | grep -Eqx 'hello: 42, on [0-9]+ workers'
}
holds "runs" hello
in_cpp() {
	cat >"$work/hello.cc" <<-'EOF'
		#include <schedbench.h>
		int main()
		{
			sb_config config;
			sb_placement placement;
			sb_scheduler *scheduler;
			sb_config_init(&config);
			if (sb_placement_here(1, &placement) || sb_scheduler_create(&scheduler, &config, &placement))
				return 1;
			sb_scheduler_destroy(scheduler);
			sb_placement_free(&placement);
		}
	EOF
	# shellcheck disable=SC2046
	g++ -std=c++17 -Wall -Wextra -Werror "$work/hello.cc" $(pkg-config --cflags --libs schedbench) \
		-o "$work/hello-cpp" && "$work/hello-cpp"
}
holds "and so does a program in C++" in_cpp
statically() {
	# shellcheck disable=SC2046
	gcc -std=gnu11 tests/library/hello.c $(pkg-config --cflags schedbench) "$usr/lib/libschedbench.a" \
		$(pkg-config --libs hwloc liburcu-qsbr liburcu-cds jemalloc) -lm -o "$work/hello" && hello
}
holds "and with the static library" statically

# ---- jemalloc: with it, without it, and loaded by a program that has none ----

arenas_come_along() {
	builds hello -Wl,--as-needed && ldd "$work/hello" | grep libjemalloc
}
holds "a program that is linked by pkg-config's flags gets jemalloc, and the workers arenas" arenas_come_along
without_jemalloc() {
	# shellcheck disable=SC2046
	gcc -std=gnu11 tests/library/hello.c $(pkg-config --cflags schedbench) -L"$usr/lib" -lschedbench -o "$work/hello" &&
		! ldd "$work/hello" | grep jemalloc && hello
}
holds "without jemalloc hello runs, too" without_jemalloc
loads() {
	# shellcheck disable=SC2046
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror tests/library/load.c $(pkg-config --cflags schedbench) -o "$work/load" || return 1
	env "$@" "$work/load" "$usr/lib/libschedbench.so" >"$work/loaded" && echo "$expected" | diff - "$work/loaded"
}
expected="60 times, the heap of the C library"
holds "a program loads the library by dlopen, runs processes and unloads it" loads
expected="60 times, 4 arenas of jemalloc's"
holds "and one that has jemalloc gets arenas for that" loads LD_PRELOAD="$(ldd "$work/unchanged" | awk '/libjemalloc/ { print $3 }')"
from_python() {
	python3 tests/library/hello.py "$usr/lib/libschedbench.so" >"$work/python" && [ "$(wc -l <"$work/python")" -eq 2 ] &&
		! grep -vx 'hello: 42, unloaded, threads 1' "$work/python"
}
holds "Python loads it, runs hello and unloads it, twice" from_python
# Room that glibc keeps for what dlopen loads is 512 bytes and what a tunable adds.
static_tls() {
	bytes=$(readelf -lW "$usr/lib/libschedbench.so" | awk '$1 == "TLS" { print $6 }')
	[ -z "$bytes" ] || [ $((bytes)) -le 128 ] || {
		echo "$((bytes)) bytes"
		return 1
	}
}
holds "its thread-local data takes at most 128 bytes of that room" static_tls

# ---- larger programs ----

holds "a pipeline" builds pipeline
holds "runs" prints pipeline "pipeline: the squares of 1 to 10000 add up to 333383335000"
holds "a TCP server" builds echo

# The server ends when its input does, and its clients when it closes their connections.
serves() {
	mkfifo "$work/input"
	"$work/echo" <"$work/input" >"$work/port" &
	server=$!
	exec 9>"$work/input"
	while [ ! -s "$work/port" ] && kill -0 $server; do
		sleep 0.02
	done
	python3 tests/library/clients.py "$(cat "$work/port")" 9>&- >"$work/clients" 2>&1 &
	clients=$!
	while ! grep -q messages "$work/clients" && kill -0 $clients; do
		sleep 0.02
	done
	exec 9>&-
	if wait $server && wait $clients; then
		grep -qx '1000 connections, 5000 messages' "$work/clients" && return
	fi
	cat "$work/clients"
	return 1
}
files=$(python3 -c 'import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[1])')
if [ "$files" -ge 2100 ] && prlimit --pid $$ --nofile="$files:$files"; then
	holds "a thousand connections at once, and nothing is lost" serves
else
	skips "a thousand connections at once" "this user may open $files files"
fi

# ---- away with it ----

removed() {
	run_make uninstall && ! find "$usr" ! -type d | grep .
}
holds "uninstall leaves nothing" removed
echo "1..$n"
