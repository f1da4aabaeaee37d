#!/bin/sh
# Machines of a fleet in one file, and results of several machines: each is what it was packed from,
# and none is compared with another unasked.
# usage: test_machines.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

program=$(realpath "$1")/sched-bench
same=$PWD/scripts/same-virtual.py
cd "$work" || exit 1

# ---- packs ----
packed() {
	for name in xeon-2s epyc-2s-nps4 desktop-2ccd laptop-6p8e; do
		"$program" topo pack -o fleet.json --profile $name || return 1
	done
}
holds "four machines in a file" packed
at_once() {
	for name in xeon-2s epyc-2s-nps4 desktop-2ccd laptop-6p8e; do
		"$program" topo pack -o together.json --profile $name &
		pids="${pids-} $!"
	done
	for pid in $pids; do wait "$pid" || return 1; done
	python3 -c 'import json; assert sorted(m["name"] for m in json.load(open("together.json"))["machines"]) == ["desktop-2ccd", "epyc-2s-nps4", "laptop-6p8e", "xeon-2s"]'
}
holds "also at the same time" at_once
same_machine() {
	[ "$("$program" topo fingerprint --profile fleet.json:xeon-2s)" = "$("$program" topo fingerprint --profile xeon-2s)" ]
}
holds "one of them has the fingerprint that it was packed with" same_machine
renamed() {
	"$program" topo pack -o own.json --name here && "$program" topo pack -o own.json --name here &&
		"$program" topo show --profile own.json | head -1 | grep -q '^own.json (emulated)'
}
holds "packed twice it is there once, and needs no name" renamed
refuses "a machine that is not there" 3 "no machine 'n9'; expected fleet.json:NAME, one of xeon-2s, epyc" topo show --profile fleet.json:n9
refuses "no name, and several machines" 3 "has no machine ''" topo show --profile fleet.json
refuses "no such file" 3 "'none.json' cannot be read" topo show --profile none.json:n1
echo '{"sched_bench_pack": 2}' >later.json
refuses "another file" 3 "'later.json' holds no machines" topo show --profile later.json:n1
sed 's/<topology/<topologie/' fleet.json >broken.json
refuses "a machine that hwloc cannot read" 3 "is not XML of a machine" topo show --profile broken.json:xeon-2s
refuses "nowhere to write" 3 "expected -o FILE.json" topo pack
refuses "a file of another name" 3 "expected a name in .json" topo pack -o fleet.xml

# ---- results of several machines ----
if has_virtual; then
	# shellcheck disable=SC2086
	sweep_of() {
		"$program" sweep -w skynet --leaves 1000 --virtual --profile "$1" --workers 2 -L steal=half,one -L batch=1,16 -r 6 -d 1ms --warmup 0s --no-plots -q -o "$2"
	}
	modelled() {
		sweep_of xeon-2s named && sweep_of fleet.json:xeon-2s packed && python3 - <<-'EOP'
			import csv
			def read(directory):
			    return [(r["ns_per_op"], r["steps"]) for r in csv.DictReader(open(directory + "/runs.csv"))]
			assert read("named") == read("packed"), "another model"
		EOP
	}
	holds "a packed machine has the times of the one that it was packed from" modelled
	refuses "a machine without a model" 3 "own.json' has no model; expected --model" \
		run -w yield --virtual --profile own.json -o x
	others() { sweep_of fleet.json:epyc-2s-nps4 epyc && sweep_of fleet.json:desktop-2ccd desktop && sweep_of fleet.json:laptop-6p8e laptop; }
	holds "sweeps of four machines" others
	refuses "two machines compared" 3 "A is of machine '.*xeon-2s'.*expected results of one, or --across" compare packed epyc
	across() { "$program" compare --across packed epyc >across.out; }
	holds "they are compared with --across" across
	# The table by another way, from the rows.
	table() {
		"$program" report packed epyc desktop laptop -o page.html && "$program" report packed epyc desktop laptop -o page.md &&
			python3 - <<-'EOP'
				import csv, math, re, statistics
				values = {}
				for machine in "packed", "epyc", "desktop", "laptop":
				    rows = {}
				    for r in csv.DictReader(open(machine + "/runs.csv")):
				        rows.setdefault(re.sub(".*(steal=\\S+) (batch=\\S+).*", "\\1 \\2", r["label"]), []).append(float(r["ns_per_op"]))
				    values[machine] = {s: statistics.geometric_mean(v) for s, v in rows.items()}
				best = {m: min(v.values()) for m, v in values.items()}
				settings = list(values["packed"])
				total = {s: sum(math.log(values[m][s] / best[m]) for m in values) for s in settings}
				overall = [s for s in settings if total[s] < min(total.values()) + 1e-9]
				text = open("page.md").read()
				said = re.search(r"over all machines (steal=\w+ batch=\d+) has the lowest ns", text).group(1)
				assert said in overall, (said, total)
				assert "steal=half batch=16" not in overall or said == "steal=half batch=16", (said, total)
				rows = re.findall(r"^\| .*fleet.json:(\S+) \| (\w+) \| (.*?) \| .*\| ([\d.]+) *%? \|$", text, re.M)
				assert len(rows) == 4, text[:1500]
				for _, machine, setting, loss in rows:
				    assert values[machine][setting] == best[machine], (machine, setting)
				    expected = 100 * (values[machine][said] / best[machine] - 1)
				    assert abs(float(loss) - expected) < 0.06 + expected / 50, (machine, loss, expected)
				page = open("page.html").read()
				assert said in page and "id=\"machines\"" in page
			EOP
	}
	holds "their page has the best setting of each and of all" table
	each() {
		# shellcheck disable=SC2086
		"$program" sweep -w skynet --leaves 1000 --virtual --profile fleet.json --workers 2 -L steal=half,one -L batch=1,16 -r 6 -d 1ms --warmup 0s --no-plots -o each >each.out &&
			grep -q '^skynet: over all machines steal=' each.out && grep -q 'a directory for each of 4 machines' each.out &&
			[ -s each/report.html ] && for name in xeon-2s:packed epyc-2s-nps4:epyc desktop-2ccd:desktop laptop-6p8e:laptop; do
				cut -d, -f1-3 "each/${name%:*}/runs.csv" >one
				cut -d, -f1-3 "${name#*:}/runs.csv" | cmp - one || return 1
			done
	}
	holds "a sweep over all machines of a file is a sweep of each" each
	# One machine's sweep has lost its last repetitions, and another has not begun.
	continued() {
		cp -r each whole && rm -r each/laptop-6p8e each/report.html each/desktop-2ccd/result.json &&
			python3 -c 'import sqlite3; c = sqlite3.connect("each/desktop-2ccd/sweep.db"); c.execute("DELETE FROM row WHERE repetition > 2"); c.commit()' &&
			"$program" sweep --resume each >continued.out && grep -q 'a directory for each of 4 machines' continued.out &&
			[ -s each/report.html ] || return 1
		for name in desktop-2ccd laptop-6p8e; do
			python3 "$same" whole/$name each/$name || return 1
		done
	}
	holds "it is continued where it was stopped" continued
	refuses "other options beside --resume" 3 "workload=yield is not expected; expected --resume DIRECTORY alone" \
		sweep --resume -w yield -L batch=3,4 -o each
	refuses "another sweep into that directory" 3 "already holds sweeps; expected a new one" \
		sweep -w skynet --virtual --profile fleet.json -L batch=2,4 --no-plots -o each
	keeps_the_objective() {
		"$program" sweep -w skynet --leaves 1000 --virtual --profile fleet.json --workers 2 -L steal=half,one -r 2 -d 1ms --warmup 0s --no-plots -q --objective cpu_ns_per_op -o aim &&
			python3 -c 'import sqlite3; c = sqlite3.connect("aim/xeon-2s/sweep.db"); c.execute("DELETE FROM row WHERE repetition > 0"); c.commit()' &&
			rm aim/xeon-2s/result.json && "$program" sweep --resume aim -q && python3 -c 'import json; assert json.load(open("aim/xeon-2s/result.json"))["sched_bench"]["meta"]["objectives"] == {"skynet": "cpu_ns_per_op"}'
	}
	holds "--resume keeps the objective" keeps_the_objective
	echo '{"sweeps": {"../b": ["sweep"]}}' >each/machines.json
	refuses "a plan with a path" 3 "machines.json has no sweeps" sweep --resume each
	echo '{}' >each/machines.json
	refuses "a plan without sweeps" 3 "machines.json has no sweeps; expected what a sweep of several machines has written" sweep --resume each
	refuses "a dry run starts none of them" 3 "has no machine ''; expected fleet.json:NAME" \
		sweep -w yield --virtual --profile fleet.json -L batch=1,2 --dry-run -o dry
	holds "and leaves nothing" [ ! -e dry ]
	alone() { "$program" report packed -o alone.html && ! grep -q 'id="machines"' alone.html; }
	holds "that of one machine has no such table" alone
else
	skips "results of several machines" "this build has no virtual time"
fi

echo "1..$n"
