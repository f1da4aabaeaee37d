#!/bin/sh
# Sweeps on a real Slurm with four nodes on this machine: the rows of a sweep that was run here, each
# once, whatever happens to nodes, jobs and the submitter meanwhile.
# usage: check_slurm.sh BUILD_DIRECTORY     (RUNS=1 runs with faults, SB_SEED=)
set -u
work=$(mktemp -d)
program=$(realpath "$1")/sched-bench
same=$PWD/scripts/same-virtual.py
rows=$PWD/tests/fleet/rows.py
. tests/tap.sh
. tests/fleet/cluster.sh
finish() {
	stop_cluster
	rm -rf "$work"
}

if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || [ "$(id -u)" -ne 0 ]; then
	skips "sweeps on Slurm" "expected root and Slurm's daemons: scripts/setup.sh slurm installs them"
	echo "1..$n"
	exit
fi
cd "$work" || exit 1
trap finish EXIT
trap "exit 1" HUP INT TERM
# Not in a shell of its own: what it sets is needed here.
if start_cluster "$work/cluster" >"$work/start.out" 2>&1; then
	report "a controller and four nodes" yes
else
	report "a controller and four nodes" no "$(cat "$work/start.out")"
fi
export TMPDIR="$work"
virtual='-w skynet --leaves 1000 --virtual --profile desktop-2ccd -L steal=half,one -L batch=1,16 -r 12 -d 1ms --warmup 0s --no-plots'
real='-w yield --yields 100 -L batch=1,16,32 -r 6 --seed 40 -d 1ms --warmup 0s --no-plots'

# shellcheck disable=SC2086
here() { "$program" sweep $virtual -q -o here; }
holds "48 rows here" here
# shellcheck disable=SC2086
there() { "$program" sweep $virtual -q --on slurm --chunks 8 -o there; }
holds "48 rows on four nodes" there
holds "the same to the byte" python3 "$same" here there
holds "and nothing else is left" [ ! -e there/chunks ]
# A row may be invalid, when others use this machine, too.
# shellcheck disable=SC2086
in_real_time() {
	"$program" sweep $real -q --on slurm:partition=p --chunks 3 -o real || [ $? -eq 2 ] || return 1
	python3 "$rows" real 18 --rounds 6 --seed 40
}
holds "real time: all rows, once, with their seeds" in_real_time
refuses "an option that sbatch does not have" 4 "sbatch failed" sweep -w yield -L batch=1,2 -q --on slurm:nosuchoption=1 -o x
holds "leaves nothing" [ ! -e x ]
refuses "another cluster" 3 "expected slurm" sweep -w yield -L batch=1,2 --on pbs -o y

# Two types of nodes, with two nodes each.
# shellcheck disable=SC2086
each_type() {
	fewer=$(echo "$virtual" | sed 's/-r 12/-r 4/')
	"$program" sweep $fewer --on slurm --chunks 2 --nodes-as series -o types >types.out || return 1
	for type in old new; do
		python3 "$rows" types/$type 16 --rounds 4 || return 1
	done
	grep -q '^skynet: over all machines' types.out && [ -s types/report.html ]
}
holds "a sweep of each type of node" each_type

# ---- faults ----
echo "# SB_SEED=${SB_SEED:=$$}"
seed=$SB_SEED
# below N: the next random number.
below() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	drawn=$((seed / 65536 % $1))
}
# job_of DIRECTORY: the name of its job.
job_of() {
	python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1] + "/sweep.db").execute("SELECT value FROM plan WHERE key = ?", ("job",)).fetchone()[0])' "$1"
}
# running DIRECTORY: its tasks that run, one a line.
running() {
	squeue --noheader --array --states=RUNNING --name="$(job_of "$1")" --format=%F_%K
}
# Each: DIRECTORY NUMBER.
a_node_dies() {
	kill_node $(($2 % 4))
	sleep 1
	start_node $(($2 % 4))
}
a_task_is_requeued() { scontrol requeue "$(running "$1" | head -1)"; }
a_time_limit_is_hit() { scontrol update "JobId=$(running "$1" | head -1)" EndTime=now+2seconds; }
# Slurm holds the task then, for an administrator. A requeued one starts again, if no other does; one
# that has just ended cannot be requeued.
a_task_cannot_start() {
	touch "$cluster/fail"
	while [ -e "$cluster/fail" ] && kill -0 "$submitter" 2>/dev/null; do
		a_task_is_requeued "$1"
		sleep 2
	done
	true
}
the_job_is_cancelled() { scancel --name="$(job_of "$1")"; }
the_submitter_dies() {
	kill -9 "$submitter"
	wait "$submitter" 2>/dev/null
	"$program" sweep --resume "$1" -q >"$1.out" 2>&1 &
	submitter=$!
}

# wait_for_task DIRECTORY: until one of its tasks runs, or its submitter has ended.
wait_for_task() {
	until running "$1" 2>/dev/null | grep -q _; do
		kill -0 "$submitter" 2>/dev/null || break
		sleep 0.1
	done
}
# with FAULT DIRECTORY TENTHS: a sweep in which that happens, so long after its first task has begun.
# shellcheck disable=SC2086
with() {
	"$program" sweep $virtual -q --on slurm --chunks 5 -o "$2" >"$2.out" 2>&1 &
	submitter=$!
	wait_for_task "$2"
	sleep "$(($3 / 10)).$(($3 % 10))"
	wait_for_task "$2"
	"$1" "$2" "$3" || return 1
	ends "$submitter" "$2.stuck" || {
		cat "$2.out" "$2"/chunks/*.out
		return 1
	}
	python3 "$rows" "$2" 48 --rounds 12
}
# ends PID FILE: in three minutes, and well; or what Slurm says, in that file first.
ends() {
	(
		for _ in $(seq 180); do
			kill -0 "$1" 2>/dev/null || exit
			sleep 1
		done
		squeue --array --states=all
		sinfo --Node --long
		kill -9 "$1"
	) >"$2" 2>&1 &
	wait "$1"
	ended=$?
	[ $ended -eq 0 ] || cat "$2"
	return $ended
}
# All at the same time: a node that dies has tasks of several.
faults='a_node_dies a_task_is_requeued a_time_limit_is_hit a_task_cannot_start the_job_is_cancelled the_submitter_dies'
run=1
while [ $run -le "${RUNS:-1}" ]; do
	for fault in $faults; do
		below 80
		with "$fault" "$fault.$run" "$drawn" >"$fault.$run.log" 2>&1 &
		eval "$fault=$!"
	done
	for fault in $faults; do
		ok=yes
		eval "wait \$$fault" || ok=no
		report "48 rows, once, though $(echo "$fault" | tr _ ' ') (run $run)" $ok "$(cat "$fault.$run.log")"
	done
	[ ! -e "$cluster/fail" ] || report "a task that cannot start (run $run)" no "no task has begun after that"
	run=$((run + 1))
done

echo "1..$n"
