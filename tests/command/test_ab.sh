#!/bin/sh
# The verbs `ab` and `compare`: what they refuse, that known differences are found in
# the right direction and none is made up, that processes which crash or hang cost
# their pairs, and what the files say. Most sides are a script that hands out results
# made before, so that the answer is known. Prints TAP.
# usage: test_ab.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

fits() {
	"$program" "$1" --help >"$work/help" && [ "$(wc -l <"$work/help")" -le 100 ] &&
		[ "$(wc -L <"$work/help")" -le 125 ]
}
holds "help of ab fits two screens" fits ab
holds "help of compare fits two screens" fits compare

# What is refused, before anything runs.
ab="ab -w pingpong -o $work/no"
# shellcheck disable=SC2086
{
	refuses "no sides" 3 "nothing to compare" $ab
	refuses "a quote without an end" 3 "-A: a quote.*has no end" $ab -A "--cpus '0"
	refuses "an option of one side that is none" 3 \
		"side B: unknown option '--spin-yeild'; did you mean --spin-yield" \
		$ab -A '' -B '--spin-yeild 0'
	refuses "a value of one side that is out of range" 3 "side A: --batch: '99999'" \
		$ab -A '--batch 99999'
	refuses "a program that is not there" 3 "-B: ./nowhere/sched-bench cannot be run" \
		$ab -B './nowhere/sched-bench --batch 1'
	refuses "a word that is no option and no path" 3 "neither an option nor a path" \
		$ab -A 'batch 1'
	refuses "a directory for a program" 3 "is no file" $ab -A "$work"
	refuses "times of one side" 3 "-B: --duration=1s is not for one side" \
		$ab -B '--duration=1s'
	refuses "a directory of one side" 3 "-A: -o is not for one side" $ab -A '-o x'
	refuses "too few pairs to show anything" 3 "expected at least 16" \
		$ab -A '--batch 1' --pairs 14
	refuses "pairs and a time" 3 "expected one of them" \
		$ab -A '--batch 1' --pairs 20 --duration-total 1s
	refuses "a metric that is none" 3 "did you mean ns_per_op" \
		$ab -A '--batch 1' --metric ns_per_opp
	refuses "no workload" 3 "no workload" ab -A '--batch 1'
	refuses "one result" 3 "expected two results, A and B, or several: .*; 1 given" compare "$work"
	refuses "no result" 3 "no: No such file" compare "$work/no" "$work/no"
}

# Results of one repetition each: A's and B's values by seed, with the same noise in
# their logarithms; what a kind of side does, its name says.
quick='-d 2ms --warmup 0s --no-plots --quiet'
# shellcheck disable=SC2086
"$program" run -w pingpong -r 1 $quick -o "$work/template" ||
	echo "not ok $((n += 1)) - a result to begin with"
python3 - "$work" <<'EOS'
import copy, json, os, random, sys
work = sys.argv[1]
template = json.load(open(work + "/template/result.json"))
kinds = {"plain": 1, "slower": 1.031, "faster": 0.5, "zero": 1}
random.seed(5)
for seed in range(1, 31):
    machine = random.uniform(0, 0.5)
    for kind, factor in kinds.items():
        result = copy.deepcopy(template)
        row = result["benchmarks"][0]
        noise = random.gauss(0, 0.004)
        row["sched_bench"]["valid"] = "valid"
        row["sched_bench"].pop("reason", None)
        values = row["sched_bench"]
        values["ns_per_op"] = row["real_time"] = 100 * 2.718 ** (machine + noise) * factor
        values["cpu_ns_per_op"] = row["cpu_time"] = 50 * (1 + noise)
        values["ops_per_s"] = 1e9 / values["ns_per_op"]
        values["steal_items"] = seed % 3 if kind == "zero" else seed % 3 + 40 + seed
        os.makedirs(f"{work}/{kind}", exist_ok=True)
        json.dump(result, open(f"{work}/{kind}/{seed}.json", "w"))
EOS
# Takes "KIND [crash|hang|say SEED]..." before the arguments of run.
cat >"$work/fake" <<'EOS'
#!/bin/sh
here=${0%/*}
kind=plain
crash= hang= refuse= invalid=
for word; do
	case $word in
	--output=*) out=${word#*=} ;;
	--seed=*) seed=${word#*=} ;;
	--kind=*) kind=${word#*=} ;;
	--crash=*) crash=${word#*=} ;;
	--hang=*) hang=${word#*=} ;;
	--invalid=*) invalid=${word#*=} ;;
	--refuse) refuse=1 ;;
	esac
done
echo "$kind $seed $*" >>"$here/log"
if [ -n "$refuse" ]; then
	echo "sched-bench: unknown option '--refuse'" >&2
	exit 3
fi
# The warm-up has the first pair's seed, and is not meant.
if [ -e "$here/warm.$kind" ]; then
	case ,$crash, in *,"$seed",* | *,all,*)
		echo "last words" >&2
		kill -SEGV $$
		;;
	esac
	case ,$hang, in *,"$seed",*) exec sleep 100 ;; esac
fi
touch "$here/warm.$kind"
mkdir -p "$out"
cp "$here/$kind/$seed.json" "$out/result.json"
EOS
chmod +x "$work/fake"

# fake NAME A B ARGUMENTS...: into $work/NAME, what is printed into out and err.
fake() {
	into=$1 a=$2 b=$3
	shift 3
	rm -f "$work/log" "$work"/warm.*
	"$program" ab -w pingpong -A "$work/fake --kind=$a" -B "$work/fake --kind=$b" \
		--no-plots -o "$work/$into" "$@" >"$work/out" 2>"$work/err"
}

finds_it() {
	fake slow plain slower --metric ns_per_op --metric ops_per_s,cpu_ns_per_op || return 1
	grep -Eq '^ns_per_op .* B is 3(\.[0-3])? % slower \[2\.[4-9] % \.\. 3(\.[0-9])? %\]$' \
		"$work/out" &&
		grep -Eq '^ops_per_s .* B is (3|2\.9|3\.[0-3]) % slower \[2' "$work/out" &&
		grep -Eq '^cpu_ns_per_op .* no significant difference \(minimum detectable effect 0\.[0-9]+ % at 80 % power\)' \
			"$work/out" && [ ! -s "$work/err" ]
}
holds "3.1 % slower is found, though the machine varies by 50 %" finds_it
says_it_first() {
	head -1 "$work/out" | grep -Eq '^pingpong: ns_per_op: B is 3.* slower .*; ops_per_s: B is .*; no significant difference in 1 other metric\.$' &&
		sed -n 2,3p "$work/out" | grep -q "^  B: $work/fake --kind=slower" &&
		grep -Eq '<p class="answer">pingpong: ns_per_op: B is 3' "$work/slow/report.html" &&
		grep -q '<td class="wide">B is 3.* % slower ' "$work/slow/report.html" &&
		"$program" report "$work/slow" -o - --format md |
		grep -Eq '^\| pingpong: ns.*_per.*_op \| .* \| 1\.03'
}
holds "which is said first, in the terminal, on the page and in Markdown" says_it_first
finds_less() {
	fake fast plain faster --metric ns_per_op || return 1
	grep -Eq '^ns_per_op .* B is 50 % faster \[49 % \.\. 5[01] %\]$|B is 50 % faster \[50 % \.\. 50 %\]$' \
		"$work/out"
}
holds "so is half the time" finds_less
finds_nothing() {
	fake none plain plain --metric ns_per_op || return 1
	grep -q "no significant difference" "$work/out"
}
holds "the same on both sides differs by nothing" finds_nothing

is_in_blocks() {
	python3 - "$work" <<-'EOS'
		import csv, json, sys
		work = sys.argv[1]
		rows = list(csv.DictReader(open(work + "/slow/pairs.csv")))
		assert len(rows) == 20, len(rows)
		first = [row["order"] for row in rows]
		assert [int(row["block"]) for row in rows] == [i // 2 for i in range(20)]
		for i in range(0, 20, 2):
		    assert {first[i], first[i + 1]} == {"AB", "BA"}, first
		assert 1 < first[::2].count("AB") < 9, first
		ratio = float(rows[3]["ns_per_op_b"]) / float(rows[3]["ns_per_op_a"])
		assert 1 < ratio < 1.07, ratio
		finding = list(csv.DictReader(open(work + "/slow/findings.csv")))
		assert [f["difference"] for f in finding] == ["higher", "lower", "none"], finding
		assert all(abs(float(f["confidence"]) - (1 - 0.05 / 3)) < 1e-12 for f in finding)
		assert float(finding[0]["low"]) <= 1.031 <= float(finding[0]["high"])
		assert finding[0]["superiority"] == ""
		result = json.load(open(work + "/slow/result.json"))
		names = [b["name"] for b in result["benchmarks"]]
		assert sum("side:A" in name for name in names) == 20, names
		assert sum("side:B" in name for name in names) == 20, names
		facts = result["sched_bench"]["meta"]["ab"]
		assert "--kind=slower" in facts["b"] and facts["seed"] in ("1", 1), facts
	EOS
}
holds "blocks are ABBA or BAAB; files say what was seen" is_in_blocks

# The log is in the order in which processes ran.
order_of() {
	cut -d' ' -f1,2 "$work/log"
}
is_in_order() {
	fake order1 plain slower --metric ns_per_op --pairs 12 --seed 3 || return 1
	order_of >"$work/order1.txt"
	fake order2 plain slower --metric ns_per_op --pairs 12 --seed 3 || return 1
	order_of >"$work/order2.txt"
	fake order3 plain slower --metric ns_per_op --pairs 12 --seed 4 || return 1
	order_of >"$work/order3.txt"
	[ "$(wc -l <"$work/order1.txt")" -eq 26 ] && cmp "$work/order1.txt" "$work/order2.txt" &&
		[ "$(cut -d' ' -f1 "$work/order1.txt")" != "$(cut -d' ' -f1 "$work/order3.txt")" ] &&
		[ "$(grep -c "slower 5$" "$work/order1.txt")" -eq 1 ] &&
		grep -q -- "--duration=500ms --warmup=500ms.*--repetitions=1" "$work/log"
}
holds "the seed fixes the order; both of a pair have the same one" is_in_order

prints_json() {
	fake json plain slower --metric ns_per_op --format json || return 1
	python3 - "$work/out" <<-'EOS'
		import json, sys
		out = json.load(open(sys.argv[1]))
		finding, = out["findings"]
		assert finding["metric"] == "ns_per_op" and finding["difference"] == "higher"
		assert finding["n_a"] == 20 and finding["p_holm"] < 0.01 and "superiority" not in finding
	EOS
}
holds "--format json is JSON" prints_json

takes_differences() {
	fake zero plain zero --metric steal_items || return 1
	grep -q "a value is 0 or below, which has no ratio: differences" "$work/out" &&
		grep -Eq '^steal_items .* B-A -[0-9.]+ .*B is [0-9.]+ lower' "$work/out" &&
		grep -q ',difference,-' "$work/zero/findings.csv"
}
holds "a 0 has no logarithm: differences, and it says so" takes_differences

# What fails costs its pair.
costs_its_pair() {
	fake crash plain "slower --crash=3,8" --metric ns_per_op || return 1
	grep -q "20 pairs.*0 suspect, 2 invalid" "$work/out" &&
		grep -q "invalid: crashed: SIGSEGV.*it said: last words" "$work/out" &&
		grep -q "== side B, pair 2: crashed" "$work/crash/failures.txt" &&
		[ "$(grep -c ",invalid,crashed" "$work/crash/pairs.csv")" -eq 2 ] &&
		grep -q "B is .* slower" "$work/out" &&
		awk -F, '$2 == "ns_per_op" { found = $4 == 18 && $6 == 10 } END { exit !found }' \
			"$work/crash/findings.csv"
}
holds "a crash costs its pair and is counted, with its reason" costs_its_pair
hangs() {
	fake hang "plain --hang=2" slower --metric ns_per_op --kill-after 2s || return 1
	grep -q "1 invalid" "$work/out" && grep -q "invalid: hung: killed after 2s" "$work/out"
}
holds "a hang is ended, and costs its pair" hangs

# is_hopeless: status 2 soon, and it says why.
is_hopeless() {
	fake hopeless plain "slower --crash=all" --metric ns_per_op
	[ $? -eq 2 ] && grep -q "3 pairs.*3 invalid" "$work/out" &&
		grep -q "a side has measured nothing\|blocks have values" "$work/err"
}
holds "a side that always fails ends it, with status 2" is_hopeless
is_too_little() {
	fake little plain "slower --crash=1,2,3,4,5,6" --metric ns_per_op --pairs 12
	[ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -q "blocks have values; expected at least 6\|a side has measured nothing" \
			"$work/err"
}
holds "too few valid pairs are status 2" is_too_little
refuses "what the other program says of its options" 3 "side B: unknown option '--refuse'" \
	ab -w pingpong -A "$work/fake" -B "$work/fake --refuse" --no-plots -o "$work/refused"

# A series and its own words.
compares() {
	"$program" compare "$work/slow" "$work/slow" >"$work/out" &&
		grep -q "^pingpong/side:A" "$work/out" || return 1
	# If the machine below has moved a CPU meanwhile, that is the answer.
	grep -q "not compared: the host moved a CPU" "$work/out" ||
		[ "$(grep -c "no verdict; here B is as A" "$work/out")" -ge 4 ] &&
		grep -q "^no verdict: measured .* apart, and how far runs of one program are apart on this machine is not known" "$work/out"
}
holds "compare: two results have no verdict" compares

# Results of 12 repetitions from the pairs above.
python3 - "$work" <<'EOS'
import copy, json, os, sys
work = sys.argv[1]
def series(kind, change=lambda result: None):
    result = json.load(open(f"{work}/{kind}/1.json"))
    row = result["benchmarks"][0]
    rows = []
    for i in range(12):
        new = copy.deepcopy(row)
        new["repetitions"] = 12
        new["repetition_index"] = i
        new["sched_bench"]["row"] = i
        metrics = new["sched_bench"]
        metrics["ns_per_op"] = new["real_time"] = (100 + i) * (1.5 if kind == "slower" else 1)
        rows.append(new)
    result["benchmarks"] = rows
    result["sched_bench"]["series"][0]["rows"] = 12
    change(result)
    return result
def keep(name, result):
    os.makedirs(f"{work}/c", exist_ok=True)
    json.dump(result, open(f"{work}/c/{name}.json", "w"))
def other(result):
    meta = result["sched_bench"]["meta"]
    meta["machine"]["topology_fingerprint"] = "another"
    meta["run"]["build_mode"] = "debug"
    meta["options"]["batch"] = "1"
def processor(result):
    result["sched_bench"]["meta"]["machine"]["cpu_model"] = "another"
def host(result):
    result["sched_bench"]["meta"]["machine"]["host_name"] = "another"
def label(result):
    only = result["sched_bench"]["series"][0]
    for setting in only["settings"]:
        if setting["name"] == "round-trips":
            setting["text"] = "7"
            setting["number"] = 7
    only["label"] = "pairs=1 round-trips=7"
def rename(result):
    result["sched_bench"]["series"][0]["workload"] = "yield"
def spoil(result):
    gone = result["benchmarks"][0:2]
    result["benchmarks"] = result["benchmarks"][2:]
    for row in gone:
        row["sched_bench"]["valid"] = "invalid"
        row["sched_bench"]["reason"] = "wrong"
    spoilt = [{"series": r["sched_bench"]["series"], "row": r["sched_bench"]["row"],
               "repetition": r["repetition_index"], "valid": "invalid", "reason": "wrong"} for r in gone]
    result["sched_bench"]["invalid"] = spoilt
def emulate(result):
    result["sched_bench"]["series"][0]["emulated"] = True
for name, change in (("plain", lambda r: None), ("other", other), ("processor", processor), ("host", host), ("label", label),
                     ("rename", rename), ("spoil", spoil), ("emulate", emulate)):
    keep(name, series("plain", change))
keep("slower", series("slower"))
# Runs of both in turn, three seconds apart, each with a level of its own.
def date(at, level):
    def change(result):
        result["sched_bench"]["meta"]["run"]["date"] = f"2026-11-21T22:20:{at:02}+00:00"
        for row in result["benchmarks"]:
            row["sched_bench"]["ns_per_op"] *= level
    return change
for i in range(4):
    keep(f"a{i}", series("plain", date(6 * i, 1 + i / 100)))
    keep(f"b{i}", series("slower", date(6 * i + 3, 1 + i / 90)))
    keep(f"same{i}", series("plain", date(6 * i + 3, 1.021 - i / 80)))
    keep(f"late{i}", series("slower", date(30 + i, 1 + i / 90)))
EOS
compare() {
	a=$1 b=$2
	shift 2
	"$program" compare "$work/c/$a.json" "$work/c/$b.json" --metric ns_per_op "$@" \
		>"$work/out" 2>"$work/err"
}
is_open() {
	compare plain slower && grep -Eq '^ns_per_op .*1\.500 +no verdict; here B is 50 % slower$' \
		"$work/out" && grep -q "ab -A ... -B ... decides in about 50 s" "$work/out" &&
		! grep -q "warning\|95 %" "$work/out"
}
holds "compare: 1.5 times as slow, once" is_open
# sides A B: four results of each; further arguments.
sides() {
	a=$1 b=$2
	shift 2
	"$program" compare "$work/c/$a"[0-3].json --with "$work/c/$b"[0-3].json --metric ns_per_op "$@" \
		>"$work/out" 2>"$work/err"
}
is_slower() {
	sides a b && grep -Eq '^ns_per_op .*1\.50[0-9] \[1\.[0-9]+ \.\. 1\.[0-9]+\] +B is 5[01] % slower' "$work/out" &&
		grep -q "^a value is the median of a run: 4 of A and 4 of B, taken in turn" "$work/out"
}
holds "compare: runs in turn have a verdict" is_slower
is_same() { sides a same && grep -q 'no significant difference' "$work/out"; }
holds "compare: also the other one" is_same
is_late() {
	sides a late && grep -q 'no verdict; here B is 5[01] % slower$' "$work/out" &&
		grep -q "^these runs were not taken in turn" "$work/out"
}
holds "compare: runs of B after those of A have none" is_late
few() {
	"$program" compare "$work/c/a"[0-2].json --with "$work/c/b"[0-2].json >"$work/out" &&
		grep -q 'no verdict; here B' "$work/out" && ! grep -q "in turn: at most" "$work/out"
}
holds "compare: nor have three of each" few
refuses "compare: B is missing" 3 "with: a value is missing" compare "$work/c/a0.json" --with
refuses "compare: A is missing" 3 "expected two results, A and B, or several" compare --with "$work/c/b0.json"
refuses "compare: one of several is of another machine" 3 "expected results of one, or --across" \
	compare "$work/c/a0.json" "$work/c/other.json" --with "$work/c/b0.json"
are_side_by_side() {
	"$program" report "$work/c/plain.json" "$work/c/slower.json" -o "$work/two.html" &&
		grep -q '<p class="answer">pingpong.* no verdict; here B is 50 % slower' "$work/two.html" &&
		"$program" report "$work/c/plain.json" "$work/c/other.json" -o - --format md |
		grep -q "^- warning: option differs: batch is '16' for A, '1' for B"
}
holds "a page of two results has their difference, and the options in which they differ" \
	are_side_by_side
has_superiority() {
	sides a b --format csv && python3 - "$work/out" <<-'EOS'
		import csv, sys
		row, = csv.DictReader(open(sys.argv[1]))
		assert row["superiority"] == "1" and row["blocks"] == "" and row["difference"] == "higher"
		assert abs(float(row["p"]) - 2 / 70) < 1e-12 and row["n_a"] == row["n_b"] == "4", row
	EOS
	sides a late --format csv && python3 - "$work/out" <<-'EOS'
		import csv, sys
		row, = csv.DictReader(open(sys.argv[1]))
		assert row["difference"] == "open" and row["p"] == row["low"] == row["high"] == "", row
	EOS
}
holds "compare: every one of B is above every one of A" has_superiority
warns() {
	compare plain other --across &&
		grep -q "warning: machine differs: topology_fingerprint is '.*' for A, 'another'" \
			"$work/out" &&
		grep -q "warning: build differs: build_mode" "$work/out" &&
		grep -q "warning: option differs: batch is '16' for A, '1' for B" "$work/out" &&
		[ "$(grep -c warning "$work/out")" -eq 3 ]
}
holds "compare: what differs besides is told, each" warns
# The name of the host says nothing about that.
refuses "compare: another topology under the same name of the host" 3 "A is of machine .*, B of .*; expected results of one, or --across" \
	compare "$work/c/plain.json" "$work/c/other.json"
refuses "compare: another processor under the same name of the host" 3 "B of 'another'" compare "$work/c/plain.json" "$work/c/processor.json"
is_renamed() { compare plain host && [ "$(grep -c warning "$work/out")" -eq 1 ] && grep -q "machine differs: host_name is .* 'another' for B" "$work/out"; }
holds "compare: the same machine under another name" is_renamed
warns_of_parameters() {
	compare plain label && grep -q "warning: pingpong.*settings differ: .*round-trips=7" "$work/out"
}
holds "compare: so is a parameter" warns_of_parameters
leaves_out() {
	compare plain spoil &&
		grep -q "invalid and left out: 0 of 12 rows of A, 2 of 12 of B" "$work/out" &&
		"$program" compare "$work/c/plain.json" "$work/c/spoil.json" --metric ns_per_op \
			--format csv | grep -q ",12,10,"
}
holds "compare: invalid rows are left out, and counted" leaves_out
is_nothing() {
	compare plain rename
	[ $? -eq 2 ] && grep -q "only in A: pingpong" "$work/out" &&
		grep -q "only in B: yield" "$work/out" && grep -q "nothing can be compared" "$work/err"
}
holds "compare: nothing in common is status 2, and each is named" is_nothing
refuses "compare: native against emulated" 3 "A is native, B is emulated" \
	compare "$work/c/plain.json" "$work/c/emulate.json"

# The real thing, with one block: that is too few, but all is written.
is_real() {
	# shellcheck disable=SC2086
	"$program" ab -A '--spin-yield 12' -B '--spin-yield 0' -w pingpong \
		--duration-total 1ms --metric ns_per_op $quick -o "$work/real" 2>"$work/err"
	[ $? -eq 2 ] && grep -q "1 blocks have values; expected at least 6" "$work/err" || return 1
	python3 - "$work/real" <<-'EOS'
		import json, sys
		result = json.load(open(sys.argv[1] + "/result.json"))
		sides = {s["name"]: s["text"] for series in result["sched_bench"]["series"][:1]
		         for s in series["settings"]}
		assert sides["side"] == "A" and sides["spin-yield"] == "12", sides
		assert "spin-yield" not in result["sched_bench"]["meta"]["options"]
	EOS
}
holds "two option sets of this program" is_real

# What is given for both wins on each side; the rest is the side's policy's.
are_policies() {
	# shellcheck disable=SC2086
	"$program" ab -A '' -B '--policy default' --policy spec --wake local -w pingpong \
		--duration-total 1ms --metric ns_per_op $quick -o "$work/policies" 2>"$work/err"
	[ $? -eq 2 ] && python3 - "$work/policies" <<-'EOS'
		import json, sys
		result = json.load(open(sys.argv[1] + "/result.json"))["sched_bench"]
		a, b = ({s["name"]: s["text"] for s in series["settings"]}
		        for series in result["series"])
		assert (a["policy"], b["policy"]) == ("spec", "default"), (a, b)
		assert (a["handover"], b["handover"]) == ("queue", "direct"), (a, b)
		assert (a["spin-time"], b["spin-time"]) == ("0s", "50us"), (a, b)
		assert "wake" not in a and result["meta"]["options"]["wake"] == "local"
	EOS
}
holds "two policies, with every value of each" are_policies
echo "1..$n"
