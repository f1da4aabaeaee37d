#!/bin/busybox sh
# shellcheck shell=dash
# Process 1 of the guest: runs the scenarios, prints what they did, and powers
# off. Each line that it prints is SCENARIO|WHAT|TEXT, because the serial console
# is all that leaves the guest; tests/numa/judge.py knows what is right.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
exec >/dev/console 2>&1 </dev/null
export PATH=/bin TZ=UTC

# say SCENARIO WHAT: the lines of the standard input.
say() {
	sed "s/^/$1|$2|/"
}

# attempt COMMAND...: its output and its status are kept.
attempt() {
	"$@" >/tmp/out 2>/tmp/err
	status=$?
}

# tell NAME: what the last attempt printed, and the result files in /tmp/NAME.
tell() {
	say "$1" out </tmp/out
	say "$1" err </tmp/err
	for file in workers memory; do
		[ ! -e "/tmp/$1/$file.csv" ] || say "$1" $file <"/tmp/$1/$file.csv"
	done
	[ $status -eq 0 ] || dmesg | tail -n 20 | say "$1" kernel
	echo "$1|status|$status"
}

# Whether each worker has made processes, for which it needs memory.
all_spawned() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "spawns") column = i }
		NR > 1 && $column > 0 { spawned++ }
		END { exit spawned != NR - 1 }' "$1"
}

# measure NAME WRAPPER OPTIONS...: one run, started by WRAPPER, which is a command
# with arguments, or empty. A small tree is grown over and over, so there is time
# for every worker to steal a part of it, and longer if that was not enough. A row
# that the emulator's host has spoilt (2) has no numbers, and is measured again.
measure() {
	name=$1 wrapper=$2
	shift 2
	for ms in 300 300 300 1000 1000 3000 9000; do
		rm -rf "/tmp/${name:?}"
		# shellcheck disable=SC2086
		attempt $wrapper sched-bench run -w skynet --leaves 1000 \
			--workers per-core --placement numa --victim near -r 1 \
			--duration ${ms}ms --warmup 0s --no-plots -q -o "/tmp/$name" "$@"
		[ $status -ne 2 ] || continue
		if [ $status -ne 0 ] || all_spawned "/tmp/$name/workers.csv"; then
			break
		fi
	done
	tell "$name"
}

pool() {
	echo "/sys/devices/system/node/node$1/hugepages/hugepages-2048kB"
}

# The least free huge pages of each node, as long as the file of that name exists.
watch_huge_pages() {
	least0=999999 least1=999999
	while [ -e "$1" ]; do
		read -r free0 <"$(pool 0)/free_hugepages"
		read -r free1 <"$(pool 1)/free_hugepages"
		[ "$free0" -ge "$least0" ] || least0=$free0
		[ "$free1" -ge "$least1" ] || least1=$free1
		usleep 10000
	done
	echo "huge|least|$least0 $least1"
}

attempt sched-bench topo export
tell export
attempt sched-bench topo plan --workers per-core --placement numa --format csv
tell plan

measure local "" --arena per-worker --membind local
measure interleave "" --arena per-worker --membind interleave

# Whatever is allocated in a process that this starts lies on the node without
# CPUs, which is nobody's own, unless the process asks for something else.
misled="numactl --membind=2 --"
measure misled-none "$misled" --arena per-worker --membind none
measure misled-local "$misled" --arena per-worker --membind local
measure per-numa "$misled" --arena per-numa --membind local

measure huge-missing "" --membind local --huge-pages explicit
# The kernel reserves for all nodes together: a mapping bound to the second one is
# made, and has no pages.
echo 24 >"$(pool 0)/nr_hugepages"
measure huge-uneven "" --membind local --huge-pages explicit
echo 24 >"$(pool 1)/nr_hugepages"
say huge reserved0 <"$(pool 0)/nr_hugepages"
say huge reserved1 <"$(pool 1)/nr_hugepages"
touch /tmp/watched
watch_huge_pages /tmp/watched &
measure huge "" --membind local --huge-pages explicit
rm /tmp/watched
wait

echo "guest|end|"
poweroff -f
