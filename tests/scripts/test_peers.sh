#!/bin/sh
# The comparison with other systems, scripts/peers/peers.py, with programs that are
# made up: what it counts and divides, what it discards and makes again, and what
# it says of answers that are wrong and programs that are not there. Prints TAP.
# usage: test_peers.sh BUILD_DIRECTORY
# What stands in single quotes is for the programs that are made up.
# shellcheck disable=SC2016
set -u
program=$PWD/scripts/peers/peers.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

if ! command -v python3 >/dev/null || ! command -v taskset >/dev/null; then
	skips "peers" "python3 or taskset is missing"
	echo "1..$n"
	exit
fi
if [ "$(nproc)" -lt 2 ]; then
	skips "peers" "two CPUs are needed"
	echo "1..$n"
	exit
fi

# fake NAME: a program of the folder bin, whose text is on standard input.
fake() {
	mkdir -p "$work/bin"
	{
		echo '#!/bin/sh'
		cat
	} >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

# peer NAME TEXT...: one that prints that, whatever it is asked.
peer() {
	name=$1
	shift
	echo "echo '$*'" | fake "$name"
}

# counted NAME FORMAT: one that prints its call's number in that place.
counter='n=$(($(cat "$0.n" 2>/dev/null || echo 0) + 1)); echo $n >"$0.n"'

# ours VALUE-EXPRESSION: sched-bench, whose value may depend on $n, the call's
# number. What it is told goes into a file.
ours() {
	fake sched-bench <<-END
		$counter
		echo "\$*" >>"\$0.told"
		echo 'error_message,reason,ns_per_op,bytes_per_process,wake_ns_p50,wake_ns_p99,wake_ns_p99_9'
		echo ",,$1,150,5000,9000,20000"
	END
}

# compare ARGUMENTS...: one run with the folder's programs.
compare() {
	rm -f "$work"/bin/*.n "$work"/bin/*.told
	"$program" --programs "$work/bin" --out "$work/result" "$@" \
		>"$work/out" 2>"$work/err"
	status=$?
}

# says NAME STATUS FILE PATTERN...: it ended with that, and each is in the file.
says() {
	name=$1 wanted=$2 file=$3
	shift 3
	ok=yes
	[ $status -eq "$wanted" ] || ok=no
	for pattern in "$@"; do
		grep -qE -- "$pattern" "$file" || ok=no
	done
	report "$name" $ok "status $status, expected $wanted and: $*
$(cat "$file" "$work/err")"
}

steady='echo line_hop 25 futex_hop_p50 5000 futex_hop_p99 10000'
echo "$steady" | fake floor
result=$work/result

# ---- ratios and goals ----

# Ours takes 20, 40, 60: a third, two thirds and the whole of what Tokio does.
ours '$((20 * n))'
peer go ns_per_op 100
peer tokio ns_per_op 60
peer tbb ns_per_op 10
compare --works pingpong --workers 1 --rounds 3
says "the ratio is the median of the rounds', to the best peer that has actors" 0 \
	"$result/table.txt" \
	'^pingpong +1 +ns +40 \[20 \.\. 60\] +tokio 60 \[60 \.\. 60\] +0\.667 \[0\.333 \.\. 1\] +<= 0\.5 +NOT MET \(1 of 3\)$'
says "every system is in the second table" 0 "$result/table.txt" \
	'^work.* go .* tokio .* tbb \(tasks\)$' '100 \[100 \.\. 100\] +60 .* +10 '
says "a peer that is not there is named, and is no mistake" 0 "$result/table.txt" \
	'^left out: erlang: there is no program erlang'
says "the same in Markdown" 0 "$result/table.md" \
	'^\| pingpong \| 1 \| ns \| 40 .* 0\.667 .* NOT MET \(1 of 3\) \|$'
says "measured on the one worker's CPU, after a round to warm up" 0 "$work/bin/sched-bench.told" \
	'^run -w pingpong --round-trips 500000 --warmup 1ms --workers 1 --cpus [0-9]+ --generator-cpus [0-9]+ --record off'

# 3 rounds of 4 systems, and 3 numbers of the floor before and after each.
if [ "$(grep -c ',pingpong,.*,ns_per_op,' "$result/peers.csv")" -eq 12 ] &&
	[ "$(grep -c ',floor,' "$result/peers.csv")" -eq 18 ] &&
	grep -q '^[123],1,pingpong,[1-4],ours,ns_per_op,60\.0,ns,ok,,.$' "$result/peers.csv"; then
	report "every measurement is in peers.csv" yes
else
	report "every measurement is in peers.csv" no "$(cat "$result/peers.csv")"
fi
if command -v gnuplot >/dev/null; then
	holds "the picture is one" sh -c "head -c 4 '$result/ratios.png' | grep -q PNG"
else
	skips "the picture is one" "gnuplot is not installed"
fi
# Pictures take longer than all the rest.
mkdir "$work/path"
printf '#!/bin/sh\necho no pictures >&2; exit 1\n' >"$work/path/gnuplot"
chmod +x "$work/path/gnuplot"
PATH=$work/path:$PATH

ours 30
compare --works pingpong --workers 1,2 --rounds 1 --peers go,tokio --seed 7
says "a goal that is met, on the limit" 0 "$result/table.txt" \
	'^pingpong +2 .* 0\.5 \[0\.5 \.\. 0\.5\] +<= 0\.5 +met \(1 of 1\)$' 'seed 7'
says "without a picture there is all the rest" 0 "$work/out" \
	'^result: .*table.md; no ratios.png: gnuplot: no pictures\)$'

compare --works spawn_out --workers 1 --rounds 1 --peers go,tokio,tbb
says "tasks are not what spawning from outside is compared with" 0 "$result/table.txt" \
	'^spawn_out .* tokio 60 .* 0\.5 \[0\.5 \.\. 0\.5\]'
says "who comes from outside has a CPU of its own" 0 "$work/bin/sched-bench.told" \
	'--workers 1 --cpus [0-9]+ --generator-cpus [0-9]+ '

peer go bytes 400
peer tokio p50 8000 p99 30000 p99.9 100000
compare --works mem_idle,wake_poll --rounds 1 --peers go
says "memory has a limit of its own; polling is compared with a line" 0 "$result/table.txt" \
	'^mem_idle +2 +bytes +150 .* go 400 .* 0\.375 .* <= 160 bytes +met' \
	'^wake_poll p50 +1 +ns +5,000 .* line_hop 25 .* 200 .* <= 6 +NOT MET'
peer go ns_per_op 100
peer tbb ns_per_op 10
compare --works skynet --rounds 1 --peers go,tbb
says "tasks have a row of their own, for one worker" 0 "$result/table.txt" \
	'^skynet +1 .* tbb 10 .* <= 1\.5 +' '^skynet +2 .* go 100' \
	'^ratio to the best peer at most 0\.35: [0-9] of 2 rows$'
compare --works wake_sleep --workers 2 --rounds 1 --peers tokio
says "a wake is compared with a bare futex's of the same round" 0 "$result/table.txt" \
	'^wake_sleep p50 +2 .* futex_hop_p50 5,000 .* 1 \[.* <= 1\.15 +met' \
	'^wake_sleep p99 +2 .* futex_hop_p99 10,000 .* 0\.9 \[.* <= 1\.15 +met' \
	'^wake_sleep p99\.9 +2 .* - +-$'

# ---- who has no number ----

ours 20
peer go ns_per_op 100
echo "echo 'go: 999 messages, expected 1000' >&2; exit 1" | fake tokio
echo "echo 'caf: has no yield' >&2; exit 77" | fake caf
compare --works yield --workers 1 --rounds 2 --peers go,tokio,caf,erlang
says "wrong answers are reported, and have no number" 1 "$result/table.txt" \
	'^wrong: tokio: yield.* in 2 of its rounds: go: 999 messages, expected 1000' \
	'^yield +1 +ns +20 .* 100 .* - +-$' '^yield .* go 100 .* 0\.2 '
says "what a peer cannot do is said, and is no mistake" 1 "$result/table.txt" \
	'^cannot: caf: yield.*: caf: has no yield$'
peer go hello
echo 'kill -SEGV $$' | fake tokio
printf 'echo x >>"$0.n"\nsleep 60 & wait\n' | fake caf
compare --works yield --workers 1 --rounds 2 --peers go,tokio,caf --limit 3
says "what is no number is said, and is no mistake" 0 "$result/table.txt" \
	"^failed: go: .*: printed 'hello', expected 'ns_per_op NUMBER'\$"
says "a crash is said" 0 "$result/table.txt" '^failed: tokio: .* in 2 of its rounds: .*SIGSEGV'
says "who takes too long is not asked again" 0 "$result/table.txt" \
	'^late: caf: .* in 1 of its rounds: not done after 3 s'
[ "$(wc -l <"$work/bin/caf.n")" -eq 1 ] && once=yes || once=no
report "not asked again" "$once" "$(cat "$work/bin/caf.n")"
no_numbers() {
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=scripts/peers python3 - <<-'END'
		from run import OK, parse_pairs, read_csv
		names = ["p50", "p99"]
		assert parse_pairs("p50 1.5 p99 2e3\n", names) == {"p50": 1.5, "p99": 2000}
		for said in ("p50 0 p99 1", "p50 nan p99 1", "p50 -3 p99 1", "p50 inf p99 1",
		             "p50 1 p99", "p50 1", "", "p50 1 p99 2 p99.9 3", "p99 1 p50 2",
		             "p50 1 p99 2\nmore", "p50 1 p99 x"):
		    assert parse_pairs(said + "\n", names) is None, said
		assert parse_pairs("p50 1 p99 2", names) is None  # cut off
		head = "error_message,reason,a\n"
		assert read_csv(0, head + ",,7\n", "", {"x": "a"}, 1).values == {"x": 7}
		for rows in ("", ",,\n", ",,0\n", ",,7\n,,8\n", "ended,,7\n"):
		    assert read_csv(0, head + rows, "", {"x": "a"}, 1).outcome != OK, rows
		assert read_csv(3, head + ",,7\n", "no", {"x": "a"}, 1).outcome != OK
	END
}
holds "numbers are told from what is none" no_numbers
enough_wakes() {
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=scripts/peers python3 - <<-'END'
		from tables import WORKS
		for work in WORKS:
		    for metric in work.metrics:
		        if metric.name[:1] == "p" and metric.name[1:2].isdigit():
		            beyond = 1 - float(metric.name[1:]) / 100
		            assert min(work.n, work.quick_n) * beyond > 9.99, (work.name, metric.name)
	END
}
holds "ten samples lie beyond each percentile, without which ours prints none" enough_wakes
peer go ns_per_op 10
fake sched-bench <<-'END'
	echo 'error_message,reason,ns_per_op'
	echo 'wrong answer: 3 yields,,'
	exit 2
END
compare --works yield --workers 1 --rounds 1 --peers go
says "a wrong answer of ours is one, too" 1 "$result/table.txt" \
	'^wrong: ours: yield.*: wrong answer: 3 yields$' '^yield .* - .*not measured$'

# ---- rounds that are discarded ----

ours '$((20 * n))'
# A reading at the beginning of each turn, then one after each round: those of the
# first round differ by more than half.
fake floor <<-END
	$counter
	[ \$n -ne 1 ] || { echo line_hop 25 futex_hop_p50 9000 futex_hop_p99 10000; exit; }
	$steady
END
compare --works pingpong --workers 1 --rounds 2 --peers go
says "a round in which the machine changed is discarded, and made again" 0 "$result/table.txt" \
	'^3 rounds, 2 of them count' '^discarded: pingpong, 1 worker, round 1: futex_hop_p50 9000 ns before, 5000 ns after$' \
	'^pingpong +1 +ns +50 \[40 \.\. 60\]'
says "that is said at once" 0 "$work/err" 'discarded: pingpong, 1 worker, round 1'
grep -q '^1,.*,ours,.*,20\.0,.*futex_hop_p50 9000' "$result/peers.csv" && kept=yes || kept=no
report "what was discarded is in peers.csv, and says why" "$kept" "$(cat "$result/peers.csv")"

# The third turn is made in another state of the machine, before and after.
fake floor <<-END
	$counter
	case \$n in
	5 | 6) echo line_hop 60 futex_hop_p50 5000 futex_hop_p99 10000 ;;
	*) $steady ;;
	esac
END
compare --works pingpong --workers 1 --rounds 3 --peers go
says "so is one that is far from the run's median" 0 "$result/table.txt" \
	'^4 rounds, 3 of them count' 'round 3: line_hop 60 \.\. 60 ns, 25 ns in the median of this run'

fake floor <<-END
	$counter
	echo line_hop \$((25 * (1 + n % 2))) futex_hop_p50 5000 futex_hop_p99 10000
END
compare --works pingpong --workers 1 --rounds 2 --peers go
says "not for ever, and then it says what is missing" 1 "$result/table.txt" \
	'^6 rounds, 0 of them count' '^too few rounds: pingpong, 1 worker\(s\): 0 of 2 count' \
	'^pingpong .* - .* - .*not measured'
echo "$steady" | fake floor

# ---- order ----

orders() {
	compare --works yield --workers 1 --rounds 5 --peers go,caf --seed "$1"
	cut -d, -f1-5 "$result/peers.csv" >"$work/order.$2"
}
peer caf ns_per_op 20
orders 3 a
orders 3 b
orders 4 c
holds "a seed gives an order" cmp "$work/order.a" "$work/order.b"
cmp -s "$work/order.a" "$work/order.c" && other=no || other=yes
report "another gives another" "$other" "$(cat "$work/order.a")"

# ---- mistakes ----

refuses "a kind of work that there is not" 2 "there is no 'pong'; expected some of pingpong," --works pong
refuses "a peer that there is not" 2 "there is no 'java'" --peers go,java
refuses "the same twice, and more" 2 "something twice" --rounds 3 --works yield,yield
refuses "an unknown option" 2 "unrecognized arguments: --fast" --fast
refuses "no such programs" 2 "there is no program floor in" --programs "$work/none" --out "$work/none.out"
refuses "a CPU that there is not" 4 "CPU 99999 may not be used here" --cpus 0,99999
refuses "nothing to do" 2 "is done by so many workers" --works wake_poll --workers 2
refuses "no place for a result" 4 "--out: /dev/null/here: Not a directory" --out /dev/null/here
refuses "one CPU" 4 "2 CPUs are needed, not 1" --cpus 0

echo "1..$n"
