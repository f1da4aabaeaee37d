#!/bin/sh
# How far runs of one program are apart: what `calibrate --runs` stores, what `run` and `compare` make of
# it, and of results that were measured in two states of the host. Prints TAP.
# usage: test_spread.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
unset SCHED_BENCH_FORKS
export XDG_CACHE_HOME="$work/cache"
stored=$XDG_CACHE_HOME/sched-bench/runs.json
mkdir -p "$XDG_CACHE_HOME/sched-bench"
quick='-d 1ms --warmup 0s'

measures() {
	rm -rf "$work/real"
	# shellcheck disable=SC2086
	"$program" run -w yield --yields 1000 --workers 2 --forks 9 -r 1 $quick --no-plots -q -o "$work/real"
}
holds "nine forks" again measures

# make NAME RATIO LINE DATE [BOOT]: their result, with nine values around RATIO x 100 ns.
make() {
	python3 - "$work/real/result.json" "$work/$1.json" "$2" "$3" "$4" "${5-boot-1}" <<-'EOS'
		import json, sys
		result = json.load(open(sys.argv[1]))
		for i, row in enumerate(result["benchmarks"]):
		    own = row["sched_bench"]
		    own["ns_per_op"] = float(sys.argv[3]) * (100 + 0.1 * i)
		    own["line_transfer_ns"] = float(sys.argv[4])
		    own.update(valid="valid", reason="")
		meta = result["sched_bench"]["meta"]
		meta["run"]["date"] = sys.argv[5]
		meta["machine"]["boot_id"] = sys.argv[6]
		json.dump(result, open(sys.argv[2], "w"))
	EOS
}
# store BOOT [SD]: as calibrate does, by hand.
store() {
	cat >"$stored" <<-EOS
		{ "sched_bench_runs": { "schema": 1, "boot_id": "$1", "cpu_model": "any", "kernel": "any",
		    "measured": [ { "what": "yield (processes=1 yields=1000 handler=immediate), workers 2, forks 9, repetitions 1, duration 1ms",
		        "runs": 12, "span_s": 1800, "date": "2026-11-29T10:00:00+00:00",
		        "sd_of_ln": { "ns_per_op": ${2-0.01}, "a_metric_of_a_later_version": 0.5 } } ] } }
	EOS
}
# says STATUS PATTERN B: compare of a and B does, by ns_per_op.
says() {
	"$program" compare "$work/a.json" "$work/$3.json" --metric ns_per_op >"$work/out" 2>"$work/err"
	got=$?
	cat "$work/out" "$work/err"
	[ $got -eq "$1" ] && tr -s ' \n' ' ' <"$work/out" | grep -q "$2"
}
make a 1 45 2026-11-29T10:00:00+00:00
make little 1.02 50 2026-11-29T10:14:00+00:00
make much 1.2 50 2026-11-29T10:14:00+00:00
make late 1.2 50 2026-11-29T10:45:00+00:00
make boot 1.2 50 2026-11-29T10:14:00+00:00 boot-2
make moved 1.9 190 2026-11-29T10:14:00+00:00

holds "nothing is known: no verdict" says 0 "no verdict; here B is 20 % slower" much
holds "and why" says 0 "no verdict: measured 14 min apart, and how far runs of one program are apart" much
store boot-1
holds "less than runs differ by is no difference" says 0 \
	"no difference shown; here B is 2 % slower, and runs of one program differ by up to 3.2 % here (12 runs over 30 min)" little
holds "more is one" says 0 "ns_per_op: B is 20 % slower \[16 % .. 24 %\]" much
holds "longer apart than it was measured over: no verdict" says 0 \
	"no verdict; here B is 20 % slower: measured 45 min apart, and the spread between runs is known for 30 min" late
holds "another boot: no verdict" says 0 "slower: the spread between runs is known for another boot of this machine" boot
holds "another state of the host: not compared, and status 2" says 2 \
	"ns_per_op: not compared: a cache line took 45 ns between the workers' CPUs in A, 190 ns in B: the host has moved a CPU" moved
holds "which standard error says, too" grep -q "nothing can be compared: the host has moved a CPU" "$work/err"
store boot-1 1e-6
holds "the forks leave something open, too" says 0 "B is 2 % slower \[1.7 % .. 2.3 %\]" little
for wrong in '-1' '"a"' '11'; do
	store boot-1 "$wrong"
	holds "a spread of $wrong is noted, and not used" says 0 "no verdict; here B is 20 % slower" much
	holds "and it is said" grep -q "runs.json' is not what calibrate --runs writes" "$work/err"
done
printf '[' >"$stored"
holds "so is a file that is none" says 0 "no verdict; here B is 20 % slower" much
refuses "and calibrate does not write over it" 3 "is not what calibrate --runs writes" \
	calibrate --runs 3 -w yield

# The run's second line.
boot=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["sched_bench"]["meta"]["machine"]["boot_id"])' "$work/real/result.json")
store "$boot"
foretells() {
	rm -rf "$work/next"
	# shellcheck disable=SC2086
	"$program" run -w yield --yields 1000 --workers 2 --forks 9 -r 1 $quick --no-plots -o "$work/next" >"$work/out"
	python3 - "$work/next/result.json" <<-'EOS'
		import json, math, re, statistics, sys
		result = json.load(open(sys.argv[1]))
		answer = result["sched_bench"]["meta"]["answer"]["text"]
		if "the host changed" in answer:
		    sys.exit("the host changed")
		found = re.search(r"another run on this machine within 30 min: (\S+) (\S+) \.\. (\S+) (\S+) \(12 runs of 2026-11-29\)", answer)
		assert found, answer
		unit = {"ns": 1, "us": 1e3, "ms": 1e6}
		low, high = float(found[1]) * unit[found[2]], float(found[3]) * unit[found[4]]
		median = statistics.median(r["sched_bench"]["ns_per_op"] for r in result["benchmarks"])
		limit = 2 ** 0.5 * 2.201 * 0.01
		assert abs(low / (median * math.exp(-limit)) - 1) < 0.01, (low, median)
		assert abs(high / (median * math.exp(limit)) - 1) < 0.01, (high, median)
	EOS
}
holds "run says where another one would be" again foretells

# What calibrate stores.
rm "$stored"
calibrates() {
	# shellcheck disable=SC2086
	"$program" calibrate --runs 3 --over 0s -w yield -w pingpong --yields 1000 --round-trips 1000 --workers 1 \
		--forks 9 -r 1 $quick >"$work/out" 2>"$work/err" || { cat "$work/err" && false; }
	python3 - "$stored" <<-'EOS'
		import json, sys
		file = json.load(open(sys.argv[1]))["sched_bench_runs"]
		assert file["schema"] == 1 and file["boot_id"] and file["kernel"] and "cpu_model" in file, file
		first, second = file["measured"]
		assert first["what"] == "yield (processes=1 yields=1000 handler=immediate), workers 1, forks 9, repetitions 1, duration 1ms", first
		assert second["what"].startswith("pingpong ("), second
		for m in first, second:
		    assert m["runs"] == 3 and 0 < m["span_s"] < 3600 and m["date"][:2] == "20", m
		    assert 0 <= m["sd_of_ln"]["ns_per_op"] < 10 and "operations" not in m["sd_of_ln"], m
	EOS
}
holds "calibrate --runs stores how far they are apart" again calibrates
holds "and prints it" grep -q '^  ns_per_op .*standard deviation .*two runs differ by up to' "$work/out"
# shellcheck disable=SC2086
holds "of the same work again, and of the other still" again sh -c "'$program' calibrate --runs 4 --over 0s -w yield \
	--yields 1000 --workers 1 --forks 9 -r 1 $quick >/dev/null && [ \$(grep -c '\"runs\"' '$stored') -eq 2 ] &&
	grep -q '\"runs\": 4' '$stored' && grep -q '\"runs\": 3' '$stored'"
refuses "runs of nothing" 3 "no workload; expected -w NAME" calibrate --runs 3
refuses "a workload without runs" 3 "--workload: expected it with --runs" calibrate -w yield
refuses "runs and a model" 3 "--save-model: expected it without --runs" calibrate --runs 3 -w yield --save-model
refuses "--over without runs" 3 "--over: only with --runs" calibrate --over 1m
refuses "two runs" 3 "--runs: .* expected none|N, N from 3 to 1000" calibrate --runs 2 -w yield
refuses "what run refuses" 3 "round-tripz" calibrate --runs 3 -w pingpong --round-tripz 1
echo "1..$n"
