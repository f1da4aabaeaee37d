#!/bin/sh
# Format, architecture, static analysis, shell scripts. Prints what is wrong.
set -u
# What tools print is parsed.
export LC_ALL=C.UTF-8
status=0

# files PATTERN...: the files of those names, except what was built or measured. Not by git: a
# tarball has no repository, and git refuses the tree of another owner.
files() {
	for pattern; do
		set -- "$@" -o -name "$pattern"
		shift
	done
	shift
	find . \( -path ./build -o -path ./sched-bench-results -o -path ./.git \) -prune -o -type f \( "$@" \) -print |
		sed 's|^\./||'
}
sources=$(files '*.c' '*.h' '*.cc')

fail() {
	echo "lint: $1"
	status=1
}

# The folders a folder may include; nothing includes harness/.
allowed() {
	case $1 in
	core) echo "core" ;;
	affinity) echo "affinity core" ;;
	workloads) echo "workloads core" ;;
	results) echo "results core" ;;
	harness) echo "harness core affinity workloads results" ;;
	tests) echo "tests harness core affinity workloads results" ;;
	esac
}
layers() {
	for folder in core affinity workloads results harness tests; do
		pattern=$(allowed $folder | sed 's/ /|/g')
		find $folder \( -name '*.[ch]' -o -name '*.cc' \) -exec grep -HnE '^#include "[a-z]+/' {} + |
			grep -vE "#include \"($pattern)/"
	done
}

# The folders inside each folder, from the ground up: a file includes what is in
# its own folder and in those before it. What stands at the top of a folder is for
# all of them; core/state.h is made of the structs of all modules.
order() {
	cat <<-'EOF'
		core platform memory record queue wake message timers process worker
		affinity profile
		workloads load lib described replay own savina tokio
		results text stats record files ledger compare page gate json trace plots pictures convert
		harness terminal plugin cli kernel system check output within run virtual micro sweep fleet calibrate compare topology guide verbs
	EOF
}
floors() {
	order | while read -r top folders; do
		find "$top" \( -name '*.[ch]' -o -name '*.cc' \) -exec grep -HnE "^#include \"$top/[a-z_]+/" {} + |
			awk -v folders="$folders" '
			BEGIN {
				n = split(folders, folder, " ")
				for (i = 1; i <= n; i++)
					floor[folder[i]] = i
			}
			{
				split($0, half, /#include "/)
				depth = split(half[1], from, "/")
				split(half[2], to, "/")
				if (depth < 3)
					next
				if (!(from[2] in floor) || !(to[2] in floor))
					print $0 ": a folder without a floor in scripts/lint.sh"
				else if (floor[to[2]] > floor[from[2]])
					print
			}'
	done
}

# What a reader takes in at once: at most so many lines in a header and in a source,
# and so many files in a folder. Tables (*.def) and data are as long as they are.
sizes() {
	find core affinity harness results workloads scripts tests ! -name mutants_list.py \
		\( -name '*.[ch]' -o -name '*.cc' -o -name '*.sh' -o -name '*.py' \) -exec wc -l {} + |
		awk '$2 != "total" && $1 > ($2 ~ /\.h$/ ? 300 : 500) { print $2 ": " $1 " lines" }'
	find core affinity harness results workloads scripts tests -type f ! -path 'tests/fuzz/corpus/*' ! -path '*/__pycache__/*' |
		sed 's|/[^/]*$||' | sort | uniq -c |
		awk '$1 > 25 { print $2 ": " $1 " files" }'
}

# only PATTERN ALLOWED-FILES-REGEX: lines elsewhere that match.
only() {
	# shellcheck disable=SC2086
	grep -nE "$1" $sources | grep -vE "^($2):"
}

architecture() {
	wrong=$(layers)
	[ -z "$wrong" ] || fail "an include against the direction of dependency:
$wrong"
	wrong=$(floors)
	[ -z "$wrong" ] || fail "an include that points back up, from a folder to a later one in order():
$wrong"
	wrong=$(sizes)
	[ -z "$wrong" ] || fail "a header has at most 300 lines, a source 500, a folder 25 files:
$wrong"
	while read -r what pattern files; do
		wrong=$(only "$pattern" "$files")
		[ -z "$wrong" ] || fail "$what belongs in $files:
$wrong"
	done <<-'EOF'
		memory_order	memory_order_	core/platform/atomic\.h|scripts/peers/.*\.(cc|h)
		hwloc	include.<hwloc	affinity/.*|tests/affinity/(plan\.h|test_wide\.c)
		jemalloc	include.<jemalloc	core/memory/arena\.c
		benchmark	include.<benchmark	harness/micro/shim\.cc
		zlib	include.<zlib	results/files/hdr\.c|tests/results/test_hlog\.c
		cminpack	include.<cminpack	results/stats/usl\.c|harness/calibrate/solve\.c
		sqlite	include.<sqlite3	harness/output/store(_file\.h|_rows\.c|\.c)
		liburcu	include.<urcu	core/memory/table\.[ch]
	EOF
	# shellcheck disable=SC2046
	wrong=$(python3 scripts/foreign.py $(find results harness -name '*.c')) ||
		fail "text from outside that is printed as it is; results/text/escape.h has a function for each target:
$wrong"
	wrong=$(grep -nE '\b(clock_gettime|gettimeofday|sched_yield|usleep|nanosleep|pthread_(create|cond_|mutex_)[a-z_]*|rand|random|getrandom|syscall) *\(' core/*.[ch] core/*/*.[ch] core/*/*/*.[ch] |
		grep -vE '^core/(platform/(threads|clock|clock_checks)|memory/pages)\.c:')
	[ -z "$wrong" ] || fail "core/platform/platform.h is the only door to this:
$wrong"
}

formatting() {
	# shellcheck disable=SC2086
	clang-format --dry-run -Werror $sources || fail "make format mends this"
}

# tidy CHECKS FLAG...: of the files in the input. One process for each core; the checks themselves
# are in .clang-tidy, and CHECKS adds to them or takes some away. The analyzer goes through 5000 states
# of a function, not 225 000, which would take most of the time.
tidy() {
	checks=$1
	shift
	# shellcheck disable=SC2046
	xargs -P "$(nproc)" -I '{}' clang-tidy --quiet --checks="$checks" '{}' -- -std=gnu11 "$@" \
		-Xclang -analyzer-config -Xclang max-nodes=5000 \
		-I. -Iaffinity -Ibuild/release $(pkg-config --cflags cminpack) -D_GNU_SOURCE -DSB_BUILD_MODE='"lint"' \
		2>/dev/null >build/tidy.log ||
		fail "clang-tidy:
$(grep -E ' (warning|error): ' build/tidy.log | sort -u)"
}

# What needs Erlang's headers is left out.
analysis() {
	list=build/tidy.list
	files '*.c' | grep -v '^scripts/peers/erlang/' >$list
	grep /virtual/ $list >$list.virtual
	grep -v /virtual/ $list | grep '^tests/' >$list.tests
	grep -v '/virtual/\|^tests/' $list >$list.real
	# Not behind a pipe: its shell would keep the failure to itself.
	tidy '' <$list.real
	tidy '' -DSB_VIRTUAL=1 <$list.virtual
	# The sanitizers run the tests, so the analyzer leaves them out.
	tidy '-clang-analyzer-*' <$list.tests
}

scripts() {
	files '*.sh' '*.bash' | xargs shellcheck .ci/run ||
		fail "shellcheck"
}

mutants() {
	wrong=$(python3 tests/mutants.py --texts) || fail "tests/mutants_list.py:
$wrong"
}

case ${1-all} in
architecture) architecture ;;
all)
	architecture
	formatting
	scripts
	mutants
	mkdir -p build && analysis
	[ $status -ne 0 ] || echo "lint: nothing found"
	;;
*)
	echo "lint.sh: expected nothing or architecture, not '$1'" >&2
	exit 3
	;;
esac
exit $status
