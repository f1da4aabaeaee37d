#!/bin/sh
# The result directory: what spec and README say of each file is so, other
# programs read it, and a disk that is full, or a kill, leaves nothing that is
# only half there. A limit of memory or threads is told. Prints TAP.
# usage: test_files.sh BUILD_DIRECTORY
set -u
# A small disk is mounted where these processes alone see it.
if [ -z "${SB_OWN_MOUNTS-}" ]; then
	for flags in -m -rm; do
		if unshare $flags true 2>/dev/null; then
			SB_OWN_MOUNTS=yes exec unshare $flags sh "$0" "$@"
		fi
	done
fi
program=$1/sched-bench
work=$(mktemp -d)
trap 'umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
. tests/tap.sh

quick='--duration 1ms --warmup 0s --no-plots -q'

# A row that the machine has spoilt is no error here: 2.
measure() {
	"$program" run "$@"
	status=$?
	[ $status -eq 0 ] || [ $status -eq 2 ]
}

# shellcheck disable=SC2086
SCHED_BENCH_BATCH=8 measure -w pingpong -w service --rate 20k/s --pairs 1 \
	$quick --repetitions 3 -o "$work/a" 2>"$work/err" || sed 's/^/# /' "$work/err"
# shellcheck disable=SC2086
measure -w skynet --leaves 100 $quick --repetitions 2 -o "$work/b" 2>"$work/err" ||
	sed 's/^/# /' "$work/err"

# ---- the files ----

for file in result.json runs.csv series.csv workers.csv yields.csv steals.csv spins.csv \
	latency.csv memory.csv report.html meta.json; do
	holds "there is $file" test -s "$work/a/$file"
done
leftovers() {
	find "$1" -name '*.tmp.*' | grep . && return 1
	return 0
}
holds "and nothing temporary" leftovers "$work/a"

# Two at once would write one result out of both.
mkdir "$work/busy" "$work/swept"
keeps_off() {
	# shellcheck disable=SC2086
	flock "$work/busy" "$program" run -w pingpong $quick -o "$work/busy" 2>"$work/err"
	[ $? -eq 3 ] && grep -q "another run is writing there" "$work/err"
}
if command -v flock >/dev/null; then
	holds "a directory that another run writes to is refused" keeps_off
else
	skips "a directory that another run writes to is refused" "flock is not installed"
fi
two_at_once() {
	for workload in pingpong yield skynet; do
		# shellcheck disable=SC2086
		measure -w $workload $quick --repetitions 1 --output-root "$work/root" 2>/dev/null &
	done
	wait
	[ "$(find "$work/root" -name meta.json | wc -l)" -eq 3 ]
}
holds "runs that start in the same second have a directory each" two_at_once
: >"$work/swept/sweep.db"
spares_sweeps() {
	# shellcheck disable=SC2086
	"$program" run -w pingpong $quick -o "$work/swept" 2>"$work/err"
	[ $? -eq 3 ] && grep -q "holds a sweep" "$work/err"
}
holds "the rows of a sweep are no place for a run" spares_sweeps

# Runs a piece of Python on a result directory; it fails by an exception.
python() {
	python3 -c "$1" "$work/a" "$program"
}

holds "CSV files are as RFC 4180 says, with line feeds" python '
import csv, glob, sys
for path in glob.glob(sys.argv[1] + "/*.csv"):
    text = open(path, newline="").read()
    assert "\r" not in text and text.endswith("\n"), path
    rows = list(csv.reader(text.splitlines(True), strict=True))
    # Neither of the two workloads yields a command.
    assert len(rows) > 1 or path.endswith("/yields.csv"), path
    assert len(set(rows[0])) == len(rows[0]), (path, "a column twice")
    for row in rows:
        assert len(row) == len(rows[0]), (path, row)
        for cell in row:
            assert cell.lower().lstrip("-") not in ("nan", "inf"), (path, row)'
holds "the first ten columns of runs.csv are those of Google Benchmark" python '
import sys
head = open(sys.argv[1] + "/runs.csv").readline()
assert head.startswith("name,iterations,real_time,cpu_time,time_unit,"
    "bytes_per_second,items_per_second,label,error_occurred,error_message,"), head'
holds "yields.csv has the columns it is said to have" grep -q \
	',worker,command,name,count,' "$work/a/yields.csv"
holds "steals.csv has the columns it is said to have" grep -q \
	',thief,victim,distance,attempts,successes,items,lost,empty,' "$work/a/steals.csv"
holds "runs.csv has the numbers of result.json, to the last digit" python '
import csv, json, sys
result = json.load(open(sys.argv[1] + "/result.json"))
rows = {(r["sched_bench"]["workload"], r["repetition_index"]): r for r in result["benchmarks"]}
numbers = 0
for row in csv.DictReader(open(sys.argv[1] + "/runs.csv")):
    if row["error_occurred"]:
        continue
    own = rows[row["workload"], int(row["repetition"])]
    for name in ("iterations", "real_time", "cpu_time", "items_per_second"):
        assert float(row[name]) == own[name], (name, row[name], own[name])
    for name in list(row)[15:-1]:
        if name.startswith("setting_"):
            continue
        assert (row[name] == "") == (name not in own["sched_bench"]), name
        if row[name]:
            numbers += 1
            assert float(row[name]) == own["sched_bench"][name], (name, row[name])
assert numbers > 100 or not rows'
holds "series.csv has the medians of runs.csv" python '
import csv, statistics, sys
runs = [r for r in csv.DictReader(open(sys.argv[1] + "/runs.csv")) if not r["error_occurred"]]
seen = set()
for row in csv.DictReader(open(sys.argv[1] + "/series.csv")):
    values = [float(r[row["metric"]]) for r in runs
              if r["name"] == row["series"] and r[row["metric"]]]
    assert int(row["n"]) == len(values), row
    seen.add((row["series"], row["metric"]))
    if not values:
        assert row["median"] == row["min"] == row["max"] == "", row
        continue
    assert float(row["min"]) == min(values) and float(row["max"]) == max(values), row
    assert abs(float(row["median"]) - statistics.median(values)) <= 1e-12 * abs(max(values, key=abs)), row
    assert int(row["valid"]) + int(row["suspect"]) + int(row["invalid"]) == 3, row
columns = list(csv.reader(open(sys.argv[1] + "/runs.csv")))[0][15:-1]
metrics = [name for name in columns if name != "fork" and not name.startswith("setting_")]
assert len(seen) == 2 * len(metrics), len(seen)'
holds "settings are columns of series.csv" python '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/series.csv")))
assert {r["setting_pairs"] for r in rows if r["workload"] == "pingpong"} == {"1"}
assert {r["setting_pairs"] for r in rows if r["workload"] == "service"} == {""}'
holds "every option and parameter is a column of both tables" python '
import csv, json, sys
options = json.load(open(sys.argv[1] + "/meta.json"))["options"]
for table in "runs.csv", "series.csv":
    for row in csv.DictReader(open(sys.argv[1] + "/" + table)):
        for name, value in options.items():
            assert row["setting_" + name] == value, (table, name)
        assert (row["setting_pairs"] == "1") == (row["workload"] == "pingpong")'
holds "meta.json says machine, topology, versions, command and seed" python '
import json, sys
meta = json.load(open(sys.argv[1] + "/meta.json"))
for group, keys in (("machine", "topology_fingerprint topology pus kernel cpu_model"),
                    ("run", "version git_revision compiler command_line date")):
    for key in keys.split():
        # An irregular machine has no description in one line.
        assert meta[group].get(key) or key == "topology", (group, key)
assert meta["options"]["seed"] == "1" and meta["schema"] == 1
assert " run -w pingpong -w service " in meta["run"]["command_line"]'
holds "meta.json has each option with its value and where that is from" python '
import json, subprocess, sys
meta = json.load(open(sys.argv[1] + "/meta.json"))
options, sources = meta["options"], meta["option_sources"]
assert list(options) == list(sources) and len(options) > 40
assert (options["batch"], sources["batch"]) == ("8", "environment")
assert (options["duration"], sources["duration"]) == ("1ms", "command line")
assert (options["spin-yield"] != "", sources["spin-yield"]) == (True, "default")'

# ---- for Google Benchmark's own tools ----

# compare.py takes each row of "benchmarks" that has name, time_unit, real_time
# and cpu_time (numbers; missing ones end it), pairs the rows of the same name,
# sorts by family_index, per_family_instance_index, run_type and
# repetition_index, and takes the geometric mean of all that are no aggregates.
holds "result.json has what compare.py relies on" python '
import json, sys
def no_constant(text):
    raise ValueError(text)
result = json.load(open(sys.argv[1] + "/result.json"), parse_constant=no_constant)
assert result["context"]["json_schema_version"] == 1
assert result["context"]["library_build_type"] in ("release", "debug")
names = {}
for row in result["benchmarks"]:
    assert row["real_time"] > 0 and row["cpu_time"] > 0 and row["time_unit"] == "ns", row
    assert row["run_type"] == "iteration" and row["per_family_instance_index"] == 0
    assert row["name"] == row["run_name"] and 0 <= row["repetition_index"] < row["repetitions"]
    names.setdefault(row["name"], set()).add(row["sched_bench"]["series"])
assert all(len(series) == 1 for series in names.values()), names
rows = len(result["benchmarks"]) + len(result["sched_bench"]["invalid"])
assert rows == 6, rows'
compare=/usr/share/benchmark/compare.py
if [ -e $compare ] && /usr/bin/python3 -c 'import scipy' 2>/dev/null; then
	compares() {
		/usr/bin/python3 $compare benchmarks "$work/a/result.json" "$1/result.json" \
			>"$work/out" 2>&1
		cat "$work/out"
		grep -q "$2" "$work/out"
	}
	# shellcheck disable=SC2086
	measure -w pingpong --pairs 1 $quick --repetitions 3 -o "$work/c" 2>/dev/null
	holds "compare.py compares two results" compares "$work/c" 'pingpong/workers:[0-9]* .*[+-]0\.'
	holds "compare.py finds nothing to compare with another workload" compares "$work/b" GEOMEAN
else
	skips "compare.py compares two results" \
		"Debian's libbenchmark-tools, with python3-scipy (80 MB), is not installed"
fi

# ---- what is there already ----

for file in result.json meta.json runs.csv; do
	mkdir "$work/only-$file"
	cp "$work/a/$file" "$work/only-$file"
	# shellcheck disable=SC2086
	refuses "a directory with $file alone is left alone" 3 'already holds a result' \
		run -w pingpong $quick -o "$work/only-$file"
	holds "and unchanged" cmp "$work/a/$file" "$work/only-$file/$file"
done
# A stage of a killed process is known by the file in it; all else is the user's.
mkdir -p "$work/left/stage.tmp.killed" "$work/left/stage.tmp.99999"
echo "sched-bench writes here" >"$work/left/stage.tmp.killed/.sched-bench"
echo half >"$work/left/stage.tmp.killed/cost.svg"
echo mine | tee "$work/left/try" "$work/left/notes.tmp.20240131" >"$work/left/stage.tmp.99999/own"
# shellcheck disable=SC2086
measure -w pingpong $quick --repetitions 1 -o "$work/left" 2>/dev/null
holds "a stage of a killed run is removed" test ! -e "$work/left/stage.tmp.killed"
holds "but not what is somebody's own" grep -qx mine "$work/left/try"
holds "nor a file whose name looks temporary" grep -qx mine "$work/left/notes.tmp.20240131"
holds "nor a directory whose name does" grep -qx mine "$work/left/stage.tmp.99999/own"
holds "and the result is there" test -s "$work/left/meta.json"

# ---- limits of memory and threads ----

# tells_limit STATUS: 4 and one line with the reason, or 0 (2: the machine has
# spoilt the row) and none; $work/limited has what there is.
tells_limit() {
	case $1 in
	4) [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -q 'Cannot allocate memory\|limit of .*address space\|no memory' "$work/err" ;;
	0 | 2) [ ! -s "$work/err" ] && ! grep -q 'did not end\|allocate' "$work/limited/runs.csv" ;;
	*) false ;;
	esac
}
# runs_short COMMAND...: it runs the program, with a limit; status is the program's.
runs_short() {
	rm -rf "$work/limited"
	# shellcheck disable=SC2086
	"$@" "$program" run --workers 2 --oversubscribe $quick -r 1 \
		-o "$work/limited" 2>"$work/err"
	status=$?
	tells_limit $status && return
	echo "$*: status $status: $(cat "$work/err")"
	return 1
}
with_space() {
	(
		# shellcheck disable=SC3045
		ulimit -v $((1024 * $1))
		shift
		exec "$@"
	)
}
# From too little to start to enough for most.
each_space() {
	ended=
	for mib in 40 50 60 70 80 100 140; do
		runs_short with_space $mib env SCHED_BENCH_WORKLOAD="$1" || return 1
		ended="$ended $status"
	done
	echo "$ended" | grep -q 4
}
if with_space 400 "$program" --version >"$work/out" 2>&1; then
	for workload in skynet fan-in service; do
		holds "$workload: little address space is told at once" each_space $workload
	done
else
	skips "little address space is told at once" "this build needs more: $(head -1 "$work/out")"
fi

# As another user, because root has no limit of processes.
as_nobody() {
	mkdir -p "$work/open" && chmod 755 "$work" && chmod 777 "$work/open" &&
		cp "$program" "$work/open/sched-bench" &&
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
no_thread() {
	# shellcheck disable=SC2086
	as_nobody prlimit --nproc=1 "$work/open/sched-bench" run -w pingpong $quick \
		-o "$work/open/result" 2>"$work/err"
	status=$?
	[ $status -eq 4 ] && tells_limit $status && return
	echo "status $status: $(cat "$work/err")"
	return 1
}
# The row has the reason, and the sweep its status.
no_thread_for_rows() {
	# shellcheck disable=SC2086
	as_nobody prlimit --nproc=2 "$work/open/sched-bench" sweep -w pingpong $quick \
		-L batch=1,2 -o "$work/open/sweep" 2>"$work/err"
	[ $? -eq 4 ] && grep -q "limit of processes" "$work/open/sweep/runs.csv"
}
if as_nobody prlimit --nproc=1 "$work/open/sched-bench" --version >"$work/out" 2>&1; then
	holds "a limit of processes is told" no_thread
	holds "a limit of processes ends a sweep with 4" no_thread_for_rows
else
	skips "a limit of processes is told" "no other user here: $(head -1 "$work/out")"
fi

no_file() {
	(
		# shellcheck disable=SC3045
		ulimit -n 5
		# shellcheck disable=SC2086
		exec "$program" run -w pingpong $quick -o "$work/files"
	) 2>"$work/err"
	[ $? -eq 4 ] && grep -qx 'sched-bench: .*: Too many open files' "$work/err"
}
holds "a limit of files is told" no_file

# Those that are not spawned would be waited for.
holds_processes() {
	# shellcheck disable=SC2086
	"$program" run -w skynet --max-processes 64 $quick -o "$work/few" 2>"$work/err"
	[ $? -eq 4 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q 'max-processes 64' "$work/err"
}
holds "--max-processes is told when it is met" holds_processes

# ---- a disk that is full ----

# whole DIRECTORY: each file in it is, from the first byte to the last.
whole() {
	leftovers "$1" && python3 - "$1" <<-'END'
		import csv, glob, json, sys
		for path in glob.glob(sys.argv[1] + "/**", recursive=True):
		    if path.endswith(".json"):
		        json.load(open(path))
		    elif path.endswith(".csv"):
		        text = open(path, newline="").read()
		        assert text.endswith("\n"), path
		        rows = list(csv.reader(text.splitlines(True), strict=True))
		        assert all(len(row) == len(rows[0]) for row in rows), path
		    elif path.endswith(".html"):
		        assert open(path).read().endswith("</html>\n"), path
		    elif path.endswith(".svg"):
		        assert open(path).read().rstrip().endswith("</svg>"), path
		    elif path.endswith(".png"):
		        assert open(path, "rb").read().endswith(b"IEND\xaeB`\x82"), path
	END
}

# Its files are of much the same size each time: no histograms, one worker. They may
# have $blocks of 512 bytes at most.
blocks=unlimited
small() (
	ulimit -f $blocks
	exec "$program" run -w pingpong --round-trips 10000 --workers 1 --record counters \
		--warmup 0s --duration 1ms --repetitions 1 "$@" >/dev/null 2>"$work/err"
)

# fails_whole NAME PATTERN DIRECTORY OPTION...: status 4, one line that has the
# pattern, and only whole files in the directory.
fails_whole() {
	name=$1 pattern=$2 directory=$3
	shift 3
	small -o "$directory" "$@"
	got=$?
	if [ $got -eq 4 ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -q "$pattern" "$work/err" && whole "$directory" >"$work/out" 2>&1; then
		report "$name" yes
	else
		report "$name" no "status $got, expected 4; $(cat "$work/err" "$work/out"); $(ls -l "$directory")"
	fi
}

# kib DIRECTORY PATTERN: what these files take, in whole pages.
kib() {
	find "$1" -path "$2" -type f -printf '%s\n' |
		awk '{ sum += 4 * int(($1 + 4095) / 4096) } END { print sum + 0 }'
}

# leave KIB: the rest of the disk is taken.
leave() {
	rm -f "$work/disk/fill"
	free=$(df -k --output=avail "$work/disk" | tail -1)
	dd if=/dev/zero of="$work/disk/fill" bs=1k count=$((free - $1)) 2>/dev/null
}

no_pictures() {
	find "$work/disk/3/plots" -type f | grep . && return 1
	return 0
}

mkdir "$work/disk"
if [ -n "${SB_OWN_MOUNTS-}" ] && mount -t tmpfs -o size=1m tmpfs "$work/disk" 2>/dev/null; then
	cp -r "$work/b" "$work/disk/earlier"
	small -o "$work/ref"
	json=$(kib "$work/ref" '*/result.json')
	tables=$(kib "$work/ref" '*.csv')
	pictures=$(kib "$work/ref" '*/plots/*')
	leave 4
	fails_whole "no room for the result" 'result.json cannot be written: No space left' \
		"$work/disk/1" --no-plots
	holds "then there is no result" test ! -e "$work/disk/1/result.json"
	leave $((json + tables / 2))
	fails_whole "no room for the tables" '\.csv cannot be written: No space left' \
		"$work/disk/2" --no-plots
	holds "the measurement itself is safe" test -s "$work/disk/2/result.json"
	holds "but its directory is not complete" test ! -e "$work/disk/2/meta.json"
	if command -v gnuplot >/dev/null; then
		leave $((json + tables + pictures / 2))
		fails_whole "no room for the pictures" 'plots cannot be written: No space left' \
			"$work/disk/3"
		holds "then there are none" no_pictures
	else
		skips "no room for the pictures" "gnuplot is not installed"
	fi
	says_why() {
		"$program" report "$work/b" -o "$work/disk/b.md" 2>"$work/err"
		[ $? -eq 4 ] && grep -q "No space left" "$work/err" && [ ! -e "$work/disk/b.md" ]
	}
	leave 0
	holds "no room for a report: the reason is told" says_why
	holds "the earlier result is as it was" diff -r "$work/b" "$work/disk/earlier"
	mount -o remount,ro "$work/disk"
	fails_whole "a file system that is read only" "cannot be written: Read-only file system" \
		"$work/disk" --no-plots
else
	skips "a disk that is full" "no file system may be mounted here"
fi

# As in a chroot: there is no way to link a file that has no name.
without_proc() {
	# shellcheck disable=SC2086,SC2016
	unshare -m sh -c 'mount -t tmpfs none /proc && exec "$0" "$@"' "$program" run -w yield --yields 100 \
		$quick --repetitions 1 --export-csv "$work/no-proc.csv" -o "$work/no-proc" || [ $? -eq 2 ]
}
has_all() {
	diff "$work/no-proc.csv" "$work/no-proc/runs.csv" && test -s "$work/no-proc/meta.json" &&
		leftovers "$work/no-proc"
}
case $1 in
*asan*) sanitizer=yes ;;
*) sanitizer= ;;
esac
if [ -n "$sanitizer" ]; then
	skips "without /proc" "LeakSanitizer needs it"
elif [ -n "${SB_OWN_MOUNTS-}" ] && unshare -m mount -t tmpfs none /proc 2>/dev/null; then
	holds "without /proc" without_proc
	holds "the result is complete" has_all
else
	skips "without /proc" "no file system may be mounted here"
fi

blocks=8
fails_whole "a bound on the size of files" 'result.json cannot be written: File too large' \
	"$work/bound" --no-plots
holds "then there is no result" test ! -e "$work/bound/result.json"
blocks=unlimited
echo "1..$n"
