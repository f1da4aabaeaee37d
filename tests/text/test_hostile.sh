#!/bin/sh
# Texts of a stranger's result or store, and names on the command line, are nothing but text in all
# that the command prints and writes. Prints TAP.
# usage: test_hostile.sh BUILD_DIRECTORY
set -u
program=$(realpath "$1/sched-bench")
hostile=$PWD/tests/text/hostile.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
cd "$work" || exit 1

quick='-d 1ms -r 2 --warmup 1ms --no-plots'
# shellcheck disable=SC2086
again "$program" run -w pingpong $quick -q -o from >/dev/null 2>&1
mkdir evil
python3 "$hostile" make from evil/result.json
cp -r evil other

# prints NAME ARGUMENT...: whatever its status, what it prints is tame.
prints() {
	name=$1
	shift
	"$program" "$@" >"$name.out" 2>"$name.err"
	[ -s "$name.out" ] || [ -s "$name.err" ] || return 1
	python3 "$hostile" terminal "$name.out" "$name.err"
}
holds "compare prints text alone" prints compare compare evil other
page() {
	"$program" report evil -o page.html && python3 "$hostile" html page.html
}
holds "a page has no elements of a stranger" page
markdown() {
	"$program" report evil --format md -o page.md && python3 "$hostile" markdown page.md
}
holds "Markdown has no links and mentions of a stranger" markdown
tables() {
	prints csv convert evil --to csv -o csv && python3 "$hostile" csv csv
}
holds "no cell of CSV is a formula, and its text can be had back" tables
metrics() {
	"$program" convert evil --to openmetrics -o - >metrics && python3 "$hostile" openmetrics metrics
}
holds "OpenMetrics has whole lines" metrics
others() {
	for to in gbench hdr benchstat gh-action; do
		prints "$to" convert evil --to "$to" -o "$to.txt" || return 1
	done
}
holds "other formats can be written" others
if command -v gnuplot >/dev/null; then
	pictures() {
		prints plot plot all evil && [ ! -e X ] && [ ! -e evil/plots/X ]
	}
	holds "gnuplot runs no command of a stranger" pictures
else
	skips "gnuplot runs no command of a stranger" "gnuplot is not installed"
fi

# ---- a store ----
rows() {
	# shellcheck disable=SC2086
	again "$program" sweep -w yield -L batch=1,16 --yields 100 $quick --chunk 1/2 -o part >/dev/null 2>&1
	python3 "$hostile" rows part/sweep.db
	prints merge sweep --merge part -o whole --no-plots && grep -q invalid merge.out
}
holds "a stored reason is printed as text alone" rows

# ---- Slurm ----
mkdir bin
printf '#!/bin/sh\ncp "%s" "%s/job.sh"\nexit 1\n' "\$2" "$work" >bin/sbatch
echo '#!/bin/sh' >bin/squeue
cp bin/squeue bin/sinfo
chmod +x bin/*
PATH=$work/bin:$PATH
sweep_into() {
	# shellcheck disable=SC2086
	"$program" sweep -w yield -L batch=1,16 $quick --on "${on:-slurm}" --chunks 2 -o "$1"
}
refused() {
	sweep_into "$@" >out 2>err
	[ $? -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'expected no' err && [ ! -e job.sh ]
}
holds "a line break in the directory's name is refused" refused 'a
touch X
#'
holds "and a backslash" refused 'b\c'
on="slurm:comment='x
#SBATCH --wrap=x'"
holds "and a line break in an option of sbatch" refused d
on=
quoted() {
	directory="e'\" \$(touch X) %a #"
	sweep_into "$directory" >out 2>err
	python3 "$hostile" slurm job.sh "$work/$directory/chunks" && sh -n job.sh
}
holds "all else is quoted" quoted

holds "no command of a stranger was run" [ ! -e X ]
echo "1..$n"
