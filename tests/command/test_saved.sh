#!/bin/sh
# `run` saves each repetition, `ab` and `gate` each pair: a kill loses the one under
# way, --resume measures the others. Prints TAP.
# usage: test_saved.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

seed=${SB_TEST_SEED:-$(date +%s)}
echo "# seed $seed (SB_TEST_SEED sets it)"
mkdir "$work/killed"
holds "kill -9 at 20 random points" \
	python3 tests/command/tools/run_killed.py "$program" "$work/killed" 20 "$seed"

# sql DIRECTORY STATEMENT [STORE]: its result, a line for each row.
sql() {
	python3 - "$1/${3-run.db}" "$2" <<-'EOS'
		import sqlite3, sys
		store = sqlite3.connect(sys.argv[1])
		for row in store.execute(sys.argv[2]):
		    print(*row, sep="|")
		store.commit()
	EOS
}

# interrupted DIRECTORY ARGUMENT...: a run that Ctrl-C ends after its first rows.
interrupted() {
	directory=$1
	shift
	"$program" run "$@" --no-plots -o "$directory" >/dev/null 2>"$work/err" &
	while [ ! -e "$directory/run.db-wal" ] && kill -0 $!; do sleep 0.05; done
	kill -INT $!
	wait $!
	[ $? -eq 2 ]
}

cat >"$work/jobs.ini" <<-'EOS'
	[global]
	repetitions=100
	duration=2ms
	warmup=0s
	[small]
	workload=pingpong
	round-trips=1000
	[large]
	workload=yield,pingpong
EOS

goes_on_after_ctrl_c() {
	interrupted "$work/c" "$work/jobs.ini" || return 1
	[ "$(wc -l <"$work/err")" -eq 1 ] && grep -q "run --resume $work/c" "$work/err" &&
		[ -s "$work/c/result.json" ] || return 1
	sql "$work/c" "DELETE FROM row WHERE repetition > 1"
	sql "$work/c" "UPDATE plan SET value = replace(value, '100', '3') WHERE key = 'job'"
	"$program" run --resume "$work/c" -q 2>"$work/err" && [ ! -s "$work/err" ] || return 1
	python3 - "$work/c" <<-'EOS'
		import csv, json, os, sys
		rows = list(csv.DictReader(open(sys.argv[1] + "/runs.csv")))
		assert len(rows) == 9, rows
		assert {row["valid"] for row in rows} <= {"valid", "suspect"}, rows
		assert [row["label"].split()[-1] for row in rows] == \
		    3 * ["job=small"] + 6 * ["job=large"], [row["label"] for row in rows]
		meta = json.load(open(sys.argv[1] + "/meta.json"))
		assert "jobs.ini" in meta["run"]["command_line"], meta["run"]
		assert not [name for name in os.listdir(sys.argv[1]) if name.startswith("run.")]
	EOS
}
holds "Ctrl-C, and --resume: the same jobs, every row once, and no store is left" \
	goes_on_after_ctrl_c

refuses "a complete run has nothing to go on with" 3 "holds a complete result" \
	run --resume "$work/c"
refuses "--resume of nothing" 3 "holds no run (no run.db)" run --resume "$work"
refuses "--resume of no directory" 3 "a directory is missing" run --resume
refuses "--resume of two" 3 "one directory has been named" run --resume "$work/c" "$work/d"
printf '[a]\nworkload=yield\nresume=1\n' >"$work/resume.ini"
refuses "--resume in a job file" 3 "belongs on the command line" run "$work/resume.ini"

interrupted "$work/i" -w pingpong -r 1000 -d 2ms --warmup 0s
refuses "another run does not take its place" 3 "already holds a" \
	run -w yield -o "$work/i"
rm "$work/i/result.json" "$work/i/meta.json"
refuses "nor when nothing else is left" 3 "already holds a run; expected a new one" \
	run -w yield -o "$work/i"
refuses "a resumed run has its options" 3 "--repetitions is not expected" \
	run --resume "$work/i" -r 3
refuses "and the parameters of its workload" 3 "--pairs is not expected" \
	run --resume "$work/i" --pairs 3
sql "$work/i" "UPDATE plan SET value = replace(value, '1000', '2') WHERE key = 'job'"
sql "$work/i" "UPDATE plan SET value = 'x' || value WHERE key = 'build'"
refuses "another build" 3 "begun with another build.*--other-build" run --resume "$work/i"
holds "--other-build goes on all the same" \
	"$program" run --resume "$work/i" --other-build -q --no-plots

# Rows of one search or of one share of the capacity have one capacity.
measures_anew() {
	interrupted "$work/s" -w service --load 50% -r 100 -d 20ms --warmup 0s || return 1
	sql "$work/s" "UPDATE plan SET value = replace(value, '100', '3') WHERE key = 'job'"
	"$program" run --resume "$work/s" -q || [ $? -eq 2 ] || return 1
	python3 - "$work/s/runs.csv" <<-'EOS'
		import csv, sys
		rows = [row["capacity_per_s"] for row in csv.DictReader(open(sys.argv[1]))]
		assert len(rows) == 3 and len(set(rows) - {""}) <= 1, rows
	EOS
}
holds "a part of a series whose capacity was measured is measured anew" measures_anew

has_its_trace() {
	interrupted "$work/t" -w pingpong --round-trips 1000 --trace -r 300 -d 2ms --warmup 0s ||
		return 1
	sql "$work/t" "DELETE FROM row WHERE repetition > 1"
	sql "$work/t" "UPDATE plan SET value = replace(value, '300', '2') WHERE key = 'job'"
	"$program" run --resume "$work/t" -q && [ -s "$work/t/trace.json" ]
}
holds "a trace that is missing is made" has_its_trace

# Saving is not measuring: a run that cannot save its rows keeps them.
goes_on_without() {
	"$program" run -w pingpong --round-trips 1000 -r 100 -d 10ms --warmup 0s --no-plots \
		-q -o "$work/gone" 2>"$work/err" &
	while [ ! -e "$work/gone/run.db-wal" ] && kill -0 $!; do sleep 0.05; done
	rm "$work/gone/run.db"
	wait $! && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -q 'not saved before the end: .* has been removed' "$work/err" &&
		[ "$(wc -l <"$work/gone/runs.csv")" -eq 101 ]
}
holds "a store that is removed costs no row" goes_on_without

# LeakSanitizer cannot be traced.
one_row_is_not_saved() {
	ASAN_OPTIONS=detect_leaks=0 strace -f -o "$work/calls" "$program" run -w yield --yields 1000 -r 1 -d 2ms \
		--warmup 0s --no-plots -q -o "$work/one" && ! grep -q 'open.*run\.db' "$work/calls"
}
if command -v strace >/dev/null; then
	holds "a run of one row makes no store" one_row_is_not_saved
else
	skips "a run of one row makes no store" "strace is not installed"
fi

# ---- pairs ----

# A side that hands out results made before, by its seed, and sends the process that compares it
# a signal in the run whose number is in the file kill.
mkdir "$work/side"
ln -s "$(realpath "$program")" "$work/side/program"
cat >"$work/side/side" <<'EOS'
#!/bin/sh
here=${0%/*}
[ "$1" = run ] || exec "$here/program" "$@"
kind=plain
for word; do
	case $word in
	--output=*) out=${word#*=} ;;
	--seed=*) seed=${word#*=} ;;
	--kind=*) kind=${word#*=} ;;
	esac
done
echo "$kind $seed" >>"$here/log"
if [ -e "$here/kill" ] && [ "$(wc -l <"$here/log")" -eq "$(cat "$here/kill")" ]; then
	rm "$here/kill"
	kill -"$(cat "$here/signal")" "$PPID"
fi
mkdir -p "$out"
cp "$here/$kind/$seed.json" "$out/result.json"
EOS
chmod +x "$work/side/side"
echo KILL >"$work/side/signal"
"$program" run -w pingpong --round-trips 1000 -r 1 -d 2ms --warmup 0s --no-plots -q -o "$work/template"
python3 - "$work" <<'EOS'
import copy, json, os, random, sys
work = sys.argv[1]
template = json.load(open(work + "/template/result.json"))
random.seed(7)
for kind, factor in ("plain", 1), ("slower", 1.5):
    os.makedirs(f"{work}/side/{kind}")
    for seed in range(1, 41):
        result = copy.deepcopy(template)
        row = result["benchmarks"][0]
        values = row["sched_bench"]
        values.pop("reason", None)
        values["valid"] = "invalid" if (kind, seed) == ("slower", 5) else "valid"
        if values["valid"] == "invalid":
            values["reason"] = "it is to be"
        values["ns_per_op"] = row["real_time"] = 100 * factor * random.uniform(0.99, 1.01)
        json.dump(result, open(f"{work}/side/{kind}/{seed}.json", "w"))
EOS
cat >"$work/pairs.py" <<'EOS'
"""Without interruption and with: the same results, and no saved pair is measured again."""
import collections, json, re, sqlite3, subprocess, sys
verb, store, kills, work, program, *words = sys.argv[1:]
side = work + "/side/"

def call(place, *words):
    return subprocess.run([program, verb, *words], cwd=f"{work}/{place}", text=True,
                          capture_output=True, check=False)

def runs():
    with open(side + "log", encoding="utf-8") as log:
        return log.read().splitlines()

def contents(place):
    """All that is no time of this machine."""
    texts = {}
    for name in FILES[verb]:
        with open(f"{work}/{place}/{verb}/{name}", encoding="utf-8") as text:
            texts[name] = re.sub(r'(after|;|"elapsed_s":|time=")\s*[\d.e-]+( s)?', r"\1", text.read())
            if name == "pairs.csv":
                texts[name] = re.sub(r",(AB|BA),[^,]*,", r",\1,", texts[name])
    return texts

FILES = {"ab": ["result.json", "pairs.csv", "findings.csv", "runs.csv", "series.csv"],
         "gate": ["verdict.json", "verdict.md", "junit.xml"]}
whole = call("whole", *words, "-o", verb)
assert whole.returncode in (0, 1) and not whole.stderr, whole
in_all = collections.Counter(runs())
open(side + "log", "w").close()
for i, kill in enumerate(kills.split(",")):
    with open(side + "kill", "w", encoding="utf-8") as number:
        number.write(kill)
    before = len(runs())
    killed = call("parts", *(("--resume", verb, "--trust") if i else (*words, "-o", verb)))
    assert killed.returncode == -9, killed
    assert len(runs()) == int(kill)
    db = sqlite3.connect(f"{work}/parts/{verb}/{store}")
    assert db.execute("PRAGMA quick_check").fetchone()[0] == "ok"
    rows = db.execute("SELECT count(*) FROM row").fetchone()[0]
    db.close()
other = subprocess.run([program, "run", "-w", "yield", "-o", f"{work}/parts/{verb}"], text=True,
                       capture_output=True, check=False)
assert other.returncode == 3 and f"or {verb} --resume" in other.stderr, other
untrusted = call("parts", "--resume", verb)
assert untrusted.returncode == 3 and "which runs code; expected --trust" in untrusted.stderr, untrusted
rest = call("parts", "--resume", verb, "--trust")
assert rest.returncode == whole.returncode and not rest.stderr, rest
# The warm-up is measured again, and nothing else.
assert len(runs()) - int(kill) == sum(in_all.values()) - rows + 2, (len(runs()), in_all, rows)
assert contents("parts") == contents("whole")
again = call("parts", "--resume", verb)
assert again.returncode == 3 and "holds a complete result" in again.stderr, again
print(f"{rows} runs were saved of {sum(in_all.values())}")
EOS
# keeps_pairs VERB STORE KILLS WORDS...
keeps_pairs() {
	rm -rf "$work/whole" "$work/parts" "$work/side/log"
	mkdir "$work/whole" "$work/parts"
	pairs_verb=$1 pairs_store=$2 pairs_kills=$3
	shift 3
	python3 "$work/pairs.py" "$pairs_verb" "$pairs_store" "$pairs_kills" "$work" \
		"$(realpath "$program")" "$@"
}
a=$work/side/side
ab="-w pingpong --pairs 20 --metric ns_per_op --no-plots"
gate="-w pingpong --candidate-options --kind=slower --limit ns_per_op=+3%"
# shellcheck disable=SC2086
{
	holds "ab: kill -9 loses no pair, and the result is the same" keeps_pairs ab ab.db 4,24,39 \
		$ab -A "$a" -B "$a --kind=slower --word='a \"b'"
	holds "gate: the same" keeps_pairs gate gate.db 5,30 $gate --baseline "$a" --candidate "$a"
}

# interrupts_pairs VERB WORDS...: Ctrl-C, into $work/VERB.
echo INT >"$work/side/signal"
interrupts_pairs() {
	verb=$1
	rm -f "$work/side/log"
	echo 9 >"$work/side/kill"
	shift
	"$program" "$verb" "$@" -o "$work/$verb" >"$work/out" 2>"$work/err"
	[ $? -eq 2 ] && echo "sched-bench: interrupted; to measure the rest: sched-bench $verb --resume $work/$verb --trust" |
		diff - "$work/err"
}
# shellcheck disable=SC2086
{
	holds "ab: Ctrl-C names what continues it" interrupts_pairs ab $ab -A "$a" -B "$a"
	holds "gate: the same" interrupts_pairs gate $gate --baseline "$a" --candidate "$a"
}
refuses "a resumed comparison has its options" 3 "ab --resume: --seed is not expected; the comparison goes on" \
	ab --resume "$work/ab" --seed 3
refuses "a resumed gate has its options" 3 "gate --resume: --budget is not expected" gate --resume "$work/gate" \
	--budget 1s
refuses "a comparison is no gate" 3 "holds no gate (no gate.db)" gate --resume "$work/ab"
refuses "a gate is no comparison" 3 "holds no comparison (no ab.db)" ab --resume "$work/gate"
sql "$work/ab" "UPDATE configuration SET label = 'yield'" ab.db
refuses "a plan that its options do not give" 3 "its workloads are not those of its job" ab --resume "$work/ab" \
	--trust
sql "$work/ab" "UPDATE configuration SET label = 'pingpong'" ab.db
refuses_locked() {
	flock_of() {
		python3 -c 'import fcntl, subprocess, sys
lock = open(sys.argv[1], "r+")
fcntl.lockf(lock, fcntl.LOCK_EX)
sys.exit(subprocess.run(sys.argv[2:], check=False).returncode)' "$@"
	}
	flock_of "$work/ab/ab.lock" "$program" ab --resume "$work/ab" --trust 2>"$work/err"
	[ $? -eq 3 ] && grep -q "another comparison is using" "$work/err"
}
holds "two at once do not measure one comparison" refuses_locked
echo "# another version" >>"$a"
refuses "another program on a side" 3 "begun with another $a; expected the same contents" ab --resume "$work/ab" \
	--trust
refuses "another baseline" 3 "begun with another $a; expected the same contents" gate --resume "$work/gate" --trust
refuses "sides that are not allowed" 3 "its plan has --side-a '$a', which runs code" ab --resume "$work/ab" -B "$a"
refuses "other sides than the plan's" 3 "begun with other options" ab --resume "$work/ab" -A "$a" -B "$a --batch=2"
holds "sides that are named again, and --other-build" "$program" ab --resume "$work/ab" -A "$a" -B "$a" \
	--other-build -q
echo "1..$n"
