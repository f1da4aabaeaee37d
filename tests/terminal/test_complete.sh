#!/bin/sh
# Completion in bash, zsh and fish, each driven for real: words are typed, Tab is pressed, and the
# command gets what is expected (completions.txt). Without candidates, files are offered. What the
# command itself answers: everything that the tables have. Prints TAP.
# usage: test_complete.sh BUILD_DIRECTORY
set -u
program=$(realpath "$1")/sched-bench
tree=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh
export LC_ALL=C.UTF-8

mkdir "$work/bin"
cat >"$work/bin/sched-bench" <<END
#!/bin/sh
[ "\$1" != complete ] || exec "$program" "\$@"
echo "GOT[\$*]"
END
chmod +x "$work/bin/sched-bench"
cp harness/guide/completion.zsh "$work/bin/_sched-bench"
: >"$work/night.ini"
: >"$work/night.txt"
: >"$work/onlyone"

# in_shell NAME: all cases, in a directory with some files.
in_shell() {
	(cd "$work" && { cat "$tree/tests/terminal/completions.txt"; echo 'gate --baseline onl | gate --baseline onlyone'; } |
		python3 "$tree/tests/terminal/shell.py" "$1" "$work/bin" "$tree/harness/guide/completion.$1")
}
for shell in bash zsh fish; do
	if command -v $shell >/dev/null; then
		holds "$shell completes what is typed" in_shell $shell
	else
		skips "$shell completes what is typed" "$shell is not installed"
	fi
done

# offers WORD... -- CANDIDATE...: exactly these, for the last word.
offers() {
	typed=
	while [ "$1" != -- ]; do
		typed="$typed $1"
		shift
	done
	shift
	printf '%s\n' "$@" >"$work/expected"
	# shellcheck disable=SC2086
	"$program" complete bash -- $typed | diff - "$work/expected"
}
holds "a list has each value once" offers sweep -L wake=global, -- wake=global,local wake=global,affine
holds "parameters are those of the workloads that are named" \
	offers run -w skynet,pingpong --r -- --repetitions --resume --rate --record --record-actors --round-trips
holds "bash's words are put together again" offers run --wake = a -- affine
holds "of more than two, too" offers sweep -L wake = local, -- local,affine local,global
holds "an option's value is no option" offers run --wake l -- local
holds "a flag has none" offers topo fing -- fingerprint

# all_of PLURAL WORD...: every name of such a list is a candidate.
all_of() {
	plural=$1
	shift
	"$program" list "$plural" --format json |
		python3 -c 'import json, sys; [print(row["name"]) for row in json.load(sys.stdin)]' |
		sort -u >"$work/names"
	"$program" complete zsh -- "$@" "" | cut -f1 | sed 's/=$//' | sort -u |
		comm -23 "$work/names" - | tee "$work/missing"
	[ -s "$work/names" ] && [ ! -s "$work/missing" ]
}
holds "every workload is a candidate" all_of workloads run -w
holds "every metric" all_of metrics ab --metric
holds "every metric for a limit" all_of metrics gate --limit
holds "every kind of picture" all_of pictures plot
holds "every format" all_of formats convert x --to
holds "every profile" all_of profiles topo plan --profile
holds "every model" all_of models run --virtual --model
for kind in workloads options metrics policies validity profiles pictures formats topics; do
	holds "every one of $kind is a candidate of help" all_of $kind help
done
refuses "without words" 3 "expected SHELL -- WORD" complete bash
echo "1..$n"
