# completion.bash - completion for bash: the command itself says what may follow.
# shellcheck shell=bash
_sched_bench() {
	local program=${COMP_WORDS[0]/#\~/$HOME}

	mapfile -t COMPREPLY < <("$program" complete bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	[[ ${COMPREPLY[*]-} != *[=:/] ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _sched_bench sched-bench
