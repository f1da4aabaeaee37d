# completion.fish - completion for fish: the command itself says what may follow.
function __sched_bench_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l found ($program complete fish -- $words "$current" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c sched-bench -f -a '(__sched_bench_complete)'
