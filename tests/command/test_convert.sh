#!/bin/sh
# The verb convert, and the HdrHistogram log of every result: each format by a
# checker of its own, with texts that need escaping, and what is refused. Other
# tools' own readers join in where they are installed. Prints TAP.
# usage: test_convert.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
wrong=$1/tests/sched-bench-wrong
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

files() {
	find "$work" ! -name out ! -name err | sort
}

# refuses NAME STATUS PATTERN ARGUMENT...: one line on standard error that has the
# pattern, nothing on standard output, no file left behind.
refuses() {
	name=$1 status=$2 pattern=$3
	shift 3
	before=$(files)
	"$program" convert "$@" >"$work/out" 2>"$work/err"
	got=$?
	if [ $got -eq "$status" ] && [ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ] &&
		grep -q -- "$pattern" "$work/err" && [ "$(files)" = "$before" ]; then
		report "$name" yes
	else
		report "$name" no "status $got, expected $status; $(cat "$work/err" "$work/out")"
	fi
}

# A result with valid or suspect rows, and invalid ones.
a=$work/a
"$wrong" run -w pingpong,service,wrong --round-trips 5000 --duration 5ms --warmup 0s -r 3 \
	--record full --no-plots -q -o "$a" 2>"$work/err"
[ -s "$a/result.json" ] || {
	echo "not ok 1 - a result to convert"
	sed 's/^/# /' "$work/err"
	exit 1
}
"$program" list metrics --format json >"$work/metrics.json"

# One whose texts need escaping, with two series that a sweep has made.
b=$work/b
mkdir "$b"
python3 - "$a/result.json" "$b/result.json" <<'EOF'
import json, sys
hostile = 'a "b", c\\d/e\r\nf {g} 100%\tµs # EOF'
document = json.load(open(sys.argv[1]))
one, two = document["sched_bench"]["series"][:2]
for series, value in (one, "x=1, 2\n"), (two, "9"):
    series["workload"] = hostile
    series["label"] = hostile + value
    series["settings"] = [{"name": "spin-yield", "text": value, "swept": True},
                          {"name": "workers", "text": "2", "number": 2, "swept": True}]
for row in document["benchmarks"]:
    series = document["sched_bench"]["series"][row["family_index"]]
    row["sched_bench"]["workload"] = series["workload"]
    row["sched_bench"]["label"] = series["label"]
    row["sched_bench"]["valid"] = "suspect"
    row["sched_bench"]["reason"] = hostile
document["sched_bench"]["meta"]["machine"]["cpu_model"] = hostile
json.dump(document, open(sys.argv[2], "w"))
EOF

# convert RESULT FORMAT: into $work/FORMAT.
convert() {
	"$program" convert "$1" --to "$2" -o "$work/$2" >"$work/out" && [ "$(cat "$work/out")" = "$work/$2" ]
}
holds "CSV of a result with texts that need escaping" "$program" convert "$b" --to csv

# ---- names of earlier versions ----
older() {
	mkdir "$work/older" &&
		sed 's/"host_steal_/"steal_/g' "$a/result.json" >"$work/older/result.json" &&
		! grep -q host_steal_ "$work/older/result.json" &&
		"$program" convert "$work/older" --to csv -o "$work/older" &&
		cmp "$work/older/runs.csv" "$a/runs.csv"
}
holds "a metric's old name is read" older
# Too few rows for a verdict, but the metric is there.
holds "and can be given" sh -c "'$program' compare '$a' '$a' --metric steal_pct 2>&1 |
	grep '^host_steal_pct '"

# ---- HdrHistogram ----
# logs RESULT: the log has the percentiles of latency.csv.
logs() {
	convert "$1" hdr && python3 tests/command/tools/hlog.py csv "$1" >"$work/expected" &&
		python3 tests/command/tools/hlog.py log "$work/hdr" >"$work/decoded" &&
		[ "$(wc -l <"$work/expected")" -gt 10 ] && diff "$work/expected" "$work/decoded"
}
java_logs() {
	java -cp /usr/share/java/hdrhistogram.jar tests/command/tools/HlogCheck.java "$work/hdr" >"$work/java" &&
		diff "$work/expected" "$work/java"
}
# Some machines have a Java without a compiler.
java_lacks=
if [ ! -e /usr/share/java/hdrhistogram.jar ]; then
	java_lacks="libhdrhistogram-java is not installed"
elif ! java --list-modules 2>/dev/null | grep -q '^jdk.compiler@'; then
	java_lacks="a JDK is not installed"
fi
for result in a b; do
	holds "the log of $result has the percentiles of latency.csv" logs "$work/$result"
	if [ -n "$java_lacks" ]; then
		skips "HdrHistogram itself reads the log of $result" "$java_lacks"
	else
		holds "HdrHistogram itself reads the log of $result" java_logs
	fi
done
same_log() {
	convert "$a" hdr && cmp "$a/latency.hlog" "$work/hdr"
}
holds "a run leaves the log that convert makes" same_log

# ---- the others ----
same_csv() {
	"$program" convert "$a/result.json" --to csv -o "$work/new/csv" || return 1
	for file in "$a"/*.csv; do
		cmp "$file" "$work/new/csv/${file##*/}" || return 1
	done
	[ "$(find "$work/new/csv" -type f | wc -l)" -eq "$(find "$a" -name '*.csv' | wc -l)" ]
}
holds "the CSV files are made again" same_csv
# right FORMAT CHECK RESULT
right() {
	convert "$3" "$1" && python3 tests/command/tools/convert.py "$2" "$work/$1" "$3/runs.csv" "$work/metrics.json"
}
metrics_right() {
	convert "$1" openmetrics &&
		python3 tests/command/tools/openmetrics.py "$work/openmetrics" "$1/runs.csv" "$1/latency.csv"
}
reference_reads() {
	/usr/bin/python3 - "$work/openmetrics" <<-'EOF'
		import sys
		from prometheus_client.openmetrics.parser import text_string_to_metric_families
		families = list(text_string_to_metric_families(open(sys.argv[1], newline="").read()))
		assert len(families) > 100
	EOF
}
for result in a b; do
	holds "gbench of $result" right gbench gbench "$work/$result"
	holds "benchstat of $result" right benchstat benchstat "$work/$result"
	holds "gh-action of $result" right gh-action smaller "$work/$result"
	holds "gh-action-bigger of $result" right gh-action-bigger bigger "$work/$result"
	holds "openmetrics of $result" metrics_right "$work/$result"
	if /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null; then
		holds "OpenMetrics' reference parser reads that of $result" reference_reads
	else
		skips "OpenMetrics' reference parser reads that of $result" "python3-prometheus-client is not installed"
	fi
done
# Two series that are the same must not be the same sample.
alike() {
	mkdir "$work/c" && python3 - "$a/result.json" "$work/c/result.json" <<-'EOF' &&
		import json, sys
		document = json.load(open(sys.argv[1]))
		one, two = document["sched_bench"]["series"][:2]
		two.update({key: one[key] for key in ("workload", "label", "settings")})
		json.dump(document, open(sys.argv[2], "w"))
	EOF
		convert "$work/c" openmetrics && python3 tests/command/tools/openmetrics.py "$work/openmetrics"
}
holds "openmetrics of two series that are alike" alike
compare=/usr/share/benchmark/compare.py
compares() {
	convert "$a" gbench || return 1
	for file in "$work/gbench" "$a/result.json"; do
		/usr/bin/python3 $compare --no-color benchmarks "$file" "$file" >"$work/compared" || return 1
		grep -q 'pingpong/workers:[0-9]' "$work/compared" || return 1
	done
}
if [ -e $compare ] && /usr/bin/python3 -c 'import scipy' 2>/dev/null; then
	holds "Google Benchmark's compare.py reads it, and result.json" compares
else
	skips "Google Benchmark's compare.py reads it, and result.json" "libbenchmark-tools with python3-scipy is not installed"
fi
traced() {
	echo '{"traceEvents":[]}' >"$a/trace.json" && convert "$a" chrome-trace && cmp "$a/trace.json" "$work/chrome-trace"
}
refuses "a result as the file to write" 3 "it is a result's own file" "$a" --to gbench -o "$a/result.json"
# What a run is to write is nothing to the other verbs.
twins() {
	SCHED_BENCH_OUTPUT=/nowhere/a SCHED_BENCH_FORMAT=json "$program" convert "$a" --to csv >"$work/out" &&
		SCHED_BENCH_CONVERT_OUTPUT=- "$program" convert "$a" --to benchstat | grep -q '^pkg: '
}
holds "the environment of run is not that of convert" twins
refuses "no trace" 3 "'$b' has no trace; expected one of a run with --trace" "$b" --to chrome-trace
holds "a trace is copied" traced

# ---- where to ----
prints() {
	"$program" convert "$a" --to benchstat -o - >"$work/printed" && convert "$a" benchstat &&
		cmp "$work/printed" "$work/benchstat"
}
holds "-o - is standard output" prints
by_default() {
	[ "$("$program" convert "$a" --to gbench)" = "$a/gbench.json" ] && [ -s "$a/gbench.json" ]
}
holds "without --output it goes to the result" by_default
holds "help fits a screen" test "$("$program" convert --help | wc -l)" -le 50
helps() {
	"$program" convert --help | grep -q '  openmetrics ' && "$program" convert "$a" --help >"$work/help" &&
		"$program" convert | cmp - "$work/help"
}
holds "help lists the formats" helps

# ---- what is refused ----
mkdir "$work/directory" "$work/empty"
echo '{"benchmarks": []}' >"$work/other.json"
echo before >"$work/kept"
refuses "an unknown format" 3 "unknown format 'xml'; expected one of gbench, csv, hdr" "$a" --to xml
refuses "a misspelt format" 3 "did you mean 'benchstat'?" "$a" --to benchsat
refuses "no format" 3 "convert: --to is missing; expected one of gbench" "$a"
refuses "no result" 3 "no result is named; expected one result directory" --to hdr
refuses "two results" 3 "more than one result is named" "$a" "$b" --to hdr
refuses "a directory without a result" 3 "result.json" "$work/empty" --to hdr
refuses "a file that is not ours" 3 "other.json" "$work/other.json" --to hdr
refuses "an option of run" 3 "unknown option '-w'" "$a" -w yield
refuses "several files to standard output" 3 "csv are several files, expected a directory" "$a" --to csv -o -
refuses "files over another result" 3 "'$b' holds another result" "$a" --to csv -o "$b"
refuses "files into a file" 3 "kept' cannot be written: Not a directory" "$a" --to csv -o "$work/kept"
refuses "a file over a directory" 3 "directory' cannot be written: Is a directory" "$a" --to hdr -o "$work/directory"
refuses "a file in no directory" 3 "cannot be written: No such file" "$a" --to hdr -o "$work/none/x"
refuses "a device that is full" 4 "'/dev/full' cannot be written: No space left" "$a" --to gbench -o /dev/full
# fills FORMAT FILE: a disk on which there is room for less; what is there stays.
fills() {
	(
		trap '' XFSZ
		ulimit -f 1
		"$program" convert "$a" --to "$1" -o "$2" 2>"$work/err"
	)
	[ $? -eq 4 ] && grep -q "cannot be written: File too large" "$work/err" &&
		[ "$(cat "$work/kept")" = before ] && ! find "$work" -name '*.tmp*' | grep .
}
holds "a file that does not fit leaves the old one" fills openmetrics "$work/kept"
holds "files that do not fit" fills csv "$work/full"
full() {
	"$program" convert "$a" --to openmetrics -o - 2>"$work/err" >/dev/full
	[ $? -eq 4 ] && [ "$(wc -l <"$work/err")" -eq 1 ]
}
holds "standard output that is full" full
echo "1..$n"
