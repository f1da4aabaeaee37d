#!/bin/sh
# `help` explains everything that has a name, and answers which command is for which question, as
# README.md does. Tables fit a narrow terminal with every number whole. Prints TAP.
# usage: test_help.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
export TERM=xterm LC_ALL=C.UTF-8

# explains PLURAL TITLE: each name of such a list.
explains() {
	"$program" list "$1" --format json |
		python3 -c 'import json, sys; [print(row["name"]) for row in json.load(sys.stdin)]' |
		sort -u >"$work/names"
	[ -s "$work/names" ] || return
	# Verbs and topics come first.
	"$program" list topics | cut -d' ' -f1 >"$work/others"
	"$program" | sed -n 's/^  \([a-z]*\) .*/\1/p' >>"$work/others"
	grep -vxF -f "$work/others" "$work/names" | while read -r name; do
		"$program" help "$name" >"$work/out" && grep -q "^$2:" "$work/out" || exit 1
	done
}
while read -r plural title; do
	holds "help explains each of $plural" explains "$plural" "$title"
done <<'EOT'
workloads Workload
parameters Parameter of a workload
options Option
metrics Metric
policies Policy
validity Rule of validity
profiles Profile of a machine
models Model of a machine
pictures Picture
formats Format
EOT
says() {
	pattern=$1
	shift
	"$program" help "$@" | grep -q -e "$pattern"
}
holds "an option with its dashes" says "^ *--spin-yield N" --spin-yield
holds "an option by its letter" says "^  -w, --workload" -w
holds "its values, its twin, its policies" says "with --policy spec: global" wake
holds "everything of a name" says "^Picture:" load
holds "several names" says "^Metric:" spin-yield ns_per_op
holds "an option that has a topic's name, and then the topic" says "^  *--placement compact" placement
holds "an option whose row has its form" says "^closed, in sched-bench help requests:" closed
holds "an option whose values are a table" says "^ *and the latencies of all" record
holds "the topic behind it" says "^# affinity" placement
holds "what a line of help is too short for" says "^event-time, in sched-bench help jobs:" event-time

# The first column of README.md's table, and every command of the second.
agrees() {
	"$program" help questions >"$work/questions"
	python3 - README.md "$work/questions" <<-'EOT'
		import re, sys
		readme, told = (open(name).read() for name in sys.argv[1:])
		table = readme.split("## Which question, which command")[1].split("|---|---|\n")[1].split("\n\n")[0]
		rows = [row.strip("| ").split(" | ") for row in table.splitlines()]
		assert len(rows) > 10
		lines = told.splitlines()
		for question, command in rows:
		    assert question in lines, question
		    answer = lines[lines.index(question) + 1]
		    for part in re.findall(r"`([^`]+)`", command):
		        assert part in answer, (part, answer)
		assert not re.search(r"[`\[]|\]\(", told), told
	EOT
}
holds "help questions is README.md's table" agrees

# Each verdict on a row leads to the rules that decide it.
verdicts() {
	for verdict in $("$program" list verdicts | cut -d' ' -f1); do
		"$program" help "$verdict" >"$work/out" && grep -q '^warm-up ' "$work/out" || return
		grep -q 'sched-bench help validity' "$work/out" || return
	done
	[ "$verdict" = invalid ]
}
holds "help of a verdict leads to the rules of validity" verdicts
# In a list of options: each first word of a command is a verb.
asks_verbs() {
	sed -n '/^    /{s/^ *//; s/,//g; p;}' "$work/questions" | while read -r verb _; do
		"$program" "${verb%%[;:]}" --help >"$work/out" || exit 1
	done
}
holds "and names verbs that there are" asks_verbs
holds "the help names it" sh -c "'$program' | grep -q 'help questions'"

# ---- tables on narrow terminals ----

# fits COLUMNS ARGUMENT...: no line is wider, and every number and word that is there without a
# terminal is there, too.
fits() {
	columns=$1
	shift
	"$program" "$@" >"$work/wide"
	python3 tests/command/tools/terminal.py "$columns" "$program" "$@" | tr -d '\r' |
		sed "s/$(printf '\033')\[[0-9;]*m//g" >"$work/narrow"
	python3 - "$columns" "$work/wide" "$work/narrow" <<-'EOT'
		import sys
		wide, narrow = (open(name).read() for name in sys.argv[2:])
		longest = max(narrow.splitlines(), key=len)
		assert len(longest) <= int(sys.argv[1]), longest
		assert max(map(len, wide.splitlines())) > int(sys.argv[1])
		missing = set(wide.replace(",", " ").split()) - set(narrow.replace(",", " ").split())
		assert not missing, missing
	EOT
}
# is_narrow COLUMNS ARGUMENT...: no line is wider; what is measured is other each time.
is_narrow() {
	columns=$1
	shift
	python3 tests/command/tools/terminal.py "$columns" "$program" "$@" >"$work/narrow"
	tr '\r' '\n' <"$work/narrow" | sed "s/$(printf '\033')\[[0-9;]*[mK]//g" >"$work/lines"
	[ -s "$work/lines" ] && [ "$(wc -L <"$work/lines")" -le "$columns" ]
}
brackets() {
	is_narrow 80 help summary && grep -qF 'time/op [min .. max]' "$work/lines"
}
holds "code in a table keeps its brackets" brackets
links() {
	python3 tests/command/tools/terminal.py 100 "$program" help traces start page >"$work/narrow" &&
		! grep -q '](' "$work/narrow" && grep -qF '(https://www.speedscope.app)' "$work/narrow"
}
holds "links are their text, and addresses" links
for name in "" workers profile format policies; do
	holds "help ${name:-without a name} fits 80 columns" is_narrow 80 help ${name:+"$name"}
done
holds "run --help fits 80 columns" is_narrow 80 run --help
holds "topo plan fits 60 columns" fits 60 topo plan --profile epyc-2s-nps4 --workers 4
for columns in 40 60; do
	holds "check fits $columns columns" is_narrow $columns check
	holds "calibrate fits $columns columns" is_narrow $columns calibrate --quick --only atomic
	holds "list metrics fits $columns columns" fits $columns list metrics
	holds "list validity fits $columns columns" fits $columns list validity
	holds "list profiles fits $columns columns" fits $columns list profiles
	holds "help questions fits $columns columns" fits $columns help questions
done
echo "1..$n"
