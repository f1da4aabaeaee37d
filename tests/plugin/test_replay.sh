#!/bin/sh
# Records what processes do and replays it: with the same counts, on other numbers of workers,
# in virtual time, and with policies in the same order; and recordings that are damaged.
# usage: test_replay.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

program=$(realpath "$1")/sched-bench
converter=$PWD/scripts/perf-actors
cd "$work" || exit 1
quick='-r 1 -d 50ms --warmup 0s --no-plots -q'

# told NAME: processes, steps, messages and spawns, as the recording's last line has them.
told() { zstdcat "$1.actors" | sed -n '$s/[^0-9 ]//gp'; }
# recorded NAME WORKLOAD OPTION...: with as many messages and spawns as a round has.
# shellcheck disable=SC2086
recorded() {
	name=$1
	shift
	rm -rf "$name" "$name.actors"
	"$program" run -w "$@" $quick --record-actors "$name.actors" -o "$name" || [ $? -eq 2 ] || return 1
	# shellcheck disable=SC2046
	python3 - "$name" $(told "$name") <<-'EOP'
		import json, sys
		name, _, _, messages, spawns = sys.argv[1:]
		[b] = json.load(open(name + "/result.json"))["benchmarks"]
		own = b["sched_bench"]
		for recorded, counter in (messages, "messages"), (spawns, "spawns"):
		    assert int(recorded) == own[counter] / own["rounds"], (recorded, counter, own[counter], own["rounds"])
	EOP
}
# replayed NAME OPTION...: with all steps; whether each process did them all, it checks itself.
# shellcheck disable=SC2086
replayed() {
	name=$1
	shift
	rm -rf "$name.again"
	"$program" run -w replay --actors "$name.actors" $quick -o "$name.again" "$@" || [ $? -eq 2 ] || return 1
	# shellcheck disable=SC2046
	python3 - "$name" $(told "$name") <<-'EOP' || return 1
		import json, sys
		name, _, steps, messages, spawns = sys.argv[1:]
		[b] = json.load(open(name + ".again/result.json"))["benchmarks"]
		own = b["sched_bench"]
		assert own["operations"] == int(steps) * own["rounds"] and own["spawns"] == int(spawns) * own["rounds"], own
		# One that comes before its receiver has been spawned is sent by who spawns it.
		assert 0.99 * int(messages) <= own["messages"] / own["rounds"] <= int(messages), own
	EOP
}
if ! command -v zstdcat >/dev/null; then
	skips "recordings" "zstd is not installed"
	echo "1..$n"
	exit
fi
holds "savina-bndbuffer" again recorded bndbuffer savina-bndbuffer --workers 2
holds "done again: as many spawns and messages" again replayed bndbuffer --workers 2
holds "and on one worker" again replayed bndbuffer --workers 1
holds "processes that spawn processes" again recorded skynet skynet --leaves 1000 --workers 2
holds "done again" again replayed skynet --workers 2
holds "requests from outside" again recorded service service --rate 2k/s --workers 1 --late 1s
holds "done again, ten times as fast" again replayed service --pace 1000
if has_virtual; then
	virtual() {
		for seed in 1 2; do
			"$program" run -w replay --actors skynet.actors --virtual --profile xeon-2s --workers 8 -r 1 -q --no-plots -o "virtual.$seed" || return 1
		done
		cut -d, -f1-7 virtual.1/runs.csv >one && cut -d, -f1-7 virtual.2/runs.csv | cmp - one
	}
	holds "in virtual time, twice the same" virtual
	# shellcheck disable=SC2086
	from_virtual() { "$program" run -w skynet --leaves 1000 --virtual --profile xeon-2s --workers 4 $quick --record-actors v.actors -o v && replayed v --workers 2; }
	holds "recorded in virtual time" from_virtual
else
	skips "virtual time" "this build has none"
fi

# ---- by hand, and wrong ----

cat >hand.actors <<'END'
# sched-bench actors 1
spawn 0 0
# 2 is sent to before it is spawned.
step 0 0 0 100 >2 +1
step 50 1 0 100 +2 >2
step 60 2 2 10
END
# shellcheck disable=SC2086
by_hand() {
	"$program" run -w replay --actors hand.actors $quick --workers 1 -o hand || [ $? -eq 2 ]
	python3 -c 'import json; [b] = json.load(open("hand/result.json"))["benchmarks"]; o = b["sched_bench"]; assert o["operations"] == 3 * o["rounds"], o'
}
holds "text by hand, with a message before its receiver is spawned" by_hand
first='# sched-bench actors 1\n'
# wrong PATTERN TEXT
wrong() {
	printf '%b' "$2" >wrong.actors
	refuses "$1" 3 "$1" run -w replay --actors wrong.actors
}
wrong "line 0: expected '# sched-bench actors 1'" ''
wrong "line 1: expected '# sched-bench actors 1'" 'spawn 0 0\n'
wrong 'line 2: expected spawn, message or step' "${first}begin 0 0\n"
wrong 'line 2: expected a time in nanoseconds' "${first}spawn now 0\n"
wrong 'line 3: expected a time that is not before' "${first}spawn 5 0\nspawn 4 1\n"
wrong 'line 2: expected the number of a process' "${first}spawn 0 16777216\n"
wrong 'line 2: expected the end of the line' "${first}spawn 0 0 0\n"
wrong 'line 3: expected how many messages' "${first}spawn 0 0\nstep 0 0 1\n"
wrong 'line 3: expected +PROCESS or >PROCESS' "${first}spawn 0 0\nstep 0 0 0 1 2\n"
wrong 'expected at least one spawn' "${first}# nothing\n"
wrong 'process 1 is used, and 1 processes are spawned' "${first}spawn 0 0\nstep 0 0 0 1 >1\n"
wrong 'process 0 is spawned nowhere; expected it once' "${first}spawn 0 1\nspawn 0 1\nstep 0 0 0 1\n"
wrong 'process 0 is spawned twice; expected it once' "${first}spawn 0 0\nspawn 0 0\n"
wrong 'cannot be decompressed' '\0050\0265\0057\0375 damaged'
# shellcheck disable=SC2086
no_steps() {
	printf '%b' "${first}spawn 0 0\nspawn 1000000 1\n" >nothing.actors
	"$program" run -w replay --actors nothing.actors -r 2 -d 5ms --warmup 0s --trace -o nothing >nothing.text 2>&1
	[ $? -eq 2 ] && grep -q 'invalid (no operation was measured: operations is 0, expected more than 0)' nothing.text || return 1
	for format in gbench benchstat openmetrics gh-action; do
		"$program" convert nothing --to $format -o - >nothing.$format || return 1
	done
	"$program" report nothing --format md -o nothing.md &&
		! grep -rhoiE '(^|[^a-z_])[-+]?(inf|nan|infinity)([^a-z_-]|$)' nothing nothing.*
}
holds "a recording without steps is invalid, and no number is infinite" no_steps
refuses "a file that is missing" 3 'none.actors' run -w replay --actors none.actors
refuses "two workloads in one recording" 3 'expected one workload' run -w yield,pingpong --record-actors both.actors
# shellcheck disable=SC2086
too_long() {
	"$program" run -w yield $quick --record-actors long.actors --trace-events 100 -o long 2>text
	[ $? -eq 2 ] && grep -q 'no recording: .* events of worker [0-9]* had no room; expected a shorter round' text && [ ! -e long.actors ]
}
holds "a recording that has not room for all is none" too_long

# ---- threads as processes ----

# The output of perf for a shell (10) that starts a program (11) and waits for its end, and for another
# thread (99) that takes the CPU for a while.
mkdir bin
cat >bin/perf <<'END'
#!/bin/sh
cat "$EVENTS"
END
chmod +x bin/perf
cat >kernel.txt <<'END'
 swapper 0 [000] 5.000000000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=10 next_prio=120
 sh 10 [000] 5.000100000: sched:sched_process_fork: comm=sh pid=10 child_comm=sh child_pid=11
 sh 10 [000] 5.000200000: sched:sched_switch: prev_comm=sh prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=sh next_pid=11 next_prio=120
 sh 11 [000] 5.000300000: sched:sched_switch: prev_comm=a b prev_pid=11 prev_prio=120 prev_state=R+ ==> next_comm=other next_pid=99 next_prio=120
 other 99 [000] 5.000900000: sched:sched_switch: prev_comm=other prev_pid=99 prev_prio=120 prev_state=S ==> next_comm=a b next_pid=11 next_prio=120
 a b 11 [000] 5.001000000: sched:sched_waking: comm=sh pid=10 prio=120 target_cpu=000
 a b 11 [000] 5.001000500: sched:sched_wakeup: comm=sh pid=10 prio=120 target_cpu=000
 a b 11 [000] 5.001100000: sched:sched_switch: prev_comm=a b prev_pid=11 prev_prio=120 prev_state=X ==> next_comm=sh next_pid=10 next_prio=120
 sh 10 [000] 5.001300000: sched:sched_switch: prev_comm=sh prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
 swapper 0 [000] 5.002000000: sched:sched_waking: comm=sh pid=10 prio=120 target_cpu=000
 swapper 0 [000] 5.002100000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=10 next_prio=120
 sh 10 [000] 5.002150000: sched:sched_switch: prev_comm=sh prev_pid=10 prev_prio=120 prev_state=X ==> next_comm=swapper/0 next_pid=0 next_prio=120
END
cat >expected <<'END'
spawn 0 0
step 0 0 0 200000 +1
step 200000 1 0 300000 >0
step 1100000 0 1 200000
message 2000000 0
step 2100000 0 1 50000
# 2 processes, 4 steps, 1 messages, 1 spawns
END
# By the plug-in of libtraceevent; and as perf prints fields when it cannot parse the kernel's format.
sed -E 's/prev_comm=(.*) prev_pid=(.*) prev_prio=(.*) prev_state=(.).* ==> next_comm=(.*) next_pid=(.*) next_prio=(.*)/\1:\2 [\3] \4 ==> \5:\6 [\7]/
	s/: comm=(.*) pid=(.*) prio=(.*) target_cpu=/: \1:\2 [\3] CPU:/' kernel.txt >plugin.txt
sed -E 's/_fork: comm=(.*) pid=/_fork: [FAILED TO PARSE] parent_comm=\1 parent_pid=/; s/prev_state=R\+/prev_state=0x100/; s/prev_state=R/prev_state=0/
	s/prev_state=S/prev_state=1/; s/prev_state=X/prev_state=0x10/; s/ ==> / /' kernel.txt >raw.txt
convert() { EVENTS=$1.txt PATH=$PWD/bin:$PATH "$converter" made.data made.actors ${2+"$2"} ${3+"$3"} >kept 2>text; }
same() { zstdcat made.actors | sed '1,2d' | diff expected -; }
# shellcheck disable=SC2086
threads() {
	convert kernel && same && { "$program" run -w replay --actors made.actors $quick --workers 1 -o made 2>text || [ $? -eq 2 ]; } &&
		grep -q 'the recorded pace of what comes from outside bounds the result: a round takes at least 2 ms; --pace 0 removes that' text &&
		! "$program" run -w replay --actors made.actors --pace 0 $quick -o fast 2>&1 | grep pace
}
holds "threads as processes, of perf sched record; the recorded pace is said to bound the result" threads
holds "what was kept and dropped is printed" grep '^kept 2 threads: sh, a b; dropped 1 thread: other$' kept
in_other_formats() {
	for format in plugin raw; do
		convert $format && same && ! grep skipped text || return 1
	done
}
holds "the same from perf's plug-in, and from fields that perf cannot parse" in_other_formats
skips_are_counted() {
	{ cat kernel.txt && echo 'no event' && echo ' sh 10 [000] 5.003: sched:sched_switch: what is this'; } >odd.txt
	convert odd && same && grep -q "skipped 2 of 14 lines that could not be read, the first: 'no event'" text
}
holds "lines that cannot be read are counted" skips_are_counted
# nothing PATTERN EVENTS OPTION...: refused, and nothing is written.
nothing() {
	rm -f made.actors
	pattern=$1
	shift
	convert "$@"
	[ $? -eq 3 ] && grep -q "^perf-actors: .*$pattern" text && [ ! -e made.actors ]
}
sed 's/sched:.*/what?/' kernel.txt >unknown.txt
sed -n '2p; 10p' kernel.txt >switchless.txt
sed -n 1p kernel.txt >stepless.txt
holds "a recording of other lines is none" nothing 'no sched_switch could be read' unknown
holds "nor is one without switches" nothing 'no sched_switch could be read' switchless
holds "or without a thread of that name" nothing 'no such thread among 3 threads: sh, a b, other' kernel --comm none
holds "or of a process that does nothing" nothing 'no such thread among 1 thread: sh' stepless --pid 11
# The command (20) that perf starts beside all of that; its child (21) does one step.
{
	cat kernel.txt
	cat <<-'END'
		 perf 5 [000] 5.003000000: sched:sched_waking: comm=perf-exec pid=20 prio=120 target_cpu=000
		 swapper 0 [000] 5.003100000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=perf-exec next_pid=20 next_prio=120
		 make 20 [000] 5.003200000: sched:sched_process_fork: comm=make pid=20 child_comm=make child_pid=21
		 make 20 [000] 5.003300000: sched:sched_switch: prev_comm=make prev_pid=20 prev_prio=120 prev_state=X ==> next_comm=make next_pid=21 next_prio=120
		 cc 21 [000] 5.003400000: sched:sched_switch: prev_comm=cc prev_pid=21 prev_prio=120 prev_state=X ==> next_comm=swapper/0 next_pid=0 next_prio=120
	END
} >command.txt
chosen() {
	for choice in 'kept 2 threads: make, cc; dropped 4 threads: perf, sh, a b, other' '--comm=sh kept 2 threads: sh, a b; dropped' \
		'--pid=21 kept 1 thread: cc; dropped' '--all kept 6 threads: perf, sh, a b, make, cc, other; dropped 0 threads'; do
		option=$(expr "$choice" : '\(--[^ ]*\)')
		convert command ${option:+"$option"} && grep -q "^${choice#"$option "}" kept && [ ! -s text ] || return 1
	done
}
holds "the recorded command and its descendants, or those that an option names" chosen
refused_by_converter() { ! PATH=$PWD/bin:$PATH "$converter" made.data 2>text && grep -q '^perf-actors: expected a file of perf and one to write' text; }
holds "without a file to write" refused_by_converter
echo "1..$n"
