#!/bin/sh
# What the READMEs say under "To add ..." can be done: their examples are put into a
# copy of the tree, which builds without a warning and does what the examples say.
# usage: test_howto.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
tree=$work/tree
readmes="workloads/README.md harness/cli/README.md results/record/README.md
results/pictures/README.md affinity/profile/README.md scripts/peers/README.md"
mkdir -p "$tree"
cp -rp Makefile README.md core affinity workloads results harness scripts tests "$tree"
# shellcheck disable=SC2086
holds "each example has its place" python3 tests/scripts/howto.py "$tree" $readmes
cd "$tree" || exit
new=build/release/sched-bench
# Almost everything is built again, and need be neither fast nor small.
holds "all of them build" make -j "$(nproc)" O=build CFLAGS_release=-O0 FRAME= all build/release/tests/workloads/test_workloads
holds "the workload passes its test" build/release/tests/workloads/test_workloads
# Suspect on a busy machine, but never invalid.
holds "the workload runs" sh -c "$new run -w countdown --from 1000 -r 2 -d 10ms --warmup 0s \
	--workers 1 --title 'A title of mine' --no-plots -o '$work/result' >'$work/out'"
holds "the option is printed" grep -q '^A title of mine$' "$work/out"
holds "the option is in the help" sh -c "$new run --help | grep -q -e '--title'"
holds "the metric is a column" sh -c "head -1 '$work/result/runs.csv' | grep -q ',round_s,'"
holds "the metric has a value" sh -c "python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    assert 0 < float(row[\"round_s\"]) <= float(row[\"wall_s\"])' '$work/result/runs.csv'"
holds "the latency is measured" sh -c "$new run -w timers -r 1 -d 20ms --warmup 0s --record full \
	--workers 1 --no-plots -o '$work/timers' >'$work/out'"
holds "the latency has a value" sh -c "python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    assert float(row[\"timer_late_timed\"]) > 0 and float(row[\"timer_late_ns_max\"]) > 0' '$work/timers/runs.csv'"
holds "the latency has a picture" "$new" plot latency-timer-late "$work/timers" -o "$work/late.svg"
holds "the plot is drawn" "$new" plot throughput "$work/result" -o "$work/throughput.svg"
holds "the plot is a picture" grep -q '<svg' "$work/throughput.svg"
holds "the machine is listed" sh -c "$new topo list | grep -q '^desktop-8c'"
holds "the machine has its CPUs" sh -c "$new topo show --profile desktop-8c | grep -q '8 cores'"
holds "the peer gives an answer" sh -c "scripts/peers/python.py pingpong 1 1000 | grep -q '^ns_per_op [0-9.]*$'"
holds "the peer is in the table" sh -c "scripts/peers/peers.py --help | grep -q ' python'"
echo "1..$n"
