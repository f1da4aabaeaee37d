#!/bin/sh
# Time series of a run: the points add up to the row, in each file; a drift and a burst made on purpose,
# in virtual time, are found and drawn. Prints TAP. usage: test_timeseries.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# sums NAME: every count of a series, against the row that has it in total.
sums() {
	python3 - "$work/$1" <<-'END'
		import csv, json, sys
		result = json.load(open(sys.argv[1] + "/result.json"))
		rows = [row["sched_bench"] for row in result["benchmarks"]]
		table = list(csv.DictReader(open(sys.argv[1] + "/timeseries.csv")))
		assert rows
		for row in rows:
		    series = row["timeseries"]
		    points = [p for p in table if (p["workload"], int(p["repetition"])) ==
		              (row["workload"], row["repetition"])]
		    latency = series["latency"]
		    hists = {**row["histograms"], **row.get("requests", {}).get("histograms", {})}
		    checked = 0
		    assert len(points) == len(series["end_ns"]) <= 256, len(points)
		    for name, column in series.items():
		        if not isinstance(column, list):
		            continue
		        assert [p[name] for p in points] == ["" if v is None else f"{v:.17g}" if
		            isinstance(v, float) else str(v) for v in column] or "depth" in name, name
		        total = {"timed": hists.get(latency, {"count": 0})["count"],
		                 "requests": row.get("requests", {}).get("completed")}.get(name, row.get(name))
		        if name == "run_delay_ns" and "run_delay_ms" in row:
		            total = round(1e6 * row["run_delay_ms"])
		        if total is not None and name != "end_ns":
		            assert sum(column) == total, (name, sum(column), total)
		            checked += 1
		    assert checked >= 16, checked
		    assert "run_delay_ns" in series
	END
}

run() {
	name=$1
	shift
	"$program" run -o "$work/$name" --no-plots "$@" >"$work/$name.out" 2>&1
	[ $? -le 2 ]
}

holds "skynet and service" run real -w skynet -w service --rate 2k/s --service fixed:1us -d 200ms -r 2 --warmup 20ms \
	--series 10ms
holds "each point counts once, in result.json and in timeseries.csv" sums real
holds "the page is written again with it" "$program" report "$work/real" -o "$work/real.html"
holds "and the tables" "$program" convert "$work/real" --to csv -o "$work/tables"
holds "as they were" cmp "$work/real/timeseries.csv" "$work/tables/timeseries.csv"

holds "no series" run none -w skynet -d 100ms -r 1 --warmup 0s --series none
no_series() {
	[ ! -e "$work/$1/timeseries.csv" ] && ! grep -q timeseries "$work/$1/result.json"
}
holds "leaves no trace" no_series none
holds "a repetition of eight intervals" run eight -w pingpong -d 400ms -r 1 --warmup 0s
holds "has a series by itself" test -s "$work/eight/timeseries.csv"
holds "a shorter one" run short -w pingpong -d 399ms -r 1 --warmup 0s
holds "has none" no_series short
holds "nor one without account" run off -w pingpong -d 400ms -r 1 --warmup 0s --record off
holds "of its time" no_series off
refuses "few points" 3 "expected at most an eighth" run -w skynet -d 50ms --series 10ms
refuses "nothing to read" 3 "expected none with --record off" run -w skynet --record off \
	--series 10ms

has_virtual || {
	skips "in virtual time" "this build has none"
	echo "1..$n"
	exit 0
}

# virtual NAME OPTION...: requests for four workers.
virtual() {
	name=$1
	shift
	run "$name" -w service --virtual --profile xeon-2s --workers 4 --service fixed:10us --series 100us "$@"
}
holds "none in virtual time by itself" run plain -w skynet --leaves 1000 --virtual --profile xeon-2s --workers 2 -r 1
holds "and so no thread that takes time" no_series plain
holds "more requests than can be served" virtual over --rate 500k/s -d 10ms
holds "add up, too" sums over
holds "their latency drifts, and the summary says so" grep -q \
	'^service: p.. of sojourn rises from .* within a repetition, in 3 of 3' "$work/over.out"
unknown() {
	python3 -c 'import csv, sys
assert all(p["run_delay_ns"] == "" for p in csv.DictReader(open(sys.argv[1])))' "$work/over/timeseries.csv"
}
holds "no worker waits for a CPU in virtual time" unknown
holds "the same once more" virtual again --rate 500k/s -d 10ms
holds "is the same series" cmp "$work/over/timeseries.csv" "$work/again/timeseries.csv"
holds "requests that come in bursts" virtual bursts --rate 150k/s --arrival bursty:2ms:1ms -d 12ms
holds "are seen as such" grep -q '^service: throughput drops in . of 3 repetitions, to' "$work/bursts.out"
silent() {
	! grep -q 'timeseries.csv' "$work/even.out"
}
holds "half as many, evenly" virtual even --rate 200k/s --arrival fixed -d 10ms
holds "are worth no line" silent
holds "they are drawn" "$program" plot timeseries "$work/over" -o "$work/over.svg"
holds "with what was found as title" grep -q 'of sojourn rises from' "$work/over.svg"
refuses "what was not kept is not drawn" 3 "no repetition has a time series" plot timeseries \
	"$work/plain" -o "$work/plain.svg"
echo "1..$n"
