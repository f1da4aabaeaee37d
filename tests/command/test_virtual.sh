#!/bin/sh
# run, sweep, ab, compare and gate in virtual time: one seed is one result, every output says what it
# is, and models that are wrong are refused with one line. Prints TAP.
# usage: test_virtual.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

skip_all() {
	echo "ok 1 - virtual time # SKIP this build has none"
	echo "1..1"
	exit 0
}
has_virtual || skip_all

# virtual NAME SEED [OPTION...]
virtual() {
	name=$1 seed=$2
	shift 2
	"$program" run -w skynet --leaves 1000 --virtual --profile epyc-2s-nps4 --workers 24 -r 2 \
		--seed "$seed" -o "$work/$name" "$@" >"$work/$name.out" 2>&1
}

holds "a run on 24 workers of another machine" virtual first 7
holds "the same once more" virtual second 7
holds "the result is the same but for facts of the host" \
	scripts/same-virtual.py "$work/first" "$work/second"
holds "another seed" virtual third 8 --no-plots
differ() {
	! scripts/same-virtual.py "$work/first" "$work/third" >/dev/null
}
holds "gives another result" differ

holds "the terminal says so" grep -q '^virtual: predicted, not measured' "$work/first.out"
names_the_host() { grep -q 'build$' "$work/first.out"; }
lacks_the_host() { ! names_the_host; }
# lacks OPTIONS TEXT: what the header of such a run says that is not modelled.
lacks() {
	# shellcheck disable=SC2086
	"$program" run -w yield --virtual -r 1 -d 1ms --no-plots -o "$work/lacks" $1 >"$work/lacks.out" 2>&1
	rm -rf "$work/lacks"
	grep -q "^not modelled: bandwidth, frequency, TLB, interrupts, the hypervisor$2\$" "$work/lacks.out"
}
without() {
	python3 - "$work/without.json" <<-'END'
		import json, sys
		model = json.load(open("harness/virtual/models/laptop-6p8e.json"))
		del model["values"]["smt"], model["values"]["kind_0"]
		json.dump(model, open(sys.argv[1], "w"))
	END
}
laptop='--profile laptop-6p8e --workers'
holds "what is not modelled is said" lacks "$laptop 1" ""
holds "and that hardware threads have one factor" lacks "$laptop 2 --cpus core:0" \
	", hardware threads of one core (in use) beyond one factor"
holds "and kinds of cores" lacks "$laptop 1 --cpus core:13" ", kinds of cores (in use) beyond one factor"
holds "a model without factors" without
holds "is said to have none" lacks "$laptop 20 --model $work/without.json" \
	", hardware threads of one core (in use), kinds of cores (in use)"
holds "and not the host" lacks_the_host
holds "and where the run has waited" grep -q 'waits for cache lines' "$work/first.out"
holds "runs.csv says so" grep -q ',virtual$' "$work/first/runs.csv"
holds "waiting.csv has places" grep -q ',core/memory/pidmap.c,' "$work/first/waiting.csv"
holds "the page says so" grep -q 'virtual: all times are predictions' "$work/first/report.html"
json_says_so() {
	python3 - "$work/first/result.json" <<-'END'
		import json, sys
		own = json.load(open(sys.argv[1]))["sched_bench"]
		facts = own["meta"]["virtual"]
		assert own["series"][0]["virtual"] and own["series"][0]["waiting"]
		assert facts["model"] == "epyc-2s-nps4" and len(facts["model_hash"]) == 16
	END
}
holds "result.json has model, hash and profile of waiting" json_says_so
holds "a stored result is read back" "$program" report "$work/first" -o "$work/again.html"

# The least load is no choice: what is best is told for each load.
tells_each_loads_best() {
	"$program" sweep -w service --virtual --profile epyc-2s-nps4 --workers 4 -L load=20%,80% \
		-L steal=half,one -d 2ms -r 5 --objective sojourn_ns_p50 --no-plots -o "$work/loads" >"$work/loads.out" 2>&1 &&
		for load in 20% 80%; do
			grep -Eq "^service: (best|lowest) sojourn_ns_p50: load=$load steal=" "$work/loads.out" || return
		done && [ "$(grep -c '^load  steal' "$work/loads.out")" -eq 2 ] &&
		! grep -q "load alone" "$work/loads.out"
}
holds "a sweep of loads and another option ranks at each load" tells_each_loads_best

holds "a trace" virtual traced 7 --trace --no-plots
holds "in virtual time, too" grep -q traceEvents "$work/traced/trace.json"

holds "an open loop, its generator on CPUs of its own" "$program" run -w service --rate 2M/s \
	--service exp:2us --virtual --profile xeon-2s --workers 8 --generator-cpus 0 -r 2 -d 5ms \
	--no-plots -q -o "$work/service"
# sweep NAME COMMAND...: as an argument of that command.
sweep() {
	name=$1
	shift
	"$@" "$program" sweep -w skynet --leaves 100 -L steal=half,one --virtual --profile xeon-2s \
		--workers 8 -r 5 -q --no-plots -o "$work/$name"
}
holds "a sweep" sweep sweep env
holds "no row's directory is left" test ! -e "$work/sweep/sweep.row"
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
holds "a sweep on one CPU" sweep alone taskset -c "$cpu"
holds "has the same result" scripts/same-virtual.py "$work/sweep" "$work/alone"
compare() {
	"$program" ab -A '--victim near' -B '--victim random' -w skynet --leaves 100 --virtual \
		--profile xeon-2s --workers 8 --pairs 12 --metric ns_per_op --no-plots -o "$work/ab" \
		>"$work/ab.out"
}
holds "a comparison" compare
holds "says that it is of predictions" grep -q '^virtual: predicted, not measured' "$work/ab.out"

trade_off() {
	"$program" sweep -w trickle -L spin-yield=0,64 --objective wake_ns_p90,cpu_ns_per_op \
		--virtual --profile xeon-2s --workers 4 -q --no-plots -o "$work/two" &&
		"$program" plot tradeoff "$work/two" -o "$work/two.svg"
}
holds "two objectives against each other" trade_off
marks_the_default() { [ "$(grep -c 'the default' "$work/two.svg")" -eq 1 ]; }
holds "the picture marks the default" marks_the_default

"$program" run -w skynet --leaves 100 --workers 1 -d 1ms --warmup 0s -r 2 -q --no-plots -o "$work/real"
refuses "virtual and native results are not compared" 3 "[-][-]across" \
	compare "$work/first" "$work/real"

holds "a model is printed" "$program" topo show --profile epyc-2s-nps4 --model

# value NAME KEY: of the first row of that result.
value() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["benchmarks"][0][sys.argv[2]])' "$work/$1/result.json" "$2"
}
# is_between LOW A B HIGH: B / A is.
is_between() {
	python3 -c 'import sys; low, a, b, high = map(float, sys.argv[1:]); sys.exit(not low < b / a < high)' "$@"
}
# on_core N: the time of a yield on that core of a laptop, whose cores 6 to 13 are slow.
on_core() {
	"$program" run -w yield --virtual --profile laptop-6p8e --workers 1 --cpus "core:$1" -r 1 -q --no-plots \
		-o "$work/core$1" && value "core$1" real_time
}
slow_cores_are_slower() {
	is_between 1.3 "$(on_core 0)" "$(on_core 13)" 1.6
}
holds "a slow kind of core takes longer" slow_cores_are_slower

# With a factor of 2 a yield takes nearly twice as long: its lines and clocks take as long as before.
scaled() {
	python3 - "$work/scaled.json" "$1" <<-'END'
		import json, sys
		model = json.load(open("harness/virtual/models/xeon-2s.json"))
		model["values"]["straight"]["factor"] = float(sys.argv[2])
		json.dump(model, open(sys.argv[1], "w"))
	END
	"$program" run -w yield --virtual --profile xeon-2s --model "$work/scaled.json" --workers 1 -r 1 -q --no-plots \
		-o "$work/scaled$1" && value "scaled$1" real_time
}
code_is_scaled() {
	is_between 1.8 "$(scaled 1)" "$(scaled 2)" 2
}
holds "one factor scales straight code" code_is_scaled

# on_threads N: yields a second of N hardware threads of 8 cores.
on_threads() {
	"$program" run -w yield --processes "$1" --yields 1000 --virtual --profile xeon-2s --workers "$1" --cpus core:0-7 -r 1 -d 1ms -q --no-plots \
		-o "$work/smt$1" && value "smt$1" items_per_second
}
threads_share_cores() {
	is_between 1.1 "$(on_threads 8)" "$(on_threads 16)" 1.5
}
holds "hardware threads share their cores" threads_share_cores

# broken NAME PYTHON EXPECTED: the model, changed by that statement, is refused.
broken() {
	python3 - "$work/$1.json" "$2" <<-'END'
		import json, sys
		model = json.load(open("harness/virtual/models/epyc-2s-nps4.json"))
		values = model["values"]
		exec(sys.argv[2])
		json.dump(model, open(sys.argv[1], "w"))
	END
	refuses "a model: $1" 3 "$3" run -w yield --virtual --model "$work/$1.json" \
		--profile epyc-2s-nps4 --workers 2
}
broken "cost-missing" 'del values["rmw"]' "no cost 'rmw'"
broken "cost-negative" 'values["rmw"]["ns"] = -3' "'rmw' is -3"
broken "cost-unknown" 'values["rwm"] = values["rmw"]' "unknown value 'rwm'"
broken "cost-without-source" 'del values["rmw"]["source"]' "has no 'source'"
broken "nearer-is-dearer" 'values["transfer_node"]["ns"] = 300' "less than a nearer"
broken "distance-missing" 'del values["transfer_remote"]' "does not fit the topology"
broken "other-version" 'model["sched_bench_model"] = 2' "sched_bench_model"
broken "factor-of-0" 'values["kind_0"] = {"factor": 0, "source": "none"}' "'kind_0' is 0; expected a factor"
broken "siblings-that-hinder" 'values["smt"]["factor"] = 0.9' "'smt' is 0.9; expected a factor from 1"
broken "odd-cache" 'values["cache_kib"]["kib"] = 1000' "a power of two"
refuses "a model that is not there" 3 "no such file" \
	run -w yield --virtual --model "$work/none.json"
refuses "a profile without a model" 3 "no model of its own" \
	run -w yield --virtual --profile pu:4
refuses "a model without virtual time" 3 "only with --virtual" \
	run -w yield --model xeon-2s

# ---- gates in virtual time ----

gate() {
	"$program" gate --virtual -w skynet --profile xeon-2s --workers 8 -o "$work/gate" "$@" \
		>"$work/gate.out" 2>&1
	status=$?
	rm -rf "$work/kept"
	[ ! -d "$work/gate" ] || mv "$work/gate" "$work/kept"
	return $status
}
holds "the candidate's values are kept" gate --save-baseline "$work/base.csv"
holds "seed by seed" grep -q '^skynet on xeon-2s,transfers_remote_per_op,' "$work/base.csv"
holds "a gate of the same program" gate --baseline "$work/base.csv"
holds "finds no difference" grep -q ': 0 have changed, 0 differ as seeds do, ' "$work/gate.out"
holds "against a program" gate --baseline "$program"
holds "finds none, either" grep -q ': 0 have changed, 0 differ as seeds do, ' "$work/gate.out"
holds "other seeds are no regression" gate --baseline "$work/base.csv" --seed 100
holds "and are told from one" grep -q ': 0 have changed, [1-9]' "$work/gate.out"
regresses() {
	! gate --baseline "$work/base.csv" --candidate-options '--steal one' && [ $status -eq 1 ]
}
holds "a worse policy regresses" regresses
holds "the metric is named" grep -q 'steals_per_op .* regressed$' "$work/gate.out"
holds "confirmed with a second set of seeds" grep -q ' 16 *regressed$' "$work/gate.out"
regresses_once() {
	python3 - "$work/base.csv" "$work/unlucky.csv" <<-'EOF'
		import csv, sys
		rows = list(csv.reader(open(sys.argv[1])))
		for row in rows[1:]:
		    assert len(row) == 18, row
		    if row[1] == "ns_per_op":
		        row[2:10] = [float(value) / 2 for value in row[2:10]]
		csv.writer(open(sys.argv[2], "w"), lineterminator="\n").writerows(rows)
	EOF
	gate --baseline "$work/unlucky.csv"
}
holds "one set alone is no regression" regresses_once
holds "which verdict.json says" grep -q '"a second set of seeds does not confirm it"' "$work/kept/verdict.json"
older() {
	cut -d, -f1-10 "$work/base.csv" >"$work/older.csv"
	! gate --baseline "$work/older.csv" --candidate-options '--steal one' && [ $status -eq 1 ] &&
		grep -q 'one set of seeds, so nothing confirms' "$work/gate.out"
}
holds "a baseline of one set decides, and says so" older
holds "in the table for people, too" grep -q '| steals.*per.*op .*\*\*regressed' "$work/kept/verdict.md"
keeps_both() {
	gate --candidate-options '--steal one' --save-baseline "$work/one.csv" &&
		! gate --baseline "$work/base.csv" --candidate "$work/one.csv" && [ $status -eq 1 ]
}
holds "two files are compared without a run" keeps_both
fails() {
	# shellcheck disable=SC2016
	printf '#!/bin/sh\n[ "$1" != run ] || exit 70\nexec "%s" "$@"\n' "$(realpath "$program")" \
		>"$work/failing"
	chmod +x "$work/failing"
	! gate --baseline "$work/base.csv" --candidate "$work/failing" && [ $status -eq 1 ]
}
holds "a candidate that fails regresses" fails
holds "which is said" grep -q 'regressed: the candidate: seed 1: failed' "$work/gate.out"
holds "in verdict.json, too" grep -q 'the candidate: seed 1: failed with exit status 70' "$work/kept/verdict.json"
refuses "more workers than it has" 3 "skynet on xeon-2s, candidate: --workers: 999 is more" \
	gate --virtual -w skynet --profile xeon-2s --workers 999 --save-baseline "$work/x.csv" -o "$work/gate2"
refuses "a gate without a baseline" 3 "save-baseline" gate --virtual -w skynet
refuses "a file of another kind" 3 "line 1: expected a workload" \
	gate --virtual --baseline "$work/first/runs.csv" -o "$work/other-kind"
refuses "a result" 3 "is not for --virtual" gate --virtual --baseline "$work/first"
refuses "such a file in real time" 3 "expected --virtual" gate --baseline "$work/base.csv"
refuses "a name that says nothing" 3 "expected \*.csv" gate --virtual --save-baseline "$work/base"

# Short sleeps end late behind steps of 200 us on one worker, and at once where workers sleep.
late_ns() {
	"$program" run -w timers --processes 4 --sleep-us 1000 --work-ns 200000 --yields 20 --virtual \
		--profile desktop-2ccd --workers "$1" -r 1 -d 1ms --warmup 0s --no-plots -q -o "$work/late-$1" &&
		python3 - "$work/late-$1/runs.csv" <<-'EOF'
			import csv, sys
			print(int(float(next(csv.DictReader(open(sys.argv[1])))["wake_ns_mean"])))
		EOF
}
ends_late() { [ "$(late_ns 1)" -gt 200000 ] && [ "$(late_ns 6)" -lt 20000 ]; }
holds "sleeps end late where all workers are busy" ends_late

# The answers of sweeps, whose numbers are always the same. The default is none of the values.
trades_off() {
	"$program" sweep -w trickle --count 50 --period-us 100 --profile desktop-2ccd --virtual -L spin-time=0s,400us -d 2ms --warmup 0s --no-plots -r 5 \
		--objective wake_ns_p50,cpu_ns_per_op -o "$work/trade" >"$work/out" 2>&1 || return 1
	sed -n 2,3p "$work/out" | grep -q "^trickle: best wake_ns_p50: spin-time=400us, .*; \
lowest cpu_ns_per_op: spin-time=0s, .*; may be as good: spin-time=50us; compromise, .*: spin-time=" &&
		grep -q "^  spin-time=400us: wake_ns_p50 .* lower than with the default; cpu_ns_per_op .* times as high as" \
			"$work/out" &&
		grep -q "^ *50us .* worse .* ~ .* default$" "$work/out" && python3 - "$work/trade" <<-'EOS'
			import json, sys
			meta = json.load(open(sys.argv[1] + "/meta.json"))
			assert meta["objectives"]["trickle"] == "wake_ns_p50,cpu_ns_per_op", meta
		EOS
}
holds "two objectives: the lowest of each, a compromise, against the default" trades_off
levels_of_load() {
	"$program" sweep -w service --service fixed:5us --profile desktop-2ccd --virtual --objective sojourn_ns_p50 -L rate=10k/s,50k/s -d 2ms --warmup 0s --no-plots -r 5 \
		-o "$work/load" >"$work/out" 2>&1 || return 1
	grep -q "^service: sojourn_ns_p50 [0-9.]* us at rate=10k/s, [0-9.]* us at rate=50k/s\.$" "$work/out" &&
		! grep -q "best" "$work/out"
}
holds "levels of load are not ranked" levels_of_load
needs_its_model() {
	"$program" sweep -w yield -L batch=1,2 --virtual --model none -o "$work/none" 2>"$work/err"
	[ $? -eq 3 ] && [ ! -e "$work/none" ] && grep -q "yield batch=1: --model: model 'none'" "$work/err"
}
holds "a sweep without its model is refused before the first row" needs_its_model
echo "1..$n"
