#!/bin/sh
# Results, stores, recordings and descriptions of machines that come from strangers: none of them
# runs code, writes outside its directory, hangs, or takes much memory. Prints TAP.
# usage: test_untrusted.sh BUILD_DIRECTORY
set -u
program=$(realpath "$1/sched-bench")
tools=$PWD/tests/fuzz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
cd "$work" || exit 1
unset SCHED_BENCH_TRUST

# sql FILE STATEMENT...
sql() {
	python3 - "$@" <<-'EOS'
		import sqlite3, sys
		store = sqlite3.connect(sys.argv[1])
		for statement in sys.argv[2:]:
		    store.execute(statement)
		store.commit()
	EOS
}

# refuses_all PATTERN ARGUMENT...: status 3, one line with the pattern, no marker of code that ran,
# and the victims are as they were.
touched() { [ -e "$work/ran" ] || [ -e "$work/new" ] || [ "$(cat "$work/victim")" != precious ]; }
echo precious >victim
refuses_untouched() {
	name=$1 pattern=$2
	shift 2
	"$program" "$@" >out 2>err
	status=$?
	if [ $status -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] &&
		grep -q -- "$pattern" err && ! touched; then
		report "$name" yes
	else
		report "$name" no "status $status, $(touched && echo touched) $(cat err out)"
	fi
	rm -f ran new
	echo precious >victim
}

# A plug-in that leaves a marker when it is loaded.
"$program" new workload evil >/dev/null
cat >>evil.c <<END
#include <stdio.h>
__attribute__((constructor)) static void leave_a_marker(void) { fclose(fopen("$work/ran", "w")); }
END
quick='-d 2ms --warmup 0s -r 2 --no-plots'

# ---- the plan of a sweep ----

# shellcheck disable=SC2086
"$program" sweep -w pingpong -L batch=1,16 $quick -q -o chunk
mv evil.c chunk
sql chunk/sweep.db "UPDATE argument SET text = replace(text, 'pingpong', './chunk/evil.c')" \
	"UPDATE configuration SET label = replace(label, 'pingpong', 'evil')" \
	"DELETE FROM row WHERE repetition = 1"
rm chunk/result.json chunk/meta.json
plan="chunk: its plan has --workload './chunk/evil.c', which runs code; expected --trust, or the same option"
refuses_untouched "sweep --resume: a plug-in" "$plan" sweep --resume chunk
refuses_untouched "sweep --collect: a plug-in" "$plan" sweep --collect chunk
refuses_untouched "sweep --merge: a plug-in" "$plan" sweep --merge chunk -o merged
refuses_untouched "another workload on the command line does not allow it" "another command line" \
	sweep --resume chunk -w yield
cp -r chunk other
sql other/sweep.db "UPDATE argument SET text = replace(text, '--workload', '--workloa')"
refuses_untouched "an option that is cut short" "which runs code" sweep --resume other
sql other/sweep.db "UPDATE argument SET text = '--workload=./other/evil.ini' WHERE position = 0"
ln -s evil.c other/evil.ini
refuses_untouched "a link that looks like a description" "which runs code" sweep --resume other
ran() { [ -e ran ] && rm ran && [ -s "$1/result.json" ]; }
merged() {
	"$program" sweep --merge chunk --trust --no-plots -q -o merged || [ $? -eq 2 ] && ran merged
}
holds "sweep --merge --trust loads it" merged
merged_by_name() {
	"$program" sweep --merge chunk -w ./chunk/evil.c --no-plots -q -o named || [ $? -eq 2 ] &&
		ran named
}
holds "so does naming it" merged_by_name
resumed() {
	cp -r chunk trusted && "$program" sweep --resume trusted --trust -q || [ $? -eq 2 ] &&
		ran trusted
}
holds "sweep --resume --trust loads it" resumed
resumed_by_name() {
	cp -r chunk again && "$program" sweep --resume again -w ./chunk/evil.c -q || [ $? -eq 2 ] &&
		ran again
}
holds "and by its name" resumed_by_name
cp chunk/evil.c .
says_how() {
	"$program" sweep -w ./evil.c -L batch=1,16 -d 100ms --warmup 0s -r 9 --no-plots -o own >/dev/null 2>err &
	while [ ! -e own/sweep.db-wal ] && kill -0 $!; do sleep 0.05; done
	sleep 0.3
	kill -INT $!
	wait $!
	grep -q 'sweep --resume own --trust$' err || { cat err; return 1; }
}
holds "an interrupted sweep with a plug-in says what its resumption needs" says_how
rm -f ran

# ---- the job of a run ----

# interrupted DIRECTORY ARGUMENT...: a run that Ctrl-C ends after its first rows.
interrupted() {
	directory=$1
	shift
	"$program" run "$@" -d 2ms --warmup 0s --no-plots -o "$directory" >/dev/null 2>err &
	while [ ! -e "$directory/run.db-wal" ] && kill -0 $!; do sleep 0.05; done
	kill -INT $!
	wait $!
	rm -f "$directory/result.json" "$directory/meta.json"
}
# plans DIRECTORY LINE: that line is one more of its job.
plans() {
	sql "$1/run.db" "UPDATE plan SET value = replace(value, 'repetitions=1000', 'repetitions=3
$2') WHERE key = 'job'" "DELETE FROM row WHERE repetition > 1"
}
interrupted run -w pingpong --round-trips 100 --pairs 1 -r 1000
for option in export-csv export-json record-actors; do
	rm -rf written
	cp -r run written
	sql written/run.db "UPDATE plan SET value = replace(value, 'no-plots=1', 'no-plots=1
$option=$work/victim') WHERE key = 'job' AND '$option' <> 'record-actors'"
	[ $option = record-actors ] && plans written "$option=$work/victim"
	plans written seed=5
	refuses_untouched "run --resume: $option" \
		"written: its plan has --$option '$work/victim', which writes a file; expected --trust" \
		run --resume written
	refuses_untouched "another value of it allows nothing" "." run --resume written -w yield
done
sql written/run.db "UPDATE plan SET value = replace(value, 'workload=pingpong', 'workload=./evil.c')"
refuses_untouched "run --resume: a plug-in" "written: its plan has --workload './evil.c', which runs code" \
	run --resume written
writes_again() {
	rm -rf again && cp -r run again && plans again seed=5
	"$program" run --resume again --export-csv new "$@" -q || [ $? -eq 2 ] && [ -s new ]
}
holds "the same option on the command line is enough" writes_again
rm -f new
trusts() {
	rm -rf again && cp -r run again && plans again "record-actors=$work/new"
	"$program" run --resume again --trust -q || [ $? -eq 2 ] && [ -s new ]
}
holds "so is --trust" trusts
rm -f new

# ---- the plan of several machines ----

# machines TEXT: a result directory with that plan.
machines() {
	rm -rf fleet
	mkdir fleet
	echo "{\"at_once\": false, \"sweeps\": {$1}}" >fleet/machines.json
}
machines '"m": ["sweep", "--workload=./evil.c", "-Lbatch=1,2"]'
refuses_untouched "sweeps of machines: a plug-in" "fleet: its plan has --workload" sweep --resume fleet
machines '"m": ["run", "--workload=yield", "--export-csv=new"]'
refuses_untouched "another verb" "." sweep --resume fleet
machines '"m": ["sweep", "job.ini"]'
refuses_untouched "a job file" "a word that is no option" sweep --resume fleet
machines '"m": ["sweep", "--workload=yield", "-Lbatch=1,2", "--on=slurm:wrap=x"]'
refuses_untouched "a cluster's options" "its plan has --on 'slurm:wrap=x', which runs code" sweep --resume fleet
machines '"..": ["sweep", "--workload=yield", "-Lbatch=1,2"]'
refuses_untouched "a name that leads out of the directory" "has no sweeps" sweep --resume fleet
machines '"m": ["sweep", "--workload=yield", "-Lbatch=1,2"]'
mkdir new.d && ln -s ../new.d fleet/m
refuses_untouched "a folder that is a link" "fleet/m is a link" sweep --resume fleet
holds "which nothing was written to" rmdir new.d

# ---- the job of a cluster ----

# shellcheck disable=SC2086
"$program" sweep -w yield -L batch=1,16 $quick -q -o slurm
rm slurm/result.json slurm/meta.json
for option in --trust --on=slurm:wrap=x; do
	rm -rf plain && cp -r slurm plain
	sql plain/sweep.db "INSERT INTO argument VALUES(98, '--resume'), (99, '$option')"
	refuses_untouched "the plan of a sweep with $option" "its plan has" sweep --resume plain
done
sql slurm/sweep.db "DELETE FROM row WHERE repetition = 1" \
	"INSERT INTO plan VALUES('job', 'sched-bench-0123456789abcdef'), ('job_chunks', '2'), ('job_options', 'wrap=x')"
mkdir slurm/chunks
refuses_untouched "options of sbatch" "its plan has --on 'slurm:wrap=x', which runs code" sweep --resume slurm
sql slurm/sweep.db "UPDATE plan SET value = 'sched-bench-0
touch new' WHERE key = 'job'"
refuses_untouched "a line of a script as the job's name" "does not say which job" sweep --resume slurm
mkdir kept && echo precious >kept/file && rmdir slurm/chunks && ln -s ../kept slurm/chunks
"$program" sweep --resume slurm -q --no-plots
holds "chunks that are a link are left alone" grep -q precious kept/file

# ---- links and pipes in a result ----

# shellcheck disable=SC2086
"$program" run -w yield $quick -q -o result || [ $? -eq 2 ] || exit 1
mkdir outside
ln -s ../outside result/plots
leads_nowhere() {
	"$program" plot cost result 2>err && return 1
	cat err
	grep -q 'result/plots' err && rmdir outside
}
if command -v gnuplot >/dev/null; then
	holds "plots that are a link" leads_nowhere
else
	skips "plots that are a link" "gnuplot is not installed"
fi
rm result/plots
ln -sf ../victim result/report.html
replaces_the_link() {
	"$program" report result && grep -q '<html' result/report.html && grep -q precious victim
}
holds "a report that is a link is replaced" replaces_the_link
mkdir result/plots
mkfifo result/plots/latency.svg
ln -s ../../victim result/plots/steals.svg
reads_no_pipe() {
	timeout 60 "$program" report result -o page.html && ! grep -q precious page.html
}
holds "a picture that is a pipe, or a link" reads_no_pipe
rm -rf trace.json
mkfifo result/trace.json
reads_no_trace() { timeout 60 "$program" plot timeline result -o timeline.svg; [ $? -eq 3 ]; }
holds "a trace that is a pipe" reads_no_trace
ln -s ../victim run/run.lock 2>/dev/null || ln -sf ../victim run/run.lock
refuses "a lock that is a link" 4 "run.lock cannot be written" run --resume run
rm run/run.lock
cp run/run.db linked.db && ln -sf ../linked.db run/run.db
refuses "a store that is a link" 3 "run/run.db is not a file" run --resume run
rm run/run.db && mv linked.db run/run.db
: >run/run.db-journal
refuses "a journal from elsewhere, which can have any file removed" 3 "run.db-journal is beside" \
	run --resume run
rm run/run.db-journal

# ---- bombs ----

# costs NAME PATTERN ARGUMENT...: is refused, and takes at most 50 MiB.
costs() {
	name=$1 pattern=$2
	shift 2
	holds "$name" python3 "$tools/cost.py" "$most" "$pattern" "$program" "$@"
	printf '%s\n' "$details" | sed -n '1s/^/# /p'
}
# A sanitizer has memory of its own.
most=50
case $1 in *asan* | *tsan*) most=1000 ;; esac
python3 - <<'EOS'
import json, os, sqlite3

xml = '<?xml version="1.0"?>\n%s<topology version="2.0">%s</topology>\n'
bombs = {
    "laughs": ('<!DOCTYPE topology [\n<!ENTITY a0 "xxxxxxxxxx">\n'
               + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">\n' for i in range(1, 10)) + "]>\n",
               '<object type="Machine" os_index="&a9;">&a9;</object>'),
    "quadratic": ('<!DOCTYPE topology [<!ENTITY a "' + "x" * 100000 + '">]>\n',
                  '<object type="Machine" name="' + "&a;" * 10000 + '"/>'),
    "deep": ("", '<object type="Group">' * 10**6 + "</object>" * 10**6),
    "wide": ("", '<object type="Machine">' + '<object type="PU"/>' * (12 * 10**5) + "</object>"),
    "long": ("", '<object type="Machine" name="' + "x" * (60 * 10**6) + '"/>'),
}
for name, parts in bombs.items():
    with open(name + ".xml", "w") as file:
        file.write(xml % parts)
for name, text in {"arrays": "[", "objects": '{"a":'}.items():
    os.mkdir(name)
    with open(f"{name}/result.json", "w") as file:
        file.write(text * 10**6)


def bomb(name, store, statement, *values):
    """A copy of a result directory's store, changed."""
    os.mkdir(name)
    origin = sqlite3.connect(store)
    copy = sqlite3.connect(f"{name}/{os.path.basename(store)}")
    origin.backup(copy)
    copy.execute(statement, values)
    copy.commit()


bomb("value", "chunk/sweep.db", "UPDATE plan SET value = ? WHERE key = 'machine'", "x" * 300_000_000)
bomb("run-value", "run/run.db", "UPDATE plan SET value = ? WHERE key = 'job'", "x" * 2_000_000)
bomb("argument", "chunk/sweep.db", "UPDATE argument SET text = ?", "x" * 2_000_000)
bomb("label", "slurm/sweep.db", "UPDATE configuration SET label = ? WHERE id = 0", "x" * 2_000_000)
bomb("row", "slurm/sweep.db", "UPDATE row SET result = ? WHERE repetition = 0", "x" * 60_000_000)
bomb("records", "chunk/sweep.db", "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n "
     "WHERE i < 2000000) INSERT INTO plan SELECT 'key ' || i, '' FROM n")
EOS
for name in laughs quadratic; do
	costs "XML that declares entities: $name" "declares a document type of its own" \
		topo show --profile "./$name.xml"
done
costs "XML that is a million objects deep" "more than 1048576 tags" topo show --profile ./deep.xml
costs "XML of more than a million objects" "more than 1048576 tags" topo show --profile ./wide.xml
costs "XML with a long attribute" "a tag of more than 64 KiB" topo show --profile ./long.xml
for name in arrays objects; do
	costs "a result of a million $name" "maximum parsing depth" report "$name"
done
costs "a model of a million arrays" "maximum parsing depth" \
	run -w yield --virtual --profile xeon-2s --model arrays/result.json
costs "a pack of a million arrays" "maximum parsing depth" \
	topo show --profile "$work/arrays/result.json"
for verb in --resume --collect --merge; do
	for name in value argument label; do
		costs "sweep $verb: $name of megabytes" "sweep.db has a value of more than 1 MiB" \
			sweep $verb $name
	done
	costs "sweep $verb: row of 60 MB" "sweep.db has a value of more than 32 MiB" sweep $verb row
	costs "sweep $verb: two million records" "more than 1000000 records" sweep $verb records
done
costs "run --resume: a job of 2 MB" "run.db has a value of more than 1 MiB" run --resume run-value
if command -v zstd >/dev/null; then
	head -c 1500000000 /dev/zero | tr '\0' '\n' | zstd -q -1 --stream-size=1500000000 -o lines.zst
	costs "a recording that expands to 1.5 GB" "expands to 1430 MiB, more than 200 times" \
		run -w replay --actors lines.zst
else
	skips "a recording that expands to 1.5 GB" "zstd is not installed"
fi
mkfifo pipe.json
costs "a model that is a pipe" "not a file" run -w yield --virtual --profile xeon-2s --model ./pipe.json
echo "1..$n"
