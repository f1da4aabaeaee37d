#!/bin/sh
# Where the memory of workers really lies: boots a Debian kernel in an emulated
# machine with three NUMA nodes, two with two CPUs each and one without, and runs
# sched-bench in it, which asks the kernel. Then judges what it printed. Shows
# placement, and nothing about speed: there, all memory is equally far. TAP.
# usage: check.sh BUILD_DIRECTORY
set -u
program=$1/sched-bench
here=$(dirname "$0")
work=build/numa
log=$work/guest.log

skip() {
	echo "ok 1 - memory of NUMA nodes # SKIP $1"
	echo "1..1"
	exit 0
}

# Kernel, C library and busybox are the host's kind.
[ "$(uname -m)" = x86_64 ] || skip "the guest is x86-64, this machine is $(uname -m)"
[ -s $work/vmlinuz ] || skip "no kernel: on Debian, scripts/setup.sh numa unpacks one"
for tool in qemu-system-x86_64 busybox numactl cpio python3; do
	command -v $tool >/dev/null || skip "no $tool: scripts/setup.sh numa installs it"
done

# add PROGRAM: into the guest, with the libraries that it loads, at their places.
add() {
	cp "$1" "$root/bin"
	ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$root$(dirname "$library")"
		cp -L "$library" "$root$library"
	done
}

# Not compressed: unpacking would be emulated, too.
initramfs() {
	root=$work/root
	rm -rf $root
	mkdir -p $root/bin $root/proc $root/sys $root/dev $root/tmp || return 1
	add "$program"
	add "$(command -v numactl)"
	add "$(command -v busybox)"
	cp "$here/guest.sh" $root/init
	chmod +x $root/init
	(cd $root && find . | cpio -o -H newc --quiet) >$work/initrd
}

# The distance from each node to each other is one of its own. A kernel that moves
# pages to who uses them would put right what the binding did not.
boot() {
	set -- -machine pc -cpu max -accel tcg,thread=multi -m 768M \
		-smp 4,sockets=2,cores=2,threads=1 -nodefaults -no-user-config \
		-display none -monitor none -serial stdio -no-reboot \
		-kernel $work/vmlinuz -initrd $work/initrd -append \
		"console=ttyS0 quiet loglevel=1 panic=-1 nokaslr mitigations=off
		numa_balancing=disable transparent_hugepage=madvise"
	for node in 0 1 2; do
		set -- "$@" -object memory-backend-ram,id=m$node,size=256M
	done
	set -- "$@" -numa node,nodeid=0,cpus=0-1,memdev=m0 \
		-numa node,nodeid=1,cpus=2-3,memdev=m1 -numa node,nodeid=2,memdev=m2
	for distance in 0:1:21 0:2:31 1:2:40; do
		from=${distance%%:*} far=${distance##*:} to=${distance#*:}
		to=${to%:*}
		set -- "$@" -numa "dist,src=$from,dst=$to,val=$far" \
			-numa "dist,src=$to,dst=$from,val=$far"
	done
	timeout 120 qemu-system-x86_64 "$@" </dev/null >$log 2>&1
}

initramfs || {
	echo "not ok 1 - the guest's files"
	exit 1
}
boot
status=$?
[ $status -eq 0 ] || printf '\nqemu ended with status %d\n' $status >>$log
"$here/judge.py" $log
