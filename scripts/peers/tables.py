"""What is compared: the systems, and the kinds of work.

In a command, {out} is build/peers and {here} is scripts/peers; all are run from
the root of the tree. The programs' common command line is WORK WORKERS N.
"""
from collections import namedtuple

OURS = "ours"
# Processes or goroutines with mailboxes or channels; a library of tasks.
ACTORS, TASKS = "actors", "tasks"


class System(namedtuple("System", "name kind title tool package source build "
                                  "also command version fewer")):
    """A peer. build: what makes {out}/name from source, one command; also:
    commands without which some kinds of work cannot be done, but others can.
    fewer: kinds of work of which it is given another N, since it takes ages."""


SYSTEMS = [
    System("go", ACTORS, "Go", "sh", "golang-go", "{here}/go/main.go",
           "{here}/build.sh go {out}", [], "{out}/go", "cat {out}/go.version", {}),
    System("tokio", ACTORS, "Tokio", "sh", "cargo librust-tokio-dev", "{here}/tokio/main.rs",
           "{here}/build.sh tokio {out}", [], "{out}/tokio", "cat {out}/tokio.version", {}),
    System("erlang", ACTORS, "Erlang/OTP", "erlc", "erlang-base", "{here}/erlang/sb_peer.erl",
           "erlc -o {out} {here}/erlang/sb_peer.erl",
           ["gcc -O2 -shared -fPIC -I/usr/lib/erlang/usr/include"
            " -o {out}/outside.so {here}/erlang/outside.c"],
           "{here}/erlang/run.sh", "dpkg-query -W -f ${Version} erlang-base", {}),
    System("caf", ACTORS, "CAF", "g++", "libcaf-dev", "{here}/caf.cc",
           "g++ -std=c++17 -O3 -pthread -o {out}/caf {here}/caf.cc -lcaf_core", [],
           "{out}/caf", "dpkg-query -W -f ${Version} libcaf-dev",
           {"spawn_in": 100000}),
    System("tbb", TASKS, "oneTBB", "sh", "g++ libtbb-dev", "{here}/tbb.cc",
           "{here}/build.sh tbb {out}", [], "{out}/tbb", "cat {out}/tbb.version", {}),
]

FLOOR_BUILD = ("gcc -std=gnu11 -O2 -pthread -I. -D_GNU_SOURCE"
               " -o {out}/floor {here}/floor.c")
FLOOR_WAKES = 2000

# What ours is divided by: the best peer, a reading of the floor, or the system of
# that name. BYTES is a bound for ours itself, which is divided by the best peer all
# the same.
BEST, BYTES = "best", "bytes"


class Goal(namedtuple("Goal", "against most")):
    def text(self):
        if self.against == BYTES:
            return f"<= {self.most} bytes"
        return f"<= {self.most:g}"


# A number that a program prints, and the column of ours in runs.csv.
Metric = namedtuple("Metric", "name column unit goal")

HALF = Goal(BEST, 0.5)
TIME = [Metric("ns_per_op", "ns_per_op", "ns", HALF)]
MEMORY = [Metric("bytes", "bytes_per_process", "bytes", Goal(BYTES, 160))]
WAKE = [Metric("p50", "wake_ns_p50", "ns", Goal("futex_hop_p50", 1.15)),
        Metric("p99", "wake_ns_p99", "ns", Goal("futex_hop_p99", 1.15)),
        Metric("p99.9", "wake_ns_p99_9", "ns", None)]
NOTICE = [Metric("p50", "wake_ns_p50", "ns", Goal("line_hop", 6)),
          Metric("p99", "wake_ns_p99", "ns", None)]


class Work(namedtuple("Work", "name n quick_n operation metrics ours outside "
                              "peers workers tasks_goal",
                      defaults=(False, True, None, None))):
    """A kind of work. ours: N -> what our command is told to run. outside: a
    thread that is no worker takes part, and has a CPU of its own where there is
    one worker. peers: whether they can do it, too. workers: how many make sense
    (None: any). tasks_goal: how many times as long as a library of tasks, which
    does less, one worker may take: a row of its own."""


WORKS = [
    Work("pingpong", 1000000, 20000, "message", TIME,
         lambda n: f"pingpong --round-trips {n // 2}"),
    Work("pairs1000", 1000000, 20000, "message", TIME,
         lambda n: f"pingpong --pairs 1000 --round-trips {n // 2000} --begin together"),
    Work("ring_1tok", 1000000, 20000, "hop", TIME,
         lambda n: f"savina-threadring --processes 503 --hops {n}"),
    Work("ring_503tok", 1000000, 20000, "hop", TIME,
         lambda n: f"savina-threadring --processes 503 --hops {n // 503} --tokens each"),
    Work("fanin64", 1000000, 64000, "message", TIME,
         lambda n: f"fan-in --senders 64 --messages {n // 64} --messages-per-step 1024"),
    Work("yield", 1000000, 20000, "yield", TIME,
         lambda n: f"yield --yields {n}"),
    Work("spawn_out", 1000000, 10000, "process", TIME,
         lambda n: f"submit --processes {n} --submitters 1", outside=True),
    Work("spawn_in", 1000000, 10000, "process", TIME,
         lambda n: f"storm --processes {n}", tasks_goal=Goal("tbb", 1.5)),
    Work("skynet", 1000000, 10000, "process", TIME,
         lambda n: f"skynet --leaves {n}", tasks_goal=Goal("tbb", 1.5)),
    # Without a round before it: memory that was used before would not be seen to grow.
    Work("mem_idle", 1000000, 20000, "process", MEMORY,
         lambda n: f"population --processes {n} --warmup 0s"),
    # Ours has no percentile with fewer than ten samples beyond it.
    Work("wake_sleep", 10000, 10000, "wake", WAKE,
         lambda n: f"wake-latency --wakes {n} --pause-us 200 --park futex", outside=True),
    # A worker that polls keeps its CPU, so there has to be one that is left.
    Work("wake_spin", 5000, 1000, "wake", NOTICE,
         lambda n: f"wake-latency --wakes {n} --pause-us 200 --pause spin --park poll",
         outside=True, peers=False, workers=(1,)),
    Work("wake_poll", 5000, 1000, "wake", NOTICE,
         lambda n: f"wake-latency --wakes {n} --pause-us 200 --park poll",
         outside=True, peers=False, workers=(1,)),
]
