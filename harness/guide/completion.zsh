#compdef sched-bench
# completion.zsh - completion for zsh: the command itself says what may follow.
local line
local -a open open_lines whole whole_lines
for line in "${(@f)$(${(Q)words[1]/#\~/$HOME} complete zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
	[[ -n $line ]] || continue
	if [[ ${line%%$'\t'*} == *[=:/] ]]; then
		open+=("${line%%$'\t'*}")
		open_lines+=("${line/$'\t'/  -- }")
	else
		whole+=("${line%%$'\t'*}")
		whole_lines+=("${line/$'\t'/  -- }")
	fi
done
if (( ! $#open && ! $#whole )); then
	_files
	return
fi
compadd -l -d whole_lines -a whole
compadd -l -S '' -d open_lines -a open
