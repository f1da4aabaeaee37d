#!/bin/sh
# The verb report: its files, its errors, and the page in a browser. Prints TAP.
# usage: test_page.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
series=60

"$program" run -w pingpong,yield --round-trips 600 --yields 200 --duration 1ms --record full \
	--warmup 0s --repetitions 3 --no-plots -q -o "$work/one" 2>"$work/err" ||
	[ $? -eq 2 ] || report "a run to report on" no "$(cat "$work/err")"
mkdir -p "$work/one/plots"
cat >"$work/one/plots/cost.svg" <<-'END'
	<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9"/></svg>
END

holds "run writes the page" test -s "$work/one/report.html"
mv "$work/one/report.html" "$work/first.html"
default() {
	[ "$("$program" report "$work/one")" = "report: $work/one/report.html" ] &&
		grep -q '<figure>' "$work/one/report.html" &&
		[ -z "$(find "$work/one" -name '*.tmp.*')" ]
}
holds "report.html in the result's directory, with its pictures" default
# With what the run knew, the page is the same but for the pictures.
same() {
	mv "$work/one/plots" "$work/plots" && "$program" report "$work/one/result.json" \
		-o "$work/again.html"
	mv "$work/plots" "$work/one/plots"
	cmp "$work/again.html" "$work/first.html"
}
holds "read back, it is the page that run wrote" same
# The environment's words for run are none for report, which has its own.
twins() {
	SCHED_BENCH_FORMAT=json SCHED_BENCH_OUTPUT=/nowhere/a "$program" report "$work/one" >"$work/out" &&
		SCHED_BENCH_REPORT_FORMAT=md "$program" report "$work/one" -o - | grep -q '^### '
}
holds "the environment of run is not that of report" twins
refuses "a result as the file to write" 3 "it is a result's own file" \
	report "$work/one" --format html -o "$work/one/result.json"
to_stdout() {
	"$program" report "$work/one" -o - >"$work/out" && cmp "$work/out" "$work/one/report.html"
}
holds "-o - is standard output" to_stdout
markdown() {
	mkdir -p "$work/sub dir" &&
		"$program" report -o "$work/sub dir/x.md" "$work/one" &&
		grep -q '^### sched-bench: pingpong, yield$' "$work/sub dir/x.md" &&
		grep -q '^- \[cost\](\.\./one/plots/cost\.svg): Wall' "$work/sub dir/x.md"
}
holds "Markdown by the file's name, with links from there" markdown
by_option() {
	"$program" report "$work/one" --format md -o "$work/text" &&
		grep -q '^### sched-bench' "$work/text" &&
		"$program" report "$work/one" --format md >"$work/out" &&
		grep -q '^### sched-bench' "$work/one/report.md" &&
		grep -q '^- \[cost\](plots/cost\.svg)' "$work/one/report.md"
}
holds "Markdown by the option" by_option
two() {
	cp -r "$work/one" "$work/two" && "$program" report "$work/one" "$work/two" \
		-o "$work/both.html" && "$program" report "$work/one" "$work/two" -o "$work/both.md" &&
		[ "$(grep -c '<h3>' "$work/both.html")" -eq 2 ] &&
		grep -q '^| pingpong | one |' "$work/both.md" &&
		grep -q '^| pingpong | two |' "$work/both.md"
}
holds "two results side by side" two

holds "help of report" "$program" report --help
refuses "no result" 3 "expected a result directory" report
refuses "a result that is not there" 3 "nowhere" report "$work/nowhere"
refuses "a file that is none of ours" 3 "README.md" report README.md
refuses "a name that says no format" 3 "expected a name in .html or .md" \
	report "$work/one" -o "$work/x.txt"
refuses "a format that is none" 3 "expected auto|html|md" report "$work/one" --format pdf
refuses "an output that cannot be" 3 "cannot be written: Not a directory" \
	report "$work/one" -o "$work/text/x.html"
refuses "a disk that is full" 4 "cannot be written: No space" \
	report "$work/one" -o /dev/full --format html
refuses "a full disk behind standard output" 4 "cannot be written" \
	report "$work/one" -o /dev/full --format md

# ---- many series and texts that nobody should believe ----

python3 tests/pictures/tools/page.py make "$work/one/result.json" "$work/made" $series
holds "a report on $series series" "$program" report "$work/made"
fits() {
	"$program" report "$work/made" -o "$work/made.md" &&
		[ "$(wc -c <"$work/made.md")" -le 65536 ] &&
		[ "$(grep -c '^| made-up' "$work/made.md")" -ge $series ] &&
		grep -q 'left out here' "$work/made.md" &&
		! grep -q '<script\|<img\|</svg' "$work/made.md"
}
holds "Markdown fits into a comment, and says what it leaves out" fits

if python3 -c 'import sys; sys.path.insert(0, "tests/pictures/tools"); import browser; sys.exit(not browser.find())'; then
	python3 tests/pictures/tools/page.py check "$work/made/report.html" $series >"$work/browser"
	while IFS= read -r line; do
		case $line in
		ok*) report "${line#ok * - }" yes ;;
		"not ok"*) report "${line#not ok * - }" no "" ;;
		*) echo "$line" ;;
		esac
	done <"$work/browser"
	[ "$(tail -1 "$work/browser")" = "# looked at" ] || report "the browser" no "it has ended before its time"
else
	n=$((n + 1))
	echo "ok $n - the page in a browser # SKIP chromium is not installed"
fi
echo "1..$n"
