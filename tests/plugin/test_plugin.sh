#!/bin/sh
# Workloads that are not part of the command: written by `new`, compiled, installed and not, used by
# each verb, in real and in virtual time; and those that crash, hang, lie or do not fit.
# usage: test_plugin.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

program=$(realpath "$1")/sched-bench
include=$PWD
cd "$work" || exit 1
quick='-r 2 -d 2ms --warmup 0s --workers 1 --no-plots -q'
# build NAME: its shared object.
build() { ${CC:-cc} -std=gnu11 -O2 -Wall -Werror -fPIC -shared -I "$include" -o "$1.so" "$1.c"; }
# run NAME ARGUMENT...: a run of that file, with its result in out.NAME
run() {
	file=$1
	shift
	# shellcheck disable=SC2086
	"$program" run -w "./$file" $quick -o "out.$file" "$@" >"$file.text" 2>&1
}
# refused FILE WHAT: with one line, which says that.
refused() {
	run "$1"
	[ $? -eq 3 ] && [ "$(wc -l <"$1.text")" -eq 1 ] && grep -q "$2" "$1.text"
}
# changed NAME SED: a copy of mine.c.
changed() { sed -e "s/\"mine\"/\"$1\"/" -e "$2" mine.c >"$1.c"; }

holds "a workload to begin with" "$program" new workload mine
again() { ! "$program" new workload mine 2>/dev/null; }
holds "is not overwritten" again
holds "it runs as it is" run mine.c --from 300
parameters() { grep -q '"from","text":"300"' out.mine.c/result.json || grep -q 'from=300' out.mine.c/runs.csv; }
holds "its parameter is in the result" parameters
knows() { "$program" help ./mine.c | grep -q 'steps to make (1 to 4294967295)'; }
holds "help knows it" knows
holds "the command that new prints compiles it" build mine
holds "a shared object" run mine.so --from 300

# shellcheck disable=SC2086
sweep() {
	rm -rf swept
	"$program" sweep -w ./mine.so -L from=100,200 $quick -o swept &&
		[ "$(grep -c '^mine/from:[12]00/.*,\(valid\|suspect\)' swept/runs.csv)" -eq 4 ]
}
holds "a sweep over its parameter" again sweep
holds "a comparison" "$program" ab -A '--batch 1' -B '--batch 16' -w ./mine.so --from 100 --pairs 12 \
	--metric ns_per_op -d 1ms --warmup 0s --no-plots -q -o compared
printf '[a]\nfrom=300\nworkload=./mine.so\n' >job.ini
# shellcheck disable=SC2086
holds "a job file" "$program" run job.ini $quick -o job
printf '[a]\nworkload=./none.so\n' >none.ini
where() { "$program" run none.ini 2>text; [ $? -eq 3 ] && grep -q '^sched-bench: none.ini:2:10: ./none.so: there is no such file' text; }
holds "a file that is missing, with its place" where
# shellcheck disable=SC2086
from_environment() { SCHED_BENCH_WORKLOAD=./mine.so "$program" run $quick --from 200 -o environment; }
holds "the environment" from_environment

# ---- virtual time ----

if has_virtual; then
	virtual() { "$program" run -w "./$1" --from 1000 --virtual --profile xeon-2s --workers 4 -r 2 -q --no-plots -o "virtual.$1"; }
	holds "virtual time" virtual mine.c
	holds "and from the shared object" virtual mine.so
	figures() { cut -d, -f1-7 "virtual.$1/runs.csv"; }
	figures mine.c >of.c
	same() { figures mine.so | cmp - of.c; }
	holds "with the same times" same
	holds "schedules that look for bugs" "$program" explore -w ./mine.so --from 5 --schedules 5
else
	skips "virtual time" "this build has none"
fi

# ---- metrics of its own ----

# metric NAME UNIT: a copy of mine.c with a metric, which is the number of steps.
metric() {
	changed own "s/\.params = params,/& .metrics = metrics,/
		s/^\tconst struct data \*data = run->data;\$/&\n\trun->round.own[0] = (double)data->steps;/
		/^static const struct sb_workload workload/i \
static const struct sb_workload_metric metrics[] = {\n\t{ \"$1\", $2, \"higher\", \"steps of a round\" }, { 0 },\n};"
}
metric own_steps '"count"'
# shellcheck disable=SC2086
own_metric() {
	run own.c --from 300 && grep -q '"own_steps": *300' out.own.c/result.json &&
		"$program" sweep -w ./own.c -L from=100,200 --objective own_steps $quick -o out.objective &&
		"$program" report out.own.c --format html -o own.html && grep -q 'steps of a round' own.html &&
		"$program" help ./own.c | grep -q 'metric own_steps (count): steps of a round'
}
holds "a metric of its own, in results, on the page, as an objective, in the help" own_metric
metric ns_per_op '"ns"'
holds "one with a name that is taken" refused own.c "a metric's name is taken"
metric 'own-steps' '"count"'
holds "one with other letters" refused own.c "a metric's name is taken, or has other characters"
metric own_steps NULL
holds "one without a unit" refused own.c 'lacks its unit'

# ---- those that go wrong ----

changed lie 's/data->steps, run/data->steps + 1, run/'
lies() { run lie.c; [ $? -eq 2 ] && grep -q 'wrong answer: 100001 steps, expected 100000' out.lie.c/runs.csv; }
holds "a wrong answer" lies
changed crash 's/data->steps++;/data->steps++; *(volatile int *)0 = 1;/'
crashes() { run crash.c; [ $? -eq 2 ] && [ "$(cat crash.c.text)" = "sched-bench: ./crash.c has crashed, SIGSEGV" ]; }
# shellcheck disable=SC2086
costs_its_row() {
	"$program" sweep -w ./crash.c,./mine.so -L batch=1,16 $quick -o crashed
	[ $? -eq 2 ] && [ "$(grep -c 'crash.c has crashed' crashed/runs.csv)" -gt 0 ] &&
		[ "$(grep -c '^mine.*,valid\|^mine.*,suspect' crashed/runs.csv)" -eq 4 ]
}
case $1 in
*asan* | *tsan*) skips "crashes" "they are the sanitizer's" ;;
*)
	holds "a crash, in one line" crashes
	holds "costs its rows of a sweep, and no others" costs_its_row
	;;
esac
changed hang 's/data->steps++;/data->steps++; for (volatile int x = 1; x;) continue;/'
hangs() { run hang.c --timeout 1s; [ $? -eq 2 ] && grep -q '^sched-bench: hang: a step does not return' hang.c.text; }
holds "a step that does not return" hangs
if has_virtual; then
	set_virtual="--virtual --profile xeon-2s --workers 4"
	hangs_virtually() {
		run hang.c --virtual --profile xeon-2s --timeout 1s
		[ $? -eq 2 ] && grep -q '^sched-bench: hang: a round in virtual time did not end within --timeout' hang.c.text
	}
	holds "the same in virtual time, within --timeout" hangs_virtually
	# shellcheck disable=SC2086
	is_interrupted() {
		rm -f began
		"$program" run -w ./began.c --from 2 $set_virtual -o interrupted >began.text 2>&1 &
		until [ -e began ] || ! kill -0 $!; do sleep 0.1; done
		kill -TERM $!
		wait $!
		[ $? -eq 2 ] && grep -q '^sched-bench: began: interrupted, and it does not end' began.text
	}
	changed began 's/data->steps++;/data->steps++; fclose(fopen("began", "w")); for (volatile int x = 1; x;) continue;/
		s/#include "workloads/#include <stdio.h>\n&/'
	holds "a signal ends it, too" is_interrupted
fi
changed uncompilable 's/data->steps = 0;/data->steps = ;/'
says_where() { run uncompilable.c; [ $? -eq 3 ] && grep -q '^./uncompilable.c:[0-9]*:' uncompilable.c.text && tail -n 1 uncompilable.c.text | grep -q '^sched-bench: ./uncompilable.c: '; }
holds "an error of the compiler" says_where
sed 's/^#define SB_PLUGIN(name)/#undef SB_PLUGIN_VERSION\n#define SB_PLUGIN_VERSION 99\n&/' "$include/workloads/plugin.h" >plugin99.h
changed old 's|"workloads/plugin.h"|"plugin99.h"|'
holds "one of another version" build old
holds "is refused" refused old.so 'another version'
echo 'int unrelated;' >no.c
holds "one that is no plug-in" refused no.c 'it is no plug-in'
echo text >text.so
holds "one that is no shared object" refused text.so 'text.so'
changed unchecked 's/\.check = check,/.check = NULL,/; s/^static bool check/__attribute__((unused)) &/'
holds "one without a check" refused unchecked.c 'without a check'
changed clash 's/"from"/"batch"/'
holds "a parameter with the name of an option" refused clash.c "'batch' has the name of an option"
changed twin 's/"twin"/"yield"/'
holds "the name of another workload" refused twin.c 'another workload of its name'

# ---- installed ----

# shellcheck disable=SC2086
installed() {
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$include" MODE="${MODE:-release}" CC="${CC:-gcc}" DESTDIR="$work/root" PREFIX=/usr install >text 2>&1 &&
		mkdir elsewhere && cd elsewhere && "$work/root/usr/bin/sched-bench" new workload other >told &&
		grep -q -- "-I $work/root/usr/include/schedbench" told &&
		"$work/root/usr/bin/sched-bench" run -w ./other.c $quick -o out
}
case $1 in
*/release) holds "the installed command has the headers" installed ;;
*) skips "the installed command" "with build/release" ;;
esac
echo "1..$n"
