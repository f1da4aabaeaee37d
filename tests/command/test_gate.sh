#!/bin/sh
# The verb `gate`: what it refuses, that it sees a side that is slowed down and
# sees nothing where there is nothing, its files, and its trials. Prints TAP.
# usage: test_gate.sh BUILD_DIRECTORY
set -u
here=$PWD
program=$(realpath "$1/sched-bench")
wrong=$(realpath "$1/tests/sched-bench-wrong")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache"
unset GITHUB_ACTIONS
. tests/tap.sh

# ends NAME STATUSES PATTERN ARGUMENTS...: the gate ends with one of these, and
# says that on one of both streams.
ends() {
	name=$1 statuses=$2 pattern=$3
	shift 3
	"$program" gate "$@" >"$work/out" 2>"$work/err"
	got=$?
	case " $statuses " in
	*" $got "*) fits=yes ;;
	*) fits=no ;;
	esac
	if [ $fits = yes ] && cat "$work/out" "$work/err" | grep -q -- "$pattern"; then
		report "$name" yes
	else
		report "$name" no "status $got; $(cat "$work/err" "$work/out")"
	fi
}

# refuses NAME PATTERN ARGUMENTS...: status 3, one line, nothing on standard output.
refuses() {
	name=$1 pattern=$2
	shift 2
	ends "$name" 3 "$pattern" -o "$work/none" "$@"
	if [ "$(wc -l <"$work/err")" -ne 1 ] || [ -s "$work/out" ]; then
		report "$name: one line" no "$(cat "$work/err" "$work/out")"
	fi
}

# A program that is slower by as much again, and one that writes nothing.
cat >"$work/slow" <<-EOF
	#!/bin/sh
	[ "\$1" = run ] && exec "$program" "\$@" --slowdown 100%
	exec "$program" "\$@"
EOF
printf '#!/bin/sh\necho hello\n' >"$work/other"
cat >"$work/mute" <<-EOF
	#!/bin/sh
	[ "\$1" = --version ] && exec "$program" --version
	exit 0
EOF
# One in three of its runs takes twice as long.
cat >"$work/noisy" <<-EOF
	#!/bin/sh
	[ "\$1" = run ] || exec "$program" "\$@"
	echo >>"$work/runs"
	[ \$((\$(wc -l <"$work/runs") % 3)) -ne 0 ] || exec "$program" "\$@" --slowdown 100%
	exec "$program" "\$@"
EOF
# Programs that tell their last run's words.
for side in a b; do
	cat >"$work/told-$side" <<-EOF
		#!/bin/sh
		[ "\$1" = run ] && printf '%s\n' "\$@" >"$work/words-$side"
		exec "$program" "\$@"
	EOF
done
chmod +x "$work/slow" "$work/other" "$work/mute" "$work/told-a" "$work/told-b" "$work/noisy"
echo text >"$work/text"

quick='-w pingpong --round-trips 2000 -d 2ms --warmup 0s'
wide='--limit cpu_ns_per_op=40%'
# What is slower by as much again must be beyond it, also where the machine is busy.
sharp='--limit cpu_ns_per_op=10%'
stored="run $quick --workers 1 -r 12 --no-plots -q"

# ---- what it refuses ----

refuses "no baseline" "no baseline; expected --baseline"
refuses "a baseline that is not there" "does not exist" --baseline "$work/nothing"
refuses "a baseline that cannot be run" "cannot be run, and is no result" --baseline "$work/text"
refuses "another program" "is no sched-bench" --baseline "$work/other"
refuses "another program as candidate" "--candidate: .* is no sched-bench" \
	--baseline "$program" --candidate "$work/other"
refuses "a directory without a result" "--baseline: " --baseline "$work"
refuses "a limit for what is better" "expected a limit for a rise" \
	--baseline "$program" --limit ns_per_op=-3%
refuses "a parameter of nothing" "expected -w NAME" --baseline "$program" --round-trips 2
refuses "a slowdown in a trial" "--slowdown: it is not for a trial" --selftest --slowdown 5%
refuses "options of one side, counted" "--candidate-options: it is not for --counts" \
	--counts --baseline "$program" --candidate-options "--steal one"
refuses "options of one side that are none" "expected options alone" \
	--baseline "$program" --candidate-options "$program --steal one"
refuses "another time for one side" "--baseline-options: --duration is not for one side" \
	--baseline "$program" --baseline-options "--duration 9ms"
refuses "a baseline in a trial" "compared with itself" --baseline "$program" --selftest
refuses "two trials" "expected one of" --calibrate --selftest
refuses "a slowdown that is none" "'x' is not valid; expected percentages" --selftest --slowdowns 5%,x
refuses "a limit that counts cannot see" "expected more than 0.2%" --counts --baseline nothing --limit 0.1%
refuses "how many trials" "expected how many gates" --selftest 0
refuses "a word" "is not expected" --baseline "$program" more
make_repository() {
	cd "$work" && git init -q repository && cd repository &&
		git -c user.name=a -c user.email=a commit -q --allow-empty -m a
}
has_git=no
if (make_repository) >"$work/out" 2>&1; then
	has_git=yes
	cd "$work/repository" || exit
	refuses "a baseline that is nothing" "neither a file nor a revision" --baseline no-such-thing
	refuses "a revision of another project" "is not sched-bench's" --baseline HEAD
	cd "$work" || exit
	refuses "a revision without a repository" "git finds no repository" --baseline HEAD
	cd "$here" || exit
else
	skips "revisions" "git makes no repository: $(head -1 "$work/out")"
fi
printf '#!/bin/sh\nPATH=%s exec "%s" "$@"\n' "$work/none" "$program" >"$work/without-git"
chmod +x "$work/without-git"
with_git=$program program=$work/without-git
refuses "a revision without git" "git is not installed" --baseline HEAD
program=$with_git

# ---- pairs ----

# shellcheck disable=SC2086
{
	ends "a side that is slowed down" 1 "gate: regressed" \
		--baseline "$program" --candidate "$work/slow" $quick $sharp \
		--budget 20s -o "$work/slowed" --annotations --junit "$work/junit.xml"
	holds "its annotation" grep \
		'^::error title=pingpong cpu_ns_per_op%3A regressed::pingpong' "$work/out"
	ends "the other way round" "0 2" "gate: " \
		--candidate "$program" --baseline "$work/slow" $quick $wide \
		--budget 20s -o "$work/faster"
	ends "a program against itself" "0 2" "gate: " --baseline "$program" \
		$quick $wide --budget 20s -o "$work/same" --markdown -
	ends "a side each with its own options" "0 1 2" "^candidate: .*, with --spin-tight 9, slowed down by 100%" \
		--baseline "$work/told-a" --candidate "$work/told-b" --slowdown 100% \
		--baseline-options "--spin-yield 7" --candidate-options "--spin-tight 9" $quick $wide \
		--budget 1ms -o "$work/own"
	holds "the baseline's" test "$(grep -cx -e --spin-yield -e --spin-tight -e --slowdown=100% "$work/words-a")" -eq 1
	holds "and the candidate's" test "$(grep -cx -e --spin-yield -e --spin-tight -e --slowdown=100% "$work/words-b")" -eq 2
	ends "undecided and quiet" 2 "^gate: undecided: pingpong" --baseline "$program" $quick \
		--budget 1ms -q -o "$work/unsaid"
	holds "in one line" test "$(cat "$work/out" "$work/err" | wc -l)" -eq 1
	holds "a failure in JUnit" grep '<failure type="undecided"' "$work/unsaid/junit.xml"
	ends "unless it is to be skipped" 2 "^gate: undecided" --baseline "$program" $quick \
		--budget 1ms -q --undecided skip -o "$work/skipped"
	holds "in JUnit" grep '<skipped message=' "$work/skipped/junit.xml"
	ends "noise that hides the limit" 2 "ended after [0-9]* blocks: .*(--counts)" \
		--baseline "$work/noisy" --candidate "$work/noisy" -w pingpong --round-trips 2000 -d 5ms --warmup 0s --seed 5 \
		--limit cpu_ns_per_op=1% -o "$work/hidden"
	holds "ends before its time" sh -c "! grep -q '^pingpong .* 60  undecided' '$work/out'"
	two="--workers 2 --oversubscribe -d 5ms --warmup 0s"
	ends "a run without a steal" "0 1 2" "^pingpong *steals_per_op" --baseline "$program" -w pingpong \
		--round-trips 2000 $two --limit steals_per_op=±50% --budget 2s -o "$work/no-steal"
	holds "has a ratio" sh -c "! grep -q 'no ratio\|no run measured' '$work/out'"
	ends "a candidate that never steals" 1 "^imbalanced-tree *steals_per_op .*regressed" \
		--baseline "$program" --candidate-options "--workers 1" -w imbalanced-tree \
		--root-children 100 $two --limit steals_per_op=±50% --budget 60s -o "$work/no-thief"
	ends "both kinds of workloads" "0 1 2" "^imbalanced-tree *parks_per_op" --baseline "$program" \
		-d 1ms --warmup 0s --budget 1ms -o "$work/kinds"
	holds "with their own limits" sh -c "! grep -q '^imbalanced-tree *ns_per_op\|^pingpong *steals' '$work/out'"
	ends "with one worker, one kind" "0 1 2" "^skynet *cpu_ns_per_op" --baseline "$program" \
		--workers 1 -d 1ms --warmup 0s --budget 1ms -o "$work/one"
	holds "only" sh -c "! grep -q imbalanced-tree '$work/out'"
	ends "a program that writes nothing" 2 "pairs are invalid" \
		--baseline "$work/mute" $quick $wide -o "$work/mute.out"
	right=$program program=$wrong
	ends "runs that crash" 2 "pairs are invalid: crashed" --baseline "$wrong" \
		-w crashing $wide -o "$work/wrong.out"
	program=$right
	ends "no time" "2" "blocks\|no time" --baseline "$program" $quick \
		--budget 1ms -o "$work/no-time"
}
cat >"$work/files.py" <<-'EOF'
	import json, sys, xml.etree.ElementTree as tree
	directory, also = sys.argv[1:]
	for path in directory + "/junit.xml", also:
	    root = tree.parse(path).getroot()
	    assert root.tag == "testsuites" and root.get("failures") == "1", root.attrib
	    case = root.find("testsuite/testcase")
	    assert case.get("classname") == "pingpong", case.attrib
	    assert case.find("failure").get("message"), case
	    assert float(case.get("time")) > 0
	    assert [e.tag for e in root.find("testsuite")] == ["properties", "testcase"]
	v = json.load(open(directory + "/verdict.json"))["sched_bench_gate"]
	assert v["verdict"] == "regressed" and v["schema"] == 1
	test, = v["tests"]
	assert test["change"] > 0.1 and test["low"] > 0, test
	assert "| **regressed** |" in open(directory + "/verdict.md").read()
EOF
is_no_result() {
	"$program" report "$work/slowed" 2>"$work/err"
	[ $? -eq 3 ] && grep -q "expected a result; this is of a gate" "$work/err"
}
holds "report says what its directory is" is_no_result
holds "its files" python3 "$work/files.py" "$work/slowed" "$work/junit.xml"

# ---- revisions: a repository in which make only copies what it is to build ----

# commit MESSAGE BRANCH PROGRAM: all there is to it.
commit() {
	git checkout -q -B "$2"
	printf 'MODE ?= release\nall:\n\t@echo built >>"%s"\n\t%s\n' "$work/builds" \
		"mkdir -p build/\$(MODE) && cp $3 build/\$(MODE)/sched-bench" >Makefile
	git add -A
	git -c user.name=a -c user.email=a commit -q -m "$1"
}
# shellcheck disable=SC2086
gates_revisions() {
	cd "$work/repository" || exit
	mkdir core harness
	touch core/scheduler.h harness/main.c
	commit "as it is" good "$program"
	commit "slower" slow "$work/slow"
	commit "broken" broken "$work/there-is-no-such-file"
	ends "a revision is built" "0 2" "revision good (" --baseline good $quick $wide \
		--budget 1ms -o "$work/r1"
	ends "and kept" "0 2" "revision good (" --baseline good $quick $wide \
		--budget 1ms -o "$work/r2"
	holds "built once" test "$(wc -l <"$work/builds")" -eq 1
	ends "one that cannot be built" 4 "the build of revision 'broken' .* failed: .*no-such-file" \
		--baseline broken $quick -o "$work/r3" -q
	holds "in one line" test "$(wc -l <"$work/err")" -eq 1
	holds "no worktree stays" test "$(git worktree list | wc -l)" -eq 1
	GATE_OUTPUT="$work/ci" sh "$here/scripts/gate-ci.sh" good slow -- $quick $sharp \
		>"$work/out" 2>&1
	holds "gate-ci.sh sees a slower head" test $? -eq 1
	holds "and says so" grep 'gate: regressed' "$work/out"
	sh "$here/scripts/gate-ci.sh" slow good >"$work/out" 2>&1
	holds "gate-ci.sh has nothing to do" grep 'nothing to gate' "$work/out"
	sh "$here/scripts/gate-ci.sh" good broken >"$work/out" 2>&1
	holds "gate-ci.sh: a head that cannot be built" test $? -eq 4
	holds "no worktree stays of it" test "$(git worktree list | wc -l)" -eq 1
	cd "$here" || exit
}
[ $has_git = no ] || gates_revisions
holds "the workflow is YAML, and its scripts are shell" python3 - <<-'EOF'
	import subprocess
	try:
	    import yaml
	except ImportError:
	    raise SystemExit(0)
	jobs = yaml.safe_load(open("scripts/github-gate.yml"))["jobs"]
	steps = [s["run"] for s in jobs["gate"]["steps"] if "run" in s]
	assert len(steps) == 5, steps
	for run in steps:
	    subprocess.run(["sh", "-n"], input=run, text=True, check=True)
EOF

# ---- a stored result ----

# shellcheck disable=SC2086
"$program" $stored -o "$work/stored"
# alter NAME PYTHON: a copy of it in which something is different.
alter() {
	mkdir "$work/$1"
	python3 - "$work/stored/result.json" "$work/$1/result.json" "$2" <<-'EOF'
		import json, sys
		r = json.load(open(sys.argv[1]))
		b = r["sched_bench"]["meta"]
		exec(sys.argv[3])
		json.dump(r, open(sys.argv[2], "w"))
	EOF
}
alter machine 'b["machine"]["topology_fingerprint"] = "0123456789abcdef"'
alter processor 'b["machine"]["cpu_model"] = "Another\n"'
alter build 'b["run"]["build_mode"] = "debug"'
alter schema 'r["sched_bench"]["schema"] = 99'
alter slowed-result 'b["options"]["slowdown"] = "5%"'
refuses "another machine's" "another machine: 0123456789abcdef, and this is" --baseline "$work/machine"
refuses "another processor's" "another processor: Another" --baseline "$work/processor"
refuses "another build's" "another kind of build: debug, and this is" --baseline "$work/build"
refuses "another schema" "schema" --baseline "$work/schema"
refuses "one that was slowed down" "slowed down by 5% on purpose" --baseline "$work/slowed-result"
refuses "other options" "measured with --duration 2ms, this is --duration 3ms" \
	--baseline "$work/stored" -d 3ms
refuses "another parameter" "--round-trips 2000, this is --round-trips 5" \
	--baseline "$work/stored" -w pingpong --round-trips 5
refuses "CPUs kept awake for one side" "expected auto or no" \
	--baseline "$work/stored" --keep-awake yes
# shellcheck disable=SC2086
"$program" run $quick --workers 1 -r 201 --no-plots -q -o "$work/long"
refuses "more values than are compared" "pingpong has 201 repetitions; expected 8 to 200" \
	--baseline "$work/long"
# shellcheck disable=SC2086
"$program" run $quick --workers 1 -r 7 --no-plots -q -o "$work/short"
refuses "fewer values than say anything" "pingpong has 7 repetitions; expected 8 to 200" \
	--baseline "$work/short"
refuses "options of a baseline that has been measured" "--baseline-options: a stored result" \
	--baseline "$work/stored" --baseline-options "--steal one"
refuses "another workload" "none of the workloads" --baseline "$work/stored" -w yield
# shellcheck disable=SC2086
{
	ends "a candidate slower than a stored result" "1 2" "unpaired" \
		--baseline "$work/stored" --candidate "$work/slow" $wide -o "$work/s1"
	ends "a stored result against its program" "0 1 2" "unpaired" \
		--baseline "$work/stored" $wide -o "$work/s2"
}

# What was given with its policy is given again: the policy would change it.
keeps_what_was_given() {
	rm -rf "$work/spec" "$work/s3"
	# shellcheck disable=SC2086
	"$program" $stored --policy spec --wake local -o "$work/spec" || return 1
	# shellcheck disable=SC2086
	"$program" gate --baseline "$work/spec" --candidate "$work/told-b" $wide -q -o "$work/s3"
	[ $? -le 2 ] && grep -qx -- --wake=local "$work/words-b" &&
		grep -qx -- --handover=queue "$work/words-b"
}
holds "a stored result's policy, with what was given" again keeps_what_was_given

# ---- trials ----

# shellcheck disable=SC2086
{
	ends "a calibration" 0 "false alarms: [01] of 1" --calibrate 1 $quick $wide --budget 1ms -o "$work/c1"
	ends "is used by the next gate" "0 2" "A/A on this machine: [01] false alarm" \
		--baseline "$program" $quick $wide --budget 1ms -o "$work/c2"
	kept=$(echo "$work"/cache/sched-bench/gate-*.json)
	mv "$kept" "$work/kept.json"
	ln -s "$kept" "$kept"
	refuses "a kept calibration that cannot be read" "cannot be read: Too many levels of symbolic links" \
		--baseline "$program" $quick
	mv "$work/kept.json" "$kept"
	sed 's/"model": "/&Another /' "$kept" >"$work/other-machine.json"
	sed 's/"schema": 1/"schema": 0/' "$kept" >"$work/other-schema.json"
	ends "one into a file" 0 "$work/new.json" --calibrate 1 $quick $wide --budget 1ms -o "$work/c3" \
		--calibration "$work/new.json"
	ends "is used with other options" "0 2" "is of gates with other options" --baseline "$program" \
		$quick $wide --seed 7 --spin-yield 3 --budget 1ms -o "$work/c4"
	refuses "another machine's calibration" "is of another machine" \
		--baseline "$program" --calibration "$work/other-machine.json"
	refuses "an older calibration" "has schema 0; expected 1" \
		--baseline "$program" --calibration "$work/other-schema.json"
	refuses "no calibration" "is no calibration" --baseline "$program" \
		--calibration "$work/stored/result.json"
	ends "a self test" 0 "^10% .* of 1 " --selftest 1 --slowdowns 10% $quick $wide --budget 1ms -o "$work/t1"
	ends "with CPUs kept awake" "0 2" "whose CPUs are kept awake" --baseline "$program" --keep-awake yes \
		$quick $wide --budget 1ms -o "$work/w1"
	holds "which the verdict says" grep '"kept_awake": true' "$work/w1/verdict.json"
	ends "without" "0 2" "interleaved pairs of processes; a value" --baseline "$program" --keep-awake no \
		$quick $wide --budget 1ms -o "$work/w2"
	holds "which it says, too" grep '"kept_awake": false' "$work/w2/verdict.json"
}
"$program" run -w pingpong --round-trips 20000 -d 5ms --warmup 0s -r 1 --workers 1 \
	--slowdown 5% --no-plots -q -o "$work/row"
holds "a slowed row says so" grep 'slowed down by 5% on purpose' "$work/row/runs.csv"
echo "1..$n"
