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
legend_is_there() {
	"$program" topo show --profile ring-4s --workers 4 --generator-cpus 3 \
		--svg "$work/ring.svg" &&
		for text in 'in use, node 0' 1 2 3 generator; do
			grep -q ">$text</text>" "$work/ring.svg" || return 1
		done &&
		"$program" topo show --profile 'numa:9 pu:1' --svg - |
		grep -q '>in use, node 0 ...</text>'
}
holds "the picture of a machine has a legend" legend_is_there
echo "1..$n"
