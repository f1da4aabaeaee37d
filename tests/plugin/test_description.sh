#!/bin/sh
# Workloads that a file describes: the examples in each verb, in real and in virtual time, what they
# do by numbers that are known, and mistakes, each refused with its line and column.
# usage: test_description.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

program=$(realpath "$1")/sched-bench
cp workloads/described/examples/*.ini "$work"
cd "$work" || exit 1
quick='-r 2 -d 20ms --warmup 0s --workers 1 --late 1s --no-plots -q'

# ---- the examples ----

# example NAME DIRECTORY OPTION...
# shellcheck disable=SC2086
example() {
	name=$1 directory=$2
	shift 2
	rm -rf "$directory"
	"$program" run -w "./$name.ini" $quick -o "$directory" "$@" || [ $? -eq 2 ] || return 1
	[ "$(grep -c "^$name.*,\(valid\|suspect\)," "$directory/runs.csv")" -eq 2 ]
}
for name in web-tier sensors chat; do
	holds "$name" again example $name $name
done
holds "with another number of processes" again example web-tier other --database 2
help_of_it() {
	"$program" help ./web-tier.ini >text && grep -q -- '--database .*processes of the kind database' text &&
		grep -q 'metric database_ns_p99 (ns)' text
}
holds "help names its parameters and metrics" help_of_it
own_rate() { python3 -c 'import json; o = json.load(open("web-tier/result.json"))["sched_bench"]["meta"]["options"]; assert o["rate"] == "20k/s", o'; }
holds "requests come as often as it says" own_rate
# shellcheck disable=SC2086
closed() { "$program" run -w ./web-tier.ini $quick --closed 4 -o closed || [ $? -eq 2 ]; }
holds "or as an option says" closed

# ---- what is known ----

cat >known.ini <<'END'
[workload]
doc = calls whose number is known

[front]
processes = 2
call = 3 leaf, each branch
send = branch
call = branch

[branch]
processes = 5
call = 2 leaf

[leaf]
processes = 3
state = 1KiB
work = 100ns
END
# A busy machine may complete too few requests for a percentile; the counts must be right all the same.
# shellcheck disable=SC2086
run_known() {
	rm -rf known
	"$program" run -w ./known.ini $quick --closed 4 -o known || [ $? -eq 2 ] || return 1
	python3 -c 'import json; assert all("front_ns_p50" in b["sched_bench"] for b in json.load(open("known/result.json"))["benchmarks"])'
}
known() {
	again run_known || return 1
	python3 - <<-'EOP'
		import json
		rows = [b["sched_bench"] for b in json.load(open("known/result.json"))["benchmarks"]]
		assert rows
		for row in rows:
		    # 3 of the front's own, and 2 from each of 5 + 1 + 1 branches.
		    assert row["front_per_op"] == 1 and row["branch_per_op"] == 7, row["branch_per_op"]
		    assert row["leaf_per_op"] == 17, row["leaf_per_op"]
		    assert 0 < row["leaf_ns_p50"] <= row["branch_ns_p50"] <= row["front_ns_p50"]
		    assert row["front_ns_p50"] <= 1.1 * row["sojourn_ns_p50"], row
	EOP
}
holds "calls, those in parallel, and each: as many requests as there must be" known
# Half of the requests, within six standard deviations.
# shellcheck disable=SC2086
share() {
	printf '[workload]\ndoc=x\n[a]\ncall=50%% b\n[b]\nprocesses=3\n' >share.ini
	"$program" run -w ./share.ini $quick --closed 4 -o share || [ $? -eq 2 ] || return 1
	python3 - <<-'EOP'
		import json
		for b in json.load(open("share/result.json"))["benchmarks"]:
		    row = b["sched_bench"]
		    assert abs(row["b_per_op"] - 0.5) < 3 / row["operations"] ** 0.5, row["b_per_op"]
	EOP
}
holds "a share of the requests" share
told() { "$program" run -w ./known.ini --closed 4 -r 1 -d 5ms --warmup 0s --workers 1 --no-plots -o told >text || [ $? -eq 2 ]; grep -q '^  leaf_per_op  *17 ' text; }
holds "the terminal has a kind's metrics" told

# ---- other verbs ----

# shellcheck disable=SC2086
sweep() {
	rm -rf swept
	"$program" sweep -w ./web-tier.ini -L database=1,8 $quick -o swept --objective database_ns_p50 || [ $? -eq 2 ]
	[ "$(grep -c 'database:[18]/.*,\(valid\|suspect\)' swept/runs.csv)" -eq 4 ]
}
holds "a sweep over a kind's processes, by a kind's metric" again sweep
# shellcheck disable=SC2086
job() {
	printf '[a]\nworkload=./chat.ini\nroom=4\n' >job.ini
	"$program" run job.ini $quick -o job || [ $? -eq 2 ]
}
holds "a job file" job
page() { "$program" report web-tier --format html -o page.html && grep -q database_ns_p50 page.html; }
holds "a page of a stored result, with a kind's metrics" page
limits() {
	"$program" compare web-tier web-tier --metric database_ns_p50 >text || [ $? -eq 2 ]
	grep -q database_ns_p50 text
}
holds "two stored results are compared by one" limits

if has_virtual; then
	virtual() {
		"$program" run -w "./$1.ini" --virtual --profile epyc-2s-nps4 --workers 16 -r 1 -d 5ms -q --no-plots -o "virtual.$2" &&
			cut -d, -f1-7 "virtual.$2/runs.csv" >"$2.figures"
	}
	same() {
		virtual "$1" "$1.1" && virtual "$1" "$1.2" && cmp "$1.1.figures" "$1.2.figures" &&
			grep -q valid "virtual.$1.1/runs.csv"
	}
	for name in web-tier sensors chat; do
		holds "virtual time: $name, twice the same" same $name
	done
	holds "schedules that look for bugs" "$program" explore -w ./known.ini --schedules 20
	gate() {
		"$program" gate -w ./sensors.ini --virtual --profile xeon-2s --workers 4 -d 5ms --save-baseline base.csv -q &&
			"$program" gate -w ./sensors.ini --virtual --profile xeon-2s --workers 4 -d 5ms --baseline base.csv -q
	}
	holds "a gate" gate
else
	skips "virtual time" "this build has none"
fi

# ---- mistakes ----

# mistake LINE:COLUMN PATTERN TEXT: that description is refused there.
mistake() {
	printf '%b' "$3" >wrong.ini
	refuses "$2" 3 "wrong.ini:$1: .*$2" run -w ./wrong.ini
}
head='[workload]\ndoc=x\n'
# of LINE:COLUMN PATTERN TEXT: the same, with the text behind [workload], from its third line on.
of() { mistake "$1" "$2" "$head$3"; }
mistake 1:1 'expected a section \[workload\]' ''
mistake 1:1 'expected a section \[workload\]' '[frontend]\nwork=1us\n'
mistake 1:1 'a job file goes without -w' '[A]\nworkload=yield\n'
mistake 1:1 'expected a section for each' '[workload]\ndoc=x\n'
mistake 1:1 'lacks doc' '[workload]\n[a]\n'
mistake 3:1 'doc is there already' '[workload]\ndoc=x\ndoc=y\n[a]\n'
mistake 2:1 'doc has no value' '[workload]\ndoc\n[a]\n'
mistake 2:1 "unknown entry 'docs'; expected doc, rate or arrival" '[workload]\ndocs=x\n[a]\n'
mistake 3:1 'is there already' '[workload]\ndoc=x\n[workload]\n'
of 3:6 "rate: '20k' is not valid; expected a rate" 'rate=20k\n[a]\n'
of 3:6 "rate: '0/s' is not valid" 'rate=0/s\n[a]\n'
of 3:9 'arrival: ' 'arrival=sometimes\n[a]\n'
of 3:1 'is no name of a kind' '[A]\n'
of 3:1 'is no name of a kind' '[front end]\n'
of 5:1 'section \[a\] is there already' '[a]\nwork=1us\n[a]\n'
of 4:1 "unknown entry 'process'; expected processes, state, work, call or send" '[a]\nprocess=3\n'
of 4:11 "processes: '0' is not valid" '[a]\nprocesses=0\n'
of 4:11 "processes: 'many' is not valid" '[a]\nprocesses=many\n'
of 5:1 'processes is there already' '[a]\nprocesses=3\nprocesses=4\n'
of 4:7 "state: '10' is not valid; expected a size" '[a]\nstate=10\n'
of 4:7 "state: '2TiB' is not valid" '[a]\nstate=2TiB\n'
of 4:6 'work: ' '[a]\nwork=soon\n'
of 4:10 'work: ' '[a]\nwork=10% exp\n'
of 4:6 'no share of the requests' '[a]\nwork=0% 1us\n'
of 4:6 'no share of the requests' '[a]\ncall=120% b\n[b]\n'
of 4:6 'there is no such kind' '[a]\ncall=c\n[b]\n'
of 4:8 'there is no such kind' '[a]\ncall=2 c\n[b]\n'
of 4:6 'does not stand below' '[a]\ncall=a\n'
of 6:6 'so that calls do not go in circles' '[a]\ncall=b\n[b]\ncall=a\n'
of 4:8 'expected a comma' '[a]\ncall=b c\n[b]\n[c]\n'
of 4:8 'a name is missing' '[a]\ncall=b,\n[b]\n'
of 4:6 'no number of processes' '[a]\ncall=0 b\n[b]\n'
of 5:1 '\[b\] has 1 processes, and 3 are called at once' '[a]\ncall=3 b\n[b]\n'
of 5:1 'nobody calls \[b\]' '[a]\nwork=1us\n[b]\n'
of 3:1 'its metric would be wake_ns_p50' '[wake]\nwork=1us\n'
of 4:22 'at most 8 at once' '[a]\ncall=b,b,b,b,b,b,b,b,b\n[b]\n'
works='work=1us\nwork=1us\nwork=1us\nwork=1us\n'
of 20:1 'one entry too many' "[a]\n$works$works$works${works}work=1us\n"
of 3:3 'has no end' '[a\n'
printf '%b' "${head}[rate]\nwork=1us\n" >rate.ini
refuses "a name that an option has" 3 "its parameter 'rate' has the name of an option" run -w ./rate.ini
refuses "a file that is missing" 3 'there is no such file; expected a workload, .so, .c or .ini' run -w ./none.ini
refuses "a job file in its place" 3 'expected a section \[workload\]' run -w ./job.ini
refuses "it in a job file's place" 3 'web-tier.ini:' run ./web-tier.ini
echo "1..$n"
