#!/bin/sh
# Checks the models of tests/models with Spin, exhaustively for small bounds,
# and that each deliberate mistake in them is found. Prints TAP. As many searches
# run at a time as there are processors; each takes at most 3 GB.
# SB_MODELS_LARGE, if set: with the largest bounds, too, which take as long as all others.
# usage: test_models.sh [...]; itself: test_models.sh --one NUMBER MODEL none|large|found FLAGS...
set -u
models=$(cd "$(dirname "$0")" && pwd)
# Stored in parts, states take less memory and more time.
store=${SB_MODELS_LARGE:+-DCOLLAPSE}

# Most searches take less time than gcc needs to compile them.
fast=$(command -v tcc || echo gcc -O0)

# verify DIRECTORY MODEL COMPILER FLAGS...: "none", "found" or what went wrong,
# in $errors.
verify() {
	dir=$1 model=$2 compiler=$3
	shift 3
	errors="spin or the compiler failed"
	states=0
	cp "$models"/*.pml "$dir"
	(cd "$dir" && spin "$@" -a "$model.pml" >log 2>&1 &&
		$compiler -w -DSAFETY ${store:+"$store"} -DMEMLIM=3000 \
			-o pan pan.c >>log 2>&1 &&
		./pan -m200000 >log 2>&1) || return
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$dir/log")
	# A block in a d_step: the model's own bound, in views.pml.
	if grep -q 'max search depth too small\|out of memory\|block in d_step' "$dir/log"; then
		errors="search not complete"
	elif grep -q 'errors: 0' "$dir/log"; then
		errors=none
	else
		errors=found
	fi
}

# one NUMBER MODEL none|large|found FLAGS...
one() {
	n=$1 model=$2 expected=$3
	shift 3
	own=$(mktemp -d)
	trap 'rm -rf "$own"' EXIT
	compiler=$fast
	if [ "$expected" = large ]; then
		expected=none compiler="gcc -O1"
	fi
	verify "$own" "$model" "$compiler" "$@"
	if [ "$errors" = "$expected" ]; then
		echo "ok $n - $model $* ($states states, errors: $errors)"
	else
		echo "not ok $n - $model $* (errors: $errors, expected $expected)"
		sed 's/^/# /' "$own/log"
	fi
}

if [ "${1-}" = --one ]; then
	shift
	one "$@"
	exit
fi
if ! command -v spin >/dev/null; then
	echo "ok 1 - models # SKIP spin is not installed"
	echo "1..1"
	exit 0
fi
jobs=$(mktemp)
trap 'rm -f "$jobs"' EXIT
n=0

# expect MODEL none|large|found FLAGS...: whether there is a mistake; large: none among more than
# a million states.
expect() {
	n=$((n + 1))
	echo "$n $*" >>"$jobs"
}

# largest MODEL "FLAGS" "SMALLER FLAGS": the first in `make models`, else the second. The deliberate
# mistakes are found with small bounds, too.
largest() {
	# shellcheck disable=SC2086
	if [ -n "${SB_MODELS_LARGE-}" ]; then
		expect "$1" large $2
	else
		expect "$1" none $3
		left_out="${left_out-}$1 $2; "
	fi
}

# mistakes MODEL "FLAGS" MISTAKE...
mistakes() {
	model=$1 flags=$2
	shift 2
	for mistake; do
		# shellcheck disable=SC2086
		expect "$model" found $flags "-D$mistake"
	done
}

largest word -DPRODUCERS=3 ""
largest word "-DPRODUCERS=3 -DENDS" -DENDS
mistakes word "" IGNORE_WAKEUP QUEUE_ALWAYS SPLIT_POST SPLIT_TAKE \
	CLAIM_READY SPLIT_CLAIM BLIND_KEEP \
	NOT_REVERSED IN_FRONT IGNORE_BACKLOG
mistakes word -DENDS SPLIT_COMPLETE

expect chain none
expect untold none
mistakes chain "" KEEP_LINK LINK_LATE NO_RETRY
mistakes untold "" OVERWRITE NEVER_TELL

expect handover none -DSTEPS=3
expect handover none -DMESSAGES=4
mistakes handover "" NO_BARRIER CLAIM_FIRST_READ NO_AWAY POST_LATE PROXY_EARLY \
	AWAY_BLIND PROXY_ALWAYS KEEP_TARGET

largest idle "-DEXT=1 -DMOMENT" "-DNW=2 -DEXT=1 -DMOMENT"
largest idle -DEXT=1 "-DNW=2 -DEXT=1"
largest idle -DEXT=3 "-DNW=2 -DEXT=2"
largest idle "-DEXT=1 -DBACKLOG" "-DNW=2 -DEXT=1 -DBACKLOG"
mistakes idle "" NO_RESCAN NO_CHAIN NO_LOCAL WAIT_TOKEN NO_RAISE RAISE_LATE LOWER_BLIND
mistakes idle -DMOMENT NO_REST

for first in LATER NEVER; do
	expect timekeeper none -DFIRST=$first
done
mistakes timekeeper -DFIRST=LATER NO_TELL NO_SECOND NO_AGAIN
mistakes timekeeper -DFIRST=NEVER NO_PUBLISH
expect relation none
mistakes relation "" LOOK_FIRST LEAVE_IT NO_RECHECK

expect reclaim large -DWORKERS=2 -DFOREIGN=0
expect reclaim none -DSECTIONS=2
largest reclaim "-DWORKERS=2 -DFOREIGN=1" -DOBJECTS=3
mistakes reclaim "" NO_FENCE_FOREIGN NO_FENCE_WORKER NO_FENCE_DRIVER FREE_EARLY BUMP_EARLY \
	PARK_INSIDE NO_ROLE OWN_EARLY NO_CHECK SLEEP_BLIND DEFER_NO_WAKE
mistakes reclaim -DSECTIONS=2 ONE_FLIP

expect counted large -DITEMS=4 -DTRIES=2 -DOLDEST
expect counted large -DITEMS=5 -DTRIES=2
largest counted "-DITEMS=4 -DTHIEVES=2 -DTRIES=1" "-DITEMS=3 -DTHIEVES=2 -DTRIES=1"
expect counted none -DITEMS=2 -DTRIES=1 -DSLEEPER
mistakes counted "" P1=RELAXED T1=RELAXED T2=RELAXED G1=RELAXED RING_EARLY \
	LATE_READ STALE_POPS NO_LOOK
mistakes counted "-DITEMS=2 -DTRIES=1 -DSLEEPER" SIZE=RELAXED POP=RELAXED \
	NO_FENCE_TELL NO_FENCE_SLEEP

largest chase_lev "-DITEMS=4 -DTRIES=2 -DOLDEST" "-DITEMS=3 -DTRIES=2 -DOLDEST"
expect chase_lev large -DITEMS=3 -DTHIEVES=2 -DTRIES=1
expect chase_lev large -DITEMS=2 -DTHIEVES=2 -DTRIES=2
expect chase_lev none -DITEMS=2 -DTRIES=1 -DSLEEPER
mistakes chase_lev "" NO_FENCE_POP NO_FENCE_STEAL P1=RELAXED P1_POP=RELAXED \
	T1=RELAXED T2=RELAXED G1=RELAXED LATE_READ STEAL_HALF
mistakes chase_lev "-DITEMS=2 -DTRIES=1 -DSLEEPER" NO_FENCE_TELL NO_FENCE_SLEEP

expect live large -DSUBMITTERS=2 -DEACH=1 -DSPAWNS=0 -DWAITERS=2
expect live large -DSUBMITTERS=2 -DEACH=1
expect live large -DLIMIT=3
largest live "-DSUBMITTERS=2 -DWAITERS=0" "-DSUBMITTERS=1 -DWAITERS=0"
expect live large -DSPAWNS=2 -DWAITERS=0 -DLIMIT=3
mistakes live "" KEPT RESERVED NOWHERE NO_GATE NO_BARRIER TAKE_TOUCHED NO_LOCK \
	CLEAR_UNLOCKED KEEP_CREDIT UNTOUCHED LEFT
mistakes live "-DSPAWNS=2 -DWAITERS=0" ONE_WORD

expect runq none
largest runq "-DPUSHERS=1 -DITEMS=6 -DHOT=3" "-DPUSHERS=1 -DITEMS=4 -DHOT=2"
mistakes runq "" NO_LOOK COUNT_FIRST LATE_COUNT OVERTAKE

expect shutdown large -DPATIENT -DSUBMITTERS=2 -DSENDERS=0 -DSTARTS=2
expect shutdown large -DPATIENT -DSUBMITTERS=2 -DSPAWN -DSENDERS=0
expect shutdown none -DPATIENT -DSUBMITTERS=1 -DSPAWN -DSENDERS=0 -DWORKERS=2
expect shutdown none -DSUBMITTERS=2 -DSENDERS=0 -DSTARTS=2
expect shutdown none -DSUBMITTERS=1 -DSPAWN
expect shutdown large -DSUBMITTERS=1 -DWORKERS=2
mistakes shutdown "-DPATIENT -DSUBMITTERS=1" RESERVE_OUTSIDE LAUNCH_OUTSIDE \
	WALK_EARLY COUNT_EARLY FREED_AT_ONCE KEEP_CREDIT HALT_UNTOLD HALT_LATE \
	HALT_UNSEEN
mistakes shutdown "-DPATIENT -DSUBMITTERS=1 -DSPAWN -DSENDERS=0" NO_LAST_LOOK \
	LOOK_EARLY SPLIT_FLAG
mistakes shutdown -DSUBMITTERS=1 NO_GRACE NO_WAIT
[ -z "${left_out-}" ] || echo "# skipped: larger bounds, which make models searches: ${left_out%; }"
xargs -P "$(nproc)" -L 1 sh "$0" --one <"$jobs"
echo "1..$n"
