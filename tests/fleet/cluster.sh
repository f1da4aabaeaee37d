# A cluster of Slurm on this machine, with a controller and four nodes on the loopback address, for
# the tests that source this. Nothing of it is left after stop_cluster.
# shellcheck shell=sh disable=SC2154

# start_cluster DIRECTORY: until all nodes are idle.
start_cluster() {
	cluster=$1 hurrying=
	export SLURM_CONF="$cluster/slurm.conf"
	mkdir -p "$cluster/state" "$cluster/spool"
	{
		cat <<-EOF
			ClusterName=check
			SlurmctldHost=$(hostname -s)(127.0.0.1)
			SlurmctldPort=16817
			SlurmUser=root
			SlurmdUser=root
			AuthType=auth/none
			CredType=cred/none
			StateSaveLocation=$cluster/state
			SlurmdSpoolDir=$cluster/spool/%n
			SlurmctldPidFile=$cluster/controller.pid
			SlurmdPidFile=$cluster/%n.pid
			ProctrackType=proctrack/linuxproc
			TaskPlugin=task/none
			JobAcctGatherType=jobacct_gather/none
			AccountingStorageType=accounting_storage/none
			SelectType=select/cons_tres
			SelectTypeParameters=CR_CPU
			SwitchType=switch/none
			MpiDefault=none
			ReturnToService=2
			SlurmdTimeout=10
			KillWait=5
			Prolog=$cluster/prolog
			SchedulerParameters=sched_interval=1,bf_interval=1,requeue_delay=1
			SlurmdParameters=config_overrides
			CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
			PartitionName=p Nodes=ALL Default=YES MaxTime=10 State=UP
		EOF
		for node in 0 1 2 3; do
			echo "NodeName=n$node NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=1700$node CPUs=1 RealMemory=500 Feature=$([ $node -lt 2 ] && echo old || echo new)"
		done
	} >"$SLURM_CONF"
	# The first that finds this file fails.
	printf '#!/bin/sh\n! rm "%s/fail" 2>/dev/null\n' "$cluster" >"$cluster/prolog"
	chmod +x "$cluster/prolog"
	slurmctld -D -c -f "$SLURM_CONF" >"$cluster/controller.log" 2>&1 &
	for node in 0 1 2 3; do
		start_node $node
	done
	for _ in $(seq 100); do
		if [ "$(sinfo --noheader --Node --states=idle --format=%N 2>/dev/null | wc -l)" -eq 4 ]; then
			hurry &
			hurrying=$!
			return
		fi
		sleep 0.2
	done
	cat "$cluster"/*.log
	return 1
}

# Any shell may start and kill a node: the daemon has a file with its PID.
start_node() {
	mkdir -p "$cluster/spool/n$1"
	slurmd -D -N "n$1" -f "$SLURM_CONF" >>"$cluster/n$1.log" 2>&1 &
}

# kill_node N: the daemon and all that it has started, as a machine that loses its power.
kill_node() {
	kill -9 "$(cat "$cluster/n$1.pid")"
	pkill -9 -f "$cluster/spool/n$1/"
}

# hurry: without the two minutes that Slurm lets a job wait that it has put back into the queue, and
# without an administrator for a node on which a task could not start.
hurry() {
	while sleep 0.5; do
		for node in $(sinfo --noheader --Node --states=drain,fail --format=%N 2>/dev/null); do
			scontrol update "NodeName=$node" State=RESUME
		done
		squeue --noheader --array --states=PENDING --format='%F_%K %r' 2>/dev/null | while read -r task reason; do
			[ "$reason" != BeginTime ] || scontrol update "JobId=$task" StartTime=now
		done
	done
}

# A daemon that still waits for a job after ten seconds is killed.
stop_cluster() {
	[ -z "$hurrying" ] || kill "$hurrying" 2>/dev/null
	cat "$cluster"/*.pid 2>/dev/null | xargs -r kill 2>/dev/null
	for _ in $(seq 100); do
		pgrep -f "$cluster/slurm.conf" >/dev/null || return
		sleep 0.1
	done
	pkill -9 -f "$cluster/slurm.conf"
}
