#!/bin/sh
# What a person meets at the terminal: progress, the summary's width, colours,
# help; job files; exports; what `make install` installs. Prints TAP.
# usage: test_terminal.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
export TERM=xterm LC_ALL=C.UTF-8
unset NO_COLOR

# Rows may be suspect or, on a busy machine, invalid: status 0 or 2.
ran() {
	"$@"
	got=$?
	[ $got -eq 0 ] || [ $got -eq 2 ]
}

# quick NAME OPTION...: a short run into a directory of that name.
quick() {
	directory=$1
	shift
	ran "$program" run "$@" -d 1ms -r 2 --warmup 1ms --no-plots \
		-o "$work/$directory"
}

# on_terminal NAME COLUMNS OPTION...: the same on a terminal; what it wrote is
# in the file NAME.tty. Repetitions are long enough to be drawn.
on_terminal() {
	directory=$1 columns=$2
	shift 2
	ran python3 tests/command/tools/terminal.py "$columns" "$program" run "$@" -d 60ms -r 3 --workers 1 \
		--warmup 60ms --no-plots -o "$work/$directory" \
		>"$work/$directory.tty"
}

# looks NAME: python that looks at what is on the terminal of that name: raw, its
# lines as they were drawn, and the screen at the end.
looks() {
	cat >"$work/looks.py"
	python3 - "$work/$1.tty" "$work/looks.py" <<-'EOF'
		import re, sys
		raw = open(sys.argv[1], "rb").read().decode()
		plain = re.sub(r"\033\[[0-9;]*m", "", raw)
		drawn = [part.replace("\033[K", "") for part in re.split(r"[\r\n]+", plain)]
		progress = [part for part in drawn if re.match(r"(\[[#-]+\] |▕.*▏ )?\d+/\d+ ", part)]
		screen = [""]
		for token in re.findall(r"\033\[K|\r|\n|[^\033\r\n]+", plain):
		    if token == "\n":
		        screen.append("")
		        at = 0
		    elif token == "\r":
		        at = 0
		    elif token == "\033[K":
		        screen[-1] = screen[-1][:at]
		    else:
		        at = 0 if not screen[-1] else at
		        screen[-1] = screen[-1][:at] + token + screen[-1][at + len(token):]
		        at += len(token)
		exec(open(sys.argv[2]).read())
	EOF
}

# ---- progress ----

shows_phases() {
	# Late generators are no matter here.
	on_terminal wide 120 -w service,pingpong --load 50% --late 1h &&
		looks wide <<-'EOF'
		text = " ".join(progress)
		for phase in "service: capacity", "warm-up", "repetition 1 of 3", "repetition 3 of 3", "writing":
		    assert phase in text, (phase, text)
		assert any(re.search(r"5/6 pingpong: repetition 3 of 3  [\d.]+ ns/op( ±[\d.]+ %)?  \d+ s left", p)
		           for p in progress), progress
		# A row that something else has spoilt has no spread.
		assert re.search(r"ns/op ±[\d.]+ %", text), progress
		assert "█" in text
	EOF
}
holds "progress shows phase, estimate, spread and time left" shows_phases
is_cleared() {
	looks wide <<-'EOF'
		assert not any(re.search(r"writing|repetition \d+ of|s left", line) for line in screen), screen
		assert any("result: " in line for line in screen), screen
	EOF
}
holds "at the end it is gone" is_cleared
fits_80() {
	on_terminal eighty 80 -w pingpong,yield && looks eighty <<-'EOF'
		assert progress and max(map(len, progress)) <= 79, progress
		assert max(map(len, screen)) <= 80, max(screen, key=len)
		assert "\033[1m" in raw and "\033[32m" in raw
	EOF
}
holds "progress and summary fit 80 columns, in colour" fits_80
is_resized() {
	on_terminal resized 100,50 -w pingpong && looks resized <<-'EOF'
		assert max(map(len, progress)) <= 99
		assert len(progress[-1]) <= 49, progress
	EOF
}
holds "progress follows the terminal's size" is_resized
has_no_color() {
	NO_COLOR=1 on_terminal plain 80 -w pingpong && looks plain <<-'EOF'
		assert not re.search(r"\033\[[0-9;]*m", raw)
		assert "\033[K" in raw
	EOF
}
holds "NO_COLOR: no colours" has_no_color
empty_is_not_set() {
	NO_COLOR='' on_terminal empty 80 -w pingpong && looks empty <<-'EOF'
		assert re.search(r"\033\[[0-9;]*m", raw)
	EOF
}
holds "NO_COLOR that is empty changes nothing" empty_is_not_set
is_dumb() {
	TERM=dumb on_terminal dumb 80 -w pingpong && looks dumb <<-'EOF'
		assert "\033" not in raw
		assert progress
		assert not any(re.search(r"s left|writing", line) for line in screen), screen
	EOF
}
holds "TERM=dumb: no escape sequences, and it is cleared all the same" is_dumb
is_ascii() {
	LC_ALL=C on_terminal ascii 80 -w pingpong && looks ascii <<-'EOF'
		assert raw.isascii()
		assert any("#" in p for p in progress), progress
	EOF
}
holds "without UTF-8 all is ASCII" is_ascii
is_quiet() {
	rm -rf "$work/quiet"
	on_terminal quiet 80 -w pingpong -q && [ ! -s "$work/quiet.tty" ]
}
holds "-q: nothing" again is_quiet
needs_terminal() {
	quick none -w pingpong >"$work/out" 2>"$work/err" && [ ! -s "$work/err" ] &&
		! grep -q "$(printf '\033')" "$work/out"
}
holds "without a terminal: no progress, no colours" needs_terminal
explains() {
	quick verbose -w pingpong -v --workers 1 >"$work/out" 2>"$work/err" &&
		grep -q "^sched-bench: clock: " "$work/err" &&
		grep -q "1 worker (1, compact) on CPUs [0-9]" "$work/err" &&
		grep -q "pingpong: warm-up, for 1ms" "$work/err" &&
		grep -qE "pingpong: repetition 1: [0-9]+ rounds" "$work/err" &&
		grep -qE "pingpong: [0-9] valid, [0-9] suspect" "$work/err"
}
holds "-v explains what is done" explains

# ---- exports ----

same_as_in_directory() {
	quick exports -w pingpong --export-json "$work/e.json" \
		--export-csv "$work/e.csv" -q &&
		cmp "$work/e.json" "$work/exports/result.json" &&
		cmp "$work/e.csv" "$work/exports/runs.csv"
}
holds "exports are the directory's files" same_as_in_directory
is_alone_on_stdout() {
	quick stdout -w pingpong --export-json - >"$work/out" 2>"$work/err" &&
		cmp "$work/out" "$work/stdout/result.json" &&
		grep -q "^result: " "$work/err"
}
holds "an export to - is alone on standard output" is_alone_on_stdout
refuses "two on standard output" 3 "both are standard output" run -w pingpong \
	--export-csv - --format json
refuses "two exports in one file" 3 "both are" run -w pingpong \
	--export-csv "$work/x" --export-json "$work/x"
refuses "an export that cannot be written" 3 "No such file or directory" \
	run -w pingpong --export-csv "$work/nowhere/x" -o "$work/not-made"
holds "is found out before the run" test ! -e "$work/not-made"
# Nothing is on standard output: it is found out before anything is measured.
while read -r words; do
	# shellcheck disable=SC2086
	refuses "an output that cannot be written: $words" 3 "nowhere/x.*' cannot be written: No such file" \
		$words "$work/nowhere/x$(expr "$words" : '.*baseline$' >/dev/null && echo .csv)" </dev/null
done <<-EOF
	run -w pingpong --record-actors
	gate -o $work/gate-1 --baseline $program --junit
	gate -o $work/gate-2 --baseline $program --markdown
	gate -o $work/gate-3 --virtual --save-baseline
	gate -o $work/gate-4 --calibrate 1 --calibration
	calibrate --save-model --output
	micro --counts --counts-out
EOF
refuses "an export that is a directory" 3 "Is a directory" run -w pingpong \
	--export-json "$work"
is_full() {
	"$program" run -w pingpong -d 1ms -r 1 --warmup 0s --no-plots \
		-o "$work/full" --export-json /dev/full >"$work/out" 2>"$work/err"
	[ $? -eq 4 ] && grep -q "No space left" "$work/err" &&
		[ -s "$work/full/result.json" ]
}
holds "an export on a full device: status 4, and the rest is there" is_full

goes_where_links_point() {
	ln -s real.json "$work/link" && echo old >"$work/real.json" &&
		quick linked -w pingpong --export-json "$work/link" -q &&
		[ -L "$work/link" ] && cmp "$work/real.json" "$work/linked/result.json"
}
holds "an export goes to the file that a link points to" goes_where_links_point

# ---- job files ----

cat >"$work/two.ini" <<'EOF'
# two jobs
[global]
no-plots
batch=8

[small]
workload=pingpong
round-trips=100
spin-yield=0

[large]
workload=pingpong,yield
  batch = 4
EOF
runs_all() {
	quick jobs "$work/two.ini" >"$work/out" &&
		grep -q "^small/pingpong " "$work/out" &&
		python3 - "$work/jobs" <<-'EOF'
			import csv, json, sys
			rows = list(csv.DictReader(open(sys.argv[1] + "/runs.csv")))
			meta = open(sys.argv[1] + "/meta.json").read()
			assert '"batch"' not in meta and '"tick"' in json.dumps(json.loads(meta))
			jobs = {}
			for row in rows:
			    settings = dict(s.split("=", 1) for s in row["label"].split() if "=" in s)
			    key = settings["job"], settings["batch"]
			    jobs.setdefault(key, []).append(row)
			assert {k: len(v) for k, v in jobs.items()} == {
			    ("small", "8"): 2, ("large", "4"): 4}, jobs
			series = json.load(open(sys.argv[1] + "/result.json"))["sched_bench"]["series"]
			spins = [s.get("number") for each in series for s in each["settings"]
			         if s["name"] == "spin-yield"]
			assert spins == [0, 12, 12], spins
		EOF
}
holds "all jobs run into one directory; settings tell them apart" runs_all
goes_round() {
	"$program" run "$work/two.ini" -d 3s --show-job >"$work/once.ini" &&
		"$program" run "$work/once.ini" --show-job >"$work/twice.ini" &&
		cmp "$work/once.ini" "$work/twice.ini" &&
		grep -q "duration=3s" "$work/once.ini"
}
holds "--show-job shows itself" goes_round
refuses "a misspelt option in a job file" 3 "bad.ini:2:1: .*did you mean 'batch'" run \
	"$(printf '[a]\nbtch=1\n' >"$work/bad.ini" && echo "$work/bad.ini")"
refuses "a job file that is not there" 3 "nope.ini: No such file" run "$work/nope.ini"
refuses "a job file that is a directory" 3 "Is a directory" run "$work"
refuses "a workload where a job file is expected" 3 "named with -w" run pingpong
refuses "a parameter that no job has" 3 "none of the chosen workloads" run \
	"$work/two.ini" --leaves 3

# ---- help, man page, installation ----

# fits LINES ARGUMENT...: on a terminal of 80 columns.
fits() {
	lines=$1
	shift
	python3 tests/command/tools/terminal.py 80 "$program" "$@" | tr -d '\r' >"$work/help"
	[ -s "$work/help" ] && [ "$(wc -l <"$work/help")" -le "$lines" ] &&
		[ "$(wc -L <"$work/help")" -le 80 ]
}
holds "help fits 80x24" fits 24 --help
holds "help without arguments fits 80x24" fits 24
holds "help of list fits 80x24" fits 24 list --help
for verb in check calibrate topo "topo list" "topo plan" run; do
	# shellcheck disable=SC2086
	holds "help of $verb is 80 wide" fits 160 $verb --help
done
for topic in validity spinning glossary; do
	holds "help $topic is 80 wide" fits 200 help $topic
done
stands_as_it_is() {
	"$program" help start | cmp - README.md
}
holds "without a terminal a topic is Markdown, as it stands" stands_as_it_is
is_manual() {
	"$program" manual man >"$work/man.1" || return 1
	# Every option, and every workload, stands in it.
	"$program" list options --format json >"$work/options.json"
	"$program" list workloads --format json >"$work/workloads.json"
	python3 - "$work" <<-'EOF'
		import json, sys
		page = open(sys.argv[1] + "/man.1").read().replace("\\-", "-")
		for what in "options", "workloads":
		    for item in json.load(open(f"{sys.argv[1]}/{what}.json")):
		        name = ("--" if what == "options" else "") + item["name"]
		        assert f"\\fB{name}\\fR" in page, name
	EOF
}
holds "the man page has every option and workload" is_manual
if command -v man >/dev/null && man --version >/dev/null 2>&1; then
	formats() {
		[ -z "$(man --warnings -l -Tutf8 "$work/man.1" 2>&1 >"$work/page")" ] &&
			grep -q "SCHED_BENCH_SPIN_YIELD=64" "$work/page"
	}
	holds "man formats it without a warning" formats
fi
if [ "$build" = build/release ]; then
	# The flags of the make that runs this are in MAKEFLAGS.
	installs() {
		make -s install DESTDIR="$work/root" PREFIX=/usr 2>"$work/err" ||
			return 1
		"$work/root/usr/bin/sched-bench" --version &&
			[ -s "$work/root/usr/share/man/man1/sched-bench.1" ] &&
			[ -s "$work/root/usr/share/bash-completion/completions/sched-bench" ] &&
			[ -s "$work/root/usr/share/zsh/vendor-completions/_sched-bench" ] &&
			[ -s "$work/root/usr/share/fish/vendor_completions.d/sched-bench.fish" ] &&
			make -s uninstall DESTDIR="$work/root" PREFIX=/usr 2>"$work/err" &&
			[ -z "$(find "$work/root" -type f)" ]
	}
	holds "make install, and uninstall" installs
else
	n=$((n + 1))
	echo "ok $n - make install # SKIP it installs the release build"
fi
echo "1..$n"
