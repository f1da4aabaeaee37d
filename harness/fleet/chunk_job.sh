# shellcheck shell=sh disable=SC2154
# Runs one chunk on this node's own disk, and copies its store to the sweep's result directory:
# as sweep.db if the chunk has completed, else as partial.db, from which the next try continues.
set -u
number=$SLURM_ARRAY_TASK_ID
shared=$chunks/$number
[ ! -L "$shared" ] && mkdir -p "$shared" || exit 4
local=$(mktemp -d "${TMPDIR:-/tmp}/sched-bench.XXXXXX") || exit 4
trap 'rm -rf "$local"' EXIT

# keep NAME: the rows so far, whole or not at all.
keep() {
	[ -f "$local/rows/sweep.db" ] || return 1
	rm -f "$shared/$1.new"
	cp "$local/rows/sweep.db" "$shared/$1.new" && mv "$shared/$1.new" "$shared/$1"
}
# run COMMAND...: to its end; at the time limit it ends its row, and is as after Ctrl-C.
run() {
	"$@" &
	child=$!
	trap 'echo "stopped before its end, by its time limit or by scancel"; kill -INT $child' TERM
	wait $child
	status=$?
	if [ $status -gt 128 ]; then
		wait $child
		status=$?
	fi
	trap - TERM
	return $status
}
from_the_start() {
	rm -rf "$local/rows"
	run "$program" sweep "$@" --chunk "$number/$of" --output "$local/rows" --quiet
}
# Rows of real time are of one machine, so a chunk does not go on elsewhere. The command line is
# given again, which allows its plug-ins.
go_on() {
	mkdir "$local/rows" && cp "$shared/partial.db" "$local/rows/sweep.db" &&
		run "$program" sweep --resume "$local/rows" "$@" --quiet
}

[ -f "$shared/sweep.db" ] && exit 0
echo "chunk $number of $of on $(hostname), $(date -u +%Y-%m-%dT%H:%M:%SZ)"
status=3
if [ -f "$shared/partial.db" ]; then
	go_on "$@"
	status=$?
fi
if [ $status -eq 3 ]; then
	from_the_start "$@"
	status=$?
fi
if [ $status -eq 0 ]; then
	keep sweep.db && rm -f "$shared/partial.db"
else
	keep partial.db
	exit $status
fi
