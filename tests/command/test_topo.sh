#!/bin/sh
# What the verb topo tells of a machine: numbers, packages, rings. Prints TAP.
# usage: test_topo.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# CPUs and nodes in the operating system's numbers, too, and kinds of cores.
numbers_are_told() {
	"$program" topo plan --profile 'numa:2(indexes=1,0) core:1 pu:1' >"$work/plan" &&
		grep -q '^     0        0        0        0        -        0        1        -        -$' \
			"$work/plan" &&
		grep -q "^cpu and os_node are the operating system's numbers" "$work/plan" &&
		"$program" topo plan --profile laptop-6p8e --workers per-core --format csv |
		grep -q '^0,0,0,0,0,0,0,0,1,worker,emulated$'
}
holds "topo plan tells both numbers, and kinds of cores" numbers_are_told
# sets CPUS NODES: the attributes of an object.
sets() {
	printf 'cpuset="%s" complete_cpuset="%s" allowed_cpuset="%s" ' "$1" "$1" "$1"
	printf 'nodeset="%s" complete_nodeset="%s" allowed_nodeset="%s"' "$2" "$2" "$2"
}
# The second package has no node, the third no CPUs.
odd_packages() {
	cat <<-EOF
		<?xml version="1.0" encoding="UTF-8"?>
		<!DOCTYPE topology SYSTEM "hwloc2.dtd">
		<topology version="2.0">
		<object type="Machine" os_index="0" $(sets 0xf 0x3)>
		<object type="Package" os_index="0" $(sets 0x3 0x1)>
		<object type="NUMANode" os_index="0" $(sets 0x3 0x1)></object>
		<object type="PU" os_index="0" $(sets 0x1 0x1)></object>
		<object type="PU" os_index="1" $(sets 0x2 0x1)></object>
		</object>
		<object type="Package" os_index="1" $(sets 0xc 0x0)>
		<object type="PU" os_index="2" $(sets 0x4 0x0)></object>
		<object type="PU" os_index="3" $(sets 0x8 0x0)></object>
		</object>
		<object type="Package" os_index="2" $(sets 0x0 0x2)>
		<object type="NUMANode" os_index="1" $(sets 0x0 0x2)></object>
		</object>
		</object>
		</topology>
	EOF
}
packages_are_usable() {
	odd_packages >"$work/odd.xml" &&
		"$program" topo plan --profile "$work/odd.xml" >"$work/plan" &&
		grep -q '(emulated), 2 packages, 2 NUMA nodes' "$work/plan" &&
		grep -q '^     0  node: 1 | remote: 2-3$' "$work/plan" &&
		grep -q '^     2  package: 3 | remote: 0-1$' "$work/plan"
}
holds "topo counts packages with CPUs, and names what workers without a node share" \
	packages_are_usable
rings_fit_a_screen() {
	"$program" topo plan --profile epyc-2s-nps4 --workers 128 --no-smt |
		sed '1,/^rings of victims/d' >"$work/rings" &&
		grep -q '^ cache  0-7 | 8-15 | 16-23 ' "$work/rings" &&
		grep -q '^  node  0-15 | 16-31 | .* | 112-127$' "$work/rings" &&
		grep -q '^        from node 4: 5,6,7 at 12 | 0,1,2,3 at 32$' "$work/rings" &&
		! grep -q smt "$work/rings" &&
		[ "$(wc -l <"$work/rings")" -le 24 ] && ! grep -q '.\{101\}' "$work/rings" &&
		"$program" topo plan --profile ring-4s --workers per-pu |
		grep -q '^   smt  0 48 | 1 49 | '
}
holds "topo plan: the rings of 128 workers fit a screen" rings_fit_a_screen
# ---- dumps of CPUID ----

# put_dump DIRECTORY: two packages of two cores of two threads.
put_dump() {
	mkdir -p "$1" && echo 'Architecture: x86' >"$1/hwloc-cpuid-info" || return 1
	for i in 0 1 2 3 4 5 6 7; do
		cat >"$1/pu$i" <<-EOF
			# mask e[abcd]x => e[abcd]x
			1 0 0 0 0 => b 756e6547 6c65746e 49656e69
			1 1 0 0 0 => 50654 0${i}040800 fffa3203 1f8bfbff
			5 4 0 0 0 => 4004121 1c0003f 3f 0
			5 4 0 1 0 => 400c163 280003f bfff 4
			5 4 0 2 0 => 0 0 0 0
			5 b 0 0 0 => 1 2 100 $i
			5 b 0 1 0 => 2 4 201 $i
			5 b 0 2 0 => 0 0 2 $i
			1 80000000 0 0 0 => 80000000 0 0 0
		EOF
	done
}
shows() {
	"$program" topo show --profile "$1" >"$work/out" 2>"$work/err" &&
		head -1 "$work/out" && grep -q "$2" "$work/out" && [ ! -s "$work/err" ]
}
# Of all CPUs: in a cpuset it leaves out some.
gather_cpuid() {
	mkdir "$work/own" && command -v hwloc-gather-cpuid >/dev/null &&
		hwloc-gather-cpuid "$work/own" >/dev/null 2>&1 &&
		[ "$(find "$work/own" -name 'pu*' | wc -l)" -eq "$(nproc --all)" ]
}
is_still_this() {
	[ "$("$program" topo fingerprint)" = \
		"$(HWLOC_CPUID_PATH=$work/dump "$program" topo fingerprint)" ]
}
put_dump "$work/dump"
case $(uname -m) in
x86_64 | i?86)
	holds "a dump of CPUID is a profile" shows "$work/dump" \
		', 2 packages, 1 NUMA node, 2 last-level caches, 4 cores, 8 processing units$'
	if gather_cpuid; then
		holds "a dump of this machine's CPUID is a profile" \
			shows "$work/own" ", $(nproc --all) processing unit"
	else
		skips "a dump of this machine's CPUID is a profile" "hwloc-gather-cpuid has none of all CPUs"
	fi
	;;
*)
	skips "dumps of CPUID are profiles" "hwloc reads them on x86 alone"
	;;
esac
holds "a dump in the environment is not this machine" is_still_this
mv "$work/dump/pu3" "$work/pu3"
refuses "a dump with a gap" 3 'has no file pu3 that can be read' topo show --profile "$work/dump"
mkfifo "$work/dump/pu3"
refuses "a dump with a pipe" 3 'has no file pu3 that can be read' topo show --profile "$work/dump"
rm "$work/dump/pu3"
sed 's/^5 b 0 1 0.*/5 b 0 1 0 => 2 4 201/' "$work/pu3" >"$work/dump/pu3"
refuses "a dump with half a line" 3 ': pu3:8: expected what' topo show --profile "$work/dump"
: >"$work/dump/pu3"
refuses "a dump with an empty file" 3 ': pu3:1: expected what' topo show --profile "$work/dump"
mv "$work/pu3" "$work/dump/pu3"
echo 'Architecture: none' >"$work/dump/hwloc-cpuid-info"
refuses "a dump of another architecture" 3 "does not say 'Architecture: x86'" \
	topo show --profile "$work/dump"
rm "$work/dump"/pu*
echo 'Architecture: x86' >"$work/dump/hwloc-cpuid-info"
refuses "a dump of nothing" 3 'has no file pu0' topo show --profile "$work/dump"

legend_is_there() {
	"$program" topo show --profile ring-4s --workers 4 --generator-cpus 3 \
		--svg "$work/ring.svg" &&
		for text in 'in use, node 0' 1 2 3 generator; do
			grep -q ">$text</text>" "$work/ring.svg" || return 1
		done &&
		"$program" topo show --profile 'numa:9 pu:1' --svg - |
		grep -q '>in use, node 0 ...</text>'
}
# has FILE TEXT...: each is all that is written somewhere.
has() {
	file=$1
	shift
	for text in "$@"; do
		grep -qF ">$text</text>" "$file" || {
			echo "no '$text'"
			return 1
		}
	done
}
numbers_and_nodes_are_drawn() {
	"$program" topo show --profile laptop-6p8e --svg "$work/laptop.svg" &&
		has "$work/laptop.svg" 'Core 0 of kind 1' 'Core 13 of kind 0' 'CPU 0 [worker 0]' \
			"frames: what a node is local to; CPU: the operating system's number, the others: hwloc's; kinds: 0 is the slowest" &&
		"$program" topo show --profile ring-4s --svg "$work/ring.svg" &&
		has "$work/ring.svg" 'CPU 1 (PU 2) [worker 1]' 'CPU 48 (PU 1)' \
			"frames: what a node is local to; CPU: the operating system's number, the others: hwloc's" &&
		[ "$(grep -c 'fill="none" stroke="#[0-9a-f]*" stroke-width="3"' "$work/ring.svg")" = 4 ] &&
		"$program" topo show --profile ring-4s | grep -q 'Core 1: CPU 1 (PU 2) \[worker 1\], CPU 49 (PU 3)$'
}
holds "the picture of a machine has a legend" legend_is_there
holds "it has both numbers, kinds of cores, and frames of nodes" numbers_and_nodes_are_drawn
echo "1..$n"
