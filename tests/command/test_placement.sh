#!/bin/sh
# Where workers and generators run: masks, profiles, topo plan, and machines that
# are not this one. Prints TAP.
# usage: test_placement.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

is_json() {
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"
}

quick='--duration 1ms --warmup 0s --repetitions 2 --no-plots'

cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
# shellcheck disable=SC2086
holds "under taskset it succeeds" taskset -c "$cpu" "$program" run -w yield \
	--yields 100 $quick -q -o "$work/one"
only_cpu() {
	[ "$(cut -d, -f4,5 "$work/one/workers.csv" | sort -u)" = "$(printf '0,%s\nworker,os_cpu' "$cpu")" ]
}
holds "under taskset it uses only that CPU" only_cpu

# Generators and workers apart, on this machine.
cores=$("$program" topo plan --format csv | grep -c ',worker,')
generator_is_pinned() {
	[ "$(python3 tests/command/tools/masks.py look "$program" "$work/pinned" \
		--generator-cpus "$cpu")" = "$cpu" ]
}
no_worker_there() {
	! cut -d, -f5 "$work/pinned/workers.csv" | grep -qx "$cpu" &&
		grep -q "\"generator_cpus\": \"$cpu\"" "$work/pinned/meta.json"
}
emulated_is_not_pinned() {
	[ "$(python3 tests/command/tools/masks.py look "$program" "$work/loose" \
		--profile 'core:3 pu:1' --generator-cpus 1)" = \
		"$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status)" ] &&
		grep -q '"generator_cpus": "1"' "$work/loose/meta.json"
}
mask_is_restored() {
	mkdir "$work/bin" &&
		printf '#!/bin/sh\ntaskset -cp $$ | sed "s/.*: //" >"%s"\n' \
			"$work/gnuplot-mask" >"$work/bin/gnuplot" &&
		chmod +x "$work/bin/gnuplot" &&
		PATH="$work/bin:$PATH" "$program" run -w yield --yields 100 \
			--duration 1ms --warmup 0s -r 1 -q -o "$work/restored" \
			--generator-cpus "$cpu" &&
		[ "$(cat "$work/gnuplot-mask")" = "$(taskset -cp $$ | sed 's/.*: //')" ]
}
if [ "$cores" -gt 1 ]; then
	holds "--generator-cpus pins the thread that submits" generator_is_pinned
	holds "no worker is on its core, and meta.json names it" no_worker_there
	holds "children after the run have the whole mask again" mask_is_restored
else
	skips "--generator-cpus on this machine" "it has one core"
fi
holds "nothing is pinned in an emulated run" emulated_is_not_pinned

# What a run stands on changes while it measures.
outside_is_refused() {
	other=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	taskset -c "$cpu" "$program" run -w yield --generator-cpus "$other" \
		2>"$work/err"
	[ $? -eq 3 ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -q -- "--generator-cpus: .*CPU $other, which is not there or may" \
			"$work/err"
}
if [ "$(nproc)" -gt 1 ]; then
	holds "generator CPUs outside of the mask are refused" outside_is_refused
	holds "fewer usable CPUs: from then on invalid" \
		python3 tests/command/tools/masks.py move-main "$program" "$work/moved"
	holds "the terminal says so, too" grep -q \
		"repetition 99: invalid (the CPUs that may be used changed from" \
		"$work/moved.out"
	holds "the same in an emulated run" python3 tests/command/tools/masks.py move-main \
		"$program" "$work/moved-emulated" --profile 'core:2 pu:1'
	holds "a worker that is moved: from then on invalid" \
		python3 tests/command/tools/masks.py move-worker "$program" "$work/moved-worker"
else
	skips "CPUs that change during a run" "there is only one"
fi

# A profile that is not this machine.
emulated() {
	rm -rf "$work/emulated"
	# shellcheck disable=SC2086
	"$program" run --profile 'pack:2 numa:2 core:4 pu:2' -w skynet \
		--leaves 1000 --victim near $quick -o "$work/emulated" \
		>"$work/summary" && grep -q '^emulated: ' "$work/summary" &&
		head -1 "$work/summary" | grep -q "emulated: the times are this machine's.*--virtual" &&
		python3 - "$work/emulated" <<-'EOF'
			import csv, json, sys
			def read(name):
			    return list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv")))
			for name in "runs", "workers", "steals", "spins", "latency":
			    assert all(r["topology"] == "emulated" for r in read(name)), name
			assert all(r["valid"] == "emulated" for r in read("runs"))
			workers = read("workers")
			assert len(workers) == 2 * 16
			assert all(w["os_cpu"] == "" for w in workers)
			assert {w["node"] for w in workers} == {"0", "1", "2", "3"}
			assert {s["distance"] for s in read("steals")} == {"node", "remote"}
			meta = json.load(open(sys.argv[1] + "/meta.json"))
			assert meta["run"]["topology"] == "emulated"
			assert meta["profile"]["cores"] == "16"
		EOF
}
holds "a profile is emulated, and every file says so" again emulated
# shellcheck disable=SC2086
holds "a profile under taskset" taskset -c "$cpu" "$program" run -w yield \
	--profile spr-2s-snc4 --workers per-numa --yields 100 $quick -q -o "$work/spr"
not_elsewhere() {
	grep -q ',native$' "$work/one/runs.csv" && ! grep -q emulated "$work/one"/*.csv
}
holds "a run on this machine does not" not_elsewhere
for placement in compact scatter numa distrib; do
	# shellcheck disable=SC2086
	holds "--placement $placement" "$program" run -w yield --yields 100 \
		--placement $placement --no-smt $quick -q -o "$work/at $placement"
done
only_that_cpu() {
	# shellcheck disable=SC2086
	"$program" run -w yield --yields 100 --cpus "$cpu" $quick -q -o "$work/cpus" &&
		[ "$(cut -d, -f4,5 "$work/cpus/workers.csv" | sort -u)" = \
			"$(printf '0,%s\nworker,os_cpu' "$cpu")" ]
}
holds "--cpus uses only that CPU" only_that_cpu

# topo: what machine, and where workers would go.
holds "topo list" "$program" topo list
for profile in $("$program" topo list | cut -d' ' -f1) \
	"pack:2 numa:2 l3:2 core:4 pu:2" tests/topologies/*.xml; do
	for part in show plan export fingerprint "show --svg -" \
		"plan --format json --placement numa"; do
		# shellcheck disable=SC2086
		holds "topo $part --profile $profile" "$program" topo $part \
			--profile "$profile"
	done
done
plan_is_right() {
	"$program" topo plan --profile 'pack:2 numa:2 l3:2 core:4 pu:2' \
		--placement numa --workers 8 --format json >"$work/plan.json" &&
		python3 - "$work/plan.json" <<-'EOF'
			import json, sys
			plan = json.load(open(sys.argv[1]))
			assert plan["topology"] == "emulated"
			workers = plan["workers"]
			assert [w["cpu"] for w in workers] == [0, 2, 16, 18, 32, 34, 48, 50]
			assert [w["node"] for w in workers] == [0, 0, 1, 1, 2, 2, 3, 3]
			assert [(r["distance"], r["same"]) for r in plan["rings"]] == [
			    ("self", "pu"), ("smt", "core"), ("cache", "cache"),
			    ("node", "node"), ("remote", None)]
			assert workers[2]["cache"] == workers[3]["cache"]
			assert workers[2]["node"] != workers[0]["node"]
			assert plan["node_distances"] is None
		EOF
}
holds "topo plan says where, and whom to steal from" plan_is_right
rings_have_distances() {
	"$program" topo plan --profile ring-4s --workers per-numa |
		grep -q '^     0  remote at 21: 1 3 | remote at 31: 2$'
}
holds "topo plan has the machine's distances" rings_have_distances
round_trip() {
	"$program" topo export --profile laptop-6p8e >"$work/laptop.xml" &&
		[ "$("$program" topo fingerprint --profile "$work/laptop.xml")" = \
			"$("$program" topo fingerprint --profile laptop-6p8e)" ]
}
holds "topo export reads back" round_trip
is_svg() {
	"$program" topo show --profile ring-4s --svg "$work/ring.svg" &&
		python3 - "$work/ring.svg" <<-'EOF'
			import sys
			import xml.etree.ElementTree as tree
			words = [e.text for e in tree.parse(sys.argv[1]).iter() if e.text]
			assert "ring-4s (emulated)" in words
			assert sum("worker" in w for w in words) == 48
		EOF
}
holds "topo show --svg draws every worker" is_svg
mask_is_kept() {
	[ "$(taskset -c "$cpu" "$program" topo plan --format csv)" = \
		"$(printf 'worker,cpu,pu,core,cache,node,os_node,package,kind,role,topology\n0,%s,' "$cpu")$(
			taskset -c "$cpu" "$program" topo plan --format csv |
				tail -1 | cut -d, -f3-)" ]
}
holds "topo plan of this machine keeps to the mask" mask_is_kept
generators_are_planned() {
	"$program" topo plan --profile 'core:3 pu:2' --generator-cpus 3 \
		--workers per-pu --format json >"$work/generators.json" &&
		python3 - "$work/generators.json" <<-'EOF'
			import json, sys
			plan = json.load(open(sys.argv[1]))
			assert [w["cpu"] for w in plan["workers"]] == [0, 4, 1, 5]
			assert [(g["cpu"], g["core"]) for g in plan["generators"]] == [(3, 1)]
		EOF
}
holds "topo plan --generator-cpus keeps workers off the core" generators_are_planned
generators_are_shown() {
	set -- --profile 'core:3 pu:2' --generator-cpus 3
	"$program" topo plan "$@" | grep -q '^     G        3        3        1 ' &&
		"$program" topo plan "$@" --format csv |
		grep -q '^,3,3,1,.*,generator,emulated$' &&
		"$program" topo show "$@" |
		grep -q 'Core 1: CPU 2 \[kept free\], CPU 3 \[generator\]$' &&
		"$program" topo show "$@" --svg - | grep -q '>CPU 3 \[generator\]<'
}
holds "topo shows generators in every form" generators_are_shown
refuses "a generator CPU that is not there" 3 "--generator-cpus: .*CPU 4000" \
	run -w yield --generator-cpus 4000
refuses "generators leave nothing" 3 "--generator-cpus: leaves no CPU for workers" \
	topo plan --profile 'core:1 pu:2' --generator-cpus 0
refuses "only generators' cores are left" 3 "--cpus: names only cores" \
	topo plan --profile 'core:2 pu:2' --generator-cpus 0 --cpus 1
refuses "too many workers for the rest" 3 "more than the processing units.*(2)" \
	topo plan --profile 'core:2 pu:2' --generator-cpus 0 --workers 3
# What is there already and no file is written to, and stays what it is.
pipe_is_written() {
	mkfifo "$work/pipe" && : >"$work/target" && ln -s target "$work/link" || return 1
	"$program" topo show --profile ring-4s --svg "$work/link" &&
		test -L "$work/link" && cmp -s "$work/ring.svg" "$work/target" || return 1
	timeout 60 cat "$work/pipe" >"$work/piped.svg" &
	"$program" topo show --profile ring-4s --svg "$work/pipe" && wait $! &&
		test -p "$work/pipe" && cmp -s "$work/ring.svg" "$work/piped.svg"
}
holds "topo show --svg writes into a pipe, and through a link" pipe_is_written
this_machine_is_this_one() {
	"$program" topo plan --format csv >"$work/plan.csv" &&
		HWLOC_SYNTHETIC='numa:2 pu:1' "$program" topo plan --format csv |
		cmp -s - "$work/plan.csv"
}
holds "hwloc's environment does not make this machine another one" this_machine_is_this_one
odd_name() {
	name=$(printf '%s/odd\377.xml' "$work")
	"$program" topo export --profile ring-4s >"$name" &&
		"$program" topo plan --profile "$name" --format json >"$work/odd.json" &&
		is_json "$work/odd.json"
}
holds "a name that is no text is no error in JSON" odd_name
refuses "a name with a line break is one line" 3 'no.x0asuch' topo plan --profile "no
such"
refuses "an option that this part does not use" 3 "does not use it" topo show --format json
refuses "export has no workers" 3 "does not use it" topo export --workers 2
refuses "more workers than can be run" 3 "expected at most" \
	run -w yield --profile 'core:4001 pu:1'
if [ -c /dev/full ]; then
	full_is_said() {
		"$program" topo list >/dev/full 2>"$work/err"
		[ $? -eq 4 ] && grep -q 'standard output' "$work/err"
	}
	holds "a list that cannot be printed is status 4" full_is_said
else
	echo "# skipped: a full device: there is no /dev/full"
fi
refuses "unknown part of topo" 3 "did you mean 'show'" topo sho
refuses "an option that topo has not" 3 "unknown option '--wake'" topo plan --wake local
refuses "an option that only topo has" 3 "unknown option '--svg'" run -w yield --svg x
refuses "topo with a word too many" 3 "'ring-4s' is not expected" topo show ring-4s
refuses "a picture that cannot be written" 3 "cannot be written" topo show --svg /dev/null/x.svg
refuses "no room for the workers" 3 "more than the processing units.*(4)" \
	topo plan --profile 'core:4 pu:1' --workers 5
refuses "no caches to count" 3 "without a cache" topo plan --profile 'core:4 pu:1' \
	--workers per-l3

truncate -s 1G "$work/huge.xml"
printf '<?xml version="1.0"?>\n<topology version="2.0"><object' >"$work/cut.xml"
refuses "a huge file" 3 "larger than 64 MiB" run -w yield --profile "$work/huge.xml"
refuses "malformed XML" 3 "is not XML" run -w yield --profile "$work/cut.xml"
refuses "a missing file" 3 "there is no file" run -w yield --profile "$work/none.xml"
refuses "unknown profile, with a suggestion" 3 "did you mean 'graviton3'" \
	run -w yield --profile graviton
refuses "bad synthetic description" 3 "no synthetic description" \
	run -w yield --profile "pack:2 zebra:2"
refuses "a CPU that is not there" 3 "--cpus: .*CPU 4000" run -w yield --cpus 4000
refuses "bad location" 3 "--cpus: .*has no known type" run -w yield --cpus zebra:0

# with_quota MICROSECONDS ARGUMENT...: the program in a control group that may use so much of each 100 ms, by files that
# only it sees.
with_quota() {
	echo 0::/g >"$work/cgroup"
	# shellcheck disable=SC2016,SC2086
	unshare $mounts sh -c 'mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/g && echo "$2 100000" >/sys/fs/cgroup/g/cpu.max &&
		mount --bind "$1" /proc/$$/cgroup && program=$3 && shift 4 && exec "$program" "$@"' sh "$work/cgroup" "$1" "$program" "$@"
}
workers_of() { with_quota "$@" --format csv | grep -c ',worker,'; }
quota_limits_workers() {
	[ "$(workers_of 99000 topo plan)" = 1 ] && [ "$(workers_of 101000 topo plan)" = 2 ] &&
		[ "$(workers_of 9900000 topo plan)" = "$cores" ] && [ "$(workers_of max topo plan)" = "$cores" ] &&
		[ "$(SCHED_BENCH_WORKERS=2 workers_of 99000 topo plan)" = 2 ] && [ "$(workers_of 99000 topo plan --workers 2)" = 2 ] &&
		[ "$(workers_of 99000 topo plan --profile ring-4s)" = 48 ]
}
for mounts in -m -rm; do
	if [ "$cores" -gt 1 ] && with_quota max list workloads >/dev/null 2>&1; then
		holds "a CPU quota limits the default number of workers" quota_limits_workers
		break
	elif [ "$mounts" = -rm ]; then
		skips "a CPU quota limits the default number of workers" "one core, or no file system may be mounted"
	fi
done
echo "1..$n"
