#!/bin/sh
# The verb plot: kinds, several results, files and standard output, and what it
# refuses. Prints TAP.
# usage: test_plot.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# Profiles: the numbers of workers do not depend on this machine.
run() {
	"$program" run --duration 1ms --warmup 0s --repetitions 2 --no-plots -q "$@"
}
run -w pingpong -w skynet --leaves 1000 --profile 'pack:2 [numa] core:2 pu:1' \
	--workers 4 -o "$work/a" || echo "# a run failed"
run -w skynet --leaves 1000 --profile 'pack:2 [numa] core:2 pu:1' \
	--workers 2 -o "$work/b" || echo "# a run failed"

listed() {
	"$program" plot list >"$work/list" && "$program" plot --help >"$work/help" &&
		[ "$(wc -l <"$work/help")" -le 50 ] && [ "$(wc -L <"$work/help")" -le 125 ] || return 1
	for kind in cost steals latency-sojourn scaling heat account topology all; do
		grep -q "^$kind  " "$work/list" && grep -q "^  $kind  " "$work/help" || return 1
	done
}
holds "kinds are listed, and in the help" listed
refuses "no kind" 3 "plot list names them" plot
refuses "no result" 3 "expected a result directory" plot cost
refuses "an unknown kind" 3 "did you mean 'steals'" plot stels "$work/a"
refuses "a result that is not there" 3 "nowhere" plot cost "$work/nowhere"
refuses "a result that is none" 3 "list" plot cost "$work/list"
refuses "another format" 3 "expected a name in .svg" plot cost "$work/a" -o "$work/x.pdf"
refuses "all pictures into one file" 3 "makes many" plot all "$work/a" -o "$work/x.svg"
refuses "several results without a file" 3 "belong to no directory" plot cost "$work/a" "$work/b"
refuses "an option of run's" 3 "unknown option '--repetitions'" plot cost "$work/a" --repetitions 3
refuses "a metric that is none" 3 "steal_items" plot topology "$work/b" --metric ns -o "$work/x.svg"
refuses "one series at a time on the machine" 3 "chooses one" plot topology "$work/a" -o "$work/x.svg"

is_svg() {
	grep -q '^</svg>' "$1" && python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$1"
}
is_png() {
	python3 -c 'import sys; sys.exit(open(sys.argv[1], "rb").read(8) != b"\x89PNG\r\n\x1a\n")' "$1"
}
if command -v gnuplot >/dev/null; then
	all_apply() {
		"$program" plot all "$work/a" >"$work/out" || return 1
		for plot in cost distance latency-ready-to-running steals-skynet \
			spins-pingpong account-skynet; do
			is_svg "$work/a/plots/$plot.svg" && is_png "$work/a/plots/$plot.png" &&
				[ -s "$work/a/plots/$plot.gp" ] || return 1
		done
		# Whole, together, and nothing besides.
		! find "$work/a/plots" -type f | grep -vE '\.(svg|png|gp)$' &&
			[ "$(find "$work/a" -name '*.tmp*' | wc -l)" -eq 0 ]
	}
	holds "all that apply go to the result's directory" all_apply
	again() {
		(cd "$work/a/plots" && cp cost.svg first.svg && gnuplot cost.gp && cmp -s cost.svg first.svg)
	}
	holds "a script makes its pictures again" again
	several() {
		"$program" plot cost "$work/a" "$work/b" -o "$work/c.svg" && is_svg "$work/c.svg" &&
			grep -q '>pingpong: ' "$work/c.svg" && grep -q '>skynet: ' "$work/c.svg" &&
			grep -q '>a<' "$work/c.svg" && grep -q '>b<' "$work/c.svg" &&
			grep -q '(emulated)' "$work/c.svg"
	}
	holds "several results in one picture" several
	holds "PNG" "$program" plot cost "$work/a/result.json" -o "$work/c.png"
	holds "is PNG" is_png "$work/c.png"
	to_stdout() {
		"$program" plot steals "$work/a" --series skynet -o - >"$work/s.svg" && is_svg "$work/s.svg"
	}
	holds "SVG on standard output, of one series" to_stdout
	refuses "several pictures for one file" 3 "expected --series" plot steals "$work/a" -o "$work/x.svg"
	named() {
		name=$("$program" plot steals "$work/a" -o "$work/named.svg" 2>&1 | sed "s/.*: '\([^']*\)'.*/\1/")
		"$program" plot steals "$work/a" --series "$name" -o "$work/named.svg" && is_svg "$work/named.svg"
	}
	holds "what it names chooses one" named
	refuses "a series that is not there" 3 "no series has 'x y'" plot cost "$work/a" --series "x y" -o "$work/x.svg"
	refuses "a kind that does not apply" 3 "sweep does not apply: no numeric" plot sweep "$work/a"
	refuses "no requests" 3 "load does not apply: no requests" plot load "$work/a" -o "$work/x.svg"
	scales() {
		"$program" plot scaling "$work/a" "$work/b" --series skynet -o "$work/n.svg" &&
			grep -q 'needs 4 numbers' "$work/n.svg"
	}
	holds "scaling over two results" scales
	refuses "a directory that is not there" 3 "cannot be written" plot cost "$work/a" -o "$work/no/x.svg"
	own_settings() {
		mkdir "$work/home" && echo 'exit status 3' >"$work/home/.gnuplot" &&
			HOME=$work/home "$program" plot cost "$work/a" -o "$work/h.svg" && is_svg "$work/h.svg"
	}
	holds "whatever the user's own gnuplot settings are" own_settings
	# Their names differ in what a file's cannot have, or behind where it is cut off.
	long=$(printf '%0200d' 0)
	{
		printf '[global]\nworkload=pingpong\nduration=1ms\nwarmup=0s\nrepetitions=1\n'
		printf '[%s]\n' "x y" "x-y" "${long}1" "${long}2"
	} >"$work/jobs.ini"
	have_one_each() {
		"$program" run "$work/jobs.ini" -q -o "$work/jobs"
		for format in svg png; do
			[ "$(find "$work/jobs/plots" -name "spins-*.$format" | wc -l)" -eq 4 ] ||
				return 1
		done
	}
	holds "jobs whose names are alike have a picture each" have_one_each

	without_gnuplot() {
		mkdir "$work/empty" && full=$(realpath "$program") || return 1
		(cd "$work" && PATH=$work/empty "$full" plot cost a -o x.svg 2>err)
		[ $? -eq 4 ] && grep -q 'gnuplot is not installed' "$work/err" && [ ! -e "$work/x.svg" ]
	}
	holds "without gnuplot" without_gnuplot
else
	skips "pictures" "gnuplot is not installed"
fi
# The scale has four bluish boxes, from a quarter to the full colour, and some
# object is bluish, too; lstopo's own colours are not.
is_coloured() {
	python3 - "$1" <<-'END'
		import re, sys
		colours = re.findall(r"rgb\(([\d.]+)%?, *([\d.]+)%?, *([\d.]+)", open(sys.argv[1]).read())
		bluish = [float(r) / float(b) for r, g, b in colours if float(b) > 1.005 * float(r)]
		steps = [208 / 240, 161 / 225, 114 / 210, 67 / 195]
		shown = all(any(abs(part - step) < 0.01 for part in bluish) for step in steps)
		sys.exit(not (shown and len(bluish) > len(steps)))
	END
}
if command -v lstopo >/dev/null; then
	on_the_machine() {
		"$program" plot topology "$work/b" --metric busy_pct -o "$work/t.svg" && is_svg "$work/t.svg" &&
			is_coloured "$work/t.svg" &&
			"$program" plot topology "$work/b" --metric steal_items -o "$work/u.svg" &&
			is_svg "$work/u.svg" && ! cmp -s "$work/t.svg" "$work/u.svg"
	}
	holds "values on the machine" on_the_machine
	python3 - "$work/b/result.json" "$work/other.json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		d["sched_bench"]["meta"]["profile"]["topology_fingerprint"] = "0" * 16
		json.dump(d, open(sys.argv[2], "w"))
	END
	refuses "values of another machine" 3 "another machine" plot topology "$work/other.json" -o "$work/x.svg"
else
	skips "values on the machine" "lstopo is not installed"
fi
echo "1..$n"
