/*
 * tbb.cc - the peers' work in oneTBB: task groups, and where there are messages,
 * the nodes of a flow graph, which are the mailboxes that oneTBB has.
 *
 * usage: tbb WORK WORKERS N
 *
 * Work that starts inside is done by the main thread, as one of the workers. For
 * work that comes from outside the main thread is one more. Timed work runs twice:
 * the first time, unmeasured, starts the threads and fills the pools of tasks.
 */
#include "peer.h"

#include <deque>
#include <iterator>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace flow = oneapi::tbb::flow;
using oneapi::tbb::global_control;
using oneapi::tbb::task_arena;
using oneapi::tbb::task_group;

/*
 * A mailbox and who reads it: one message at a time, each in a task of its own. A
 * message is handed on by try_put(), without the list of successors, and the lock
 * on it, that make_edge() would add.
 */
using mailbox = flow::function_node<uint64_t>;

/* Member of a ring. A message is the number of hops that are left, this included. */
struct member {
	mailbox inbox;
	member *next = nullptr;
	uint64_t hops = 0;

	explicit member(flow::graph &graph)
	    : inbox(graph, flow::serial, [this](uint64_t left) {
		      hops++;
		      if (left > 1)
			      next->inbox.try_put(left - 1);
		      return flow::continue_msg();
	      })
	{
	}
};

static std::string run_rings(const peer::rings &shape, uint64_t n)
{
	const uint64_t tokens = shape.count * shape.tokens;
	const uint64_t each = peer::share(n, tokens);
	flow::graph graph;
	std::deque<member> members;
	std::vector<uint64_t> received;

	while (members.size() < shape.count * shape.members)
		members.emplace_back(graph);
	for (uint64_t i = 0; i < members.size(); i++)
		members[i].next = &members[shape.next(i)];

	const peer::stopwatch watch;
	for (uint64_t i = 0; i < tokens; i++)
		members[shape.start(i)].inbox.try_put(each);
	graph.wait_for_all();
	const std::string line = watch.end(tokens * each);

	for (const member &m : members)
		received.push_back(m.hops);
	peer::check_hops(shape, each, received);
	return line;
}

/* The messages are numbered, so that the sum shows that each came once. */
static std::string fanin(task_arena &, uint64_t n)
{
	const uint64_t each = peer::share(n, peer::PRODUCERS);
	const uint64_t messages = peer::PRODUCERS * each;
	flow::graph graph;
	uint64_t received = 0;
	uint64_t sum = 0;
	mailbox consumer(graph, flow::serial, [&](uint64_t message) {
		received++;
		sum += message;
		return flow::continue_msg();
	});
	task_group producers;

	const peer::stopwatch watch;
	for (uint64_t first = 0; first < messages; first += each) {
		producers.run([&consumer, first, each] {
			for (uint64_t i = first; i < first + each; i++)
				consumer.try_put(i);
		});
	}
	producers.wait();
	graph.wait_for_all();
	const std::string line = watch.end(messages);

	peer::expect("messages", received, messages);
	peer::expect("sum of the messages", sum, peer::sum_below(messages));
	return line;
}

/*
 * A task that is to go on later submits what is left of it, as its function
 * object. task::suspend() would keep its stack, at some ten times the cost, and
 * with two workers its resume() was seen to hang.
 */
struct turn {
	task_group &group;
	uint64_t &turns;
	uint64_t n;

	void operator()() const
	{
		if (++turns < n)
			group.run(*this);
	}
};

static std::string yield(task_arena &, uint64_t n)
{
	task_group group;
	uint64_t turns = 0;

	const peer::stopwatch watch;
	group.run(turn{ group, turns, n });
	group.wait();
	const std::string line = watch.end(n);

	peer::expect("turns", turns, n);
	return line;
}

static std::string spawn_out(task_arena &arena, uint64_t n)
{
	peer::tally ran(n);

	const peer::stopwatch watch;
	for (uint64_t i = 0; i < n; i++)
		arena.enqueue([&ran, i] { ran.add(i); });
	ran.wait();
	const std::string line = watch.end(n);

	ran.check("tasks", peer::sum_below(n));
	return line;
}

/* The counts of one worker's tasks: the group waits, no word need be shared. */
struct alignas(64) slot {
	uint64_t ran = 0, sum = 0;
};

static std::string spawn_in(task_arena &arena, uint64_t n)
{
	std::vector<slot> slots(arena.max_concurrency());
	task_group group;
	slot all;

	const peer::stopwatch watch;
	for (uint64_t i = 0; i < n; i++) {
		group.run([&slots, i] {
			slot &own = slots[oneapi::tbb::this_task_arena::current_thread_index()];
			own.ran++;
			own.sum += i;
		});
	}
	group.wait();
	const std::string line = watch.end(n);

	for (const slot &one : slots) {
		all.ran += one.ran;
		all.sum += one.sum;
	}
	peer::expect("tasks", all.ran, n);
	peer::expect("sum of tasks", all.sum, peer::sum_below(n));
	return line;
}

/* Fork and join: the parent waits, and meanwhile runs its children. */
static uint64_t node(uint64_t first, uint64_t leaves)
{
	if (leaves == 1)
		return first;

	const uint64_t each = leaves / peer::CHILDREN;
	uint64_t sums[peer::CHILDREN];
	uint64_t sum = 0;
	task_group children;

	for (uint64_t i = 0; i < peer::CHILDREN; i++) {
		children.run([&sums, i, first, each] { sums[i] = node(first + i * each, each); });
	}
	children.wait();
	for (const uint64_t one : sums)
		sum += one;
	return sum;
}

static std::string skynet(task_arena &, uint64_t leaves)
{
	const uint64_t nodes = peer::skynet_nodes(leaves);

	const peer::stopwatch watch;
	const uint64_t sum = node(0, leaves);
	const std::string line = watch.end(nodes);

	peer::expect("sum of the leaves", sum, peer::sum_below(leaves));
	return line;
}

/* The nearest thing to an idle process with its mailbox: an idle node. */
static std::string mem_idle(task_arena &, uint64_t n)
{
	flow::graph graph;
	std::deque<mailbox> nodes;
	peer::tally answers(n);

	const uint64_t before = peer::resident_bytes();
	for (uint64_t i = 0; i < n; i++) {
		nodes.emplace_back(graph, flow::serial, [&](uint64_t message) {
			answers.add(message);
			return flow::continue_msg();
		});
	}
	const uint64_t after = peer::resident_bytes();

	for (uint64_t i = 0; i < n; i++)
		nodes[i].try_put(i);
	graph.wait_for_all();
	answers.check("answers", peer::sum_below(n));
	return peer::bytes_line(before, after, n);
}

static std::string wake_sleep(task_arena &arena, uint64_t n)
{
	std::vector<int64_t> ns(n);
	peer::tally ran(n);

	for (uint64_t i = 0; i < n; i++) {
		peer::sleep_between_wakes();
		const auto begin = peer::clock::now();
		arena.enqueue([&, i, begin] {
			ns[i] = (peer::clock::now() - begin).count();
			ran.add(i);
		});
	}
	ran.wait();
	ran.check("tasks", peer::sum_below(n));
	return peer::wake_line(std::move(ns));
}

struct kind {
	const char *name;
	bool outside;	  /* the main thread submits, and is no worker */
	uint64_t warm_up; /* at most so many operations, before those measured */
	std::string (*run)(task_arena &arena, uint64_t n);
};

template <const peer::rings &shape> static std::string ring(task_arena &, uint64_t n)
{
	return run_rings(shape, n);
}

static const kind kinds[] = {
	{ "pingpong", false, UINT64_MAX, ring<peer::PINGPONG> },
	{ "pairs1000", false, UINT64_MAX, ring<peer::PAIRS1000> },
	{ "ring_1tok", false, UINT64_MAX, ring<peer::RING_1TOK> },
	{ "ring_503tok", false, UINT64_MAX, ring<peer::RING_503TOK> },
	{ "fanin64", false, UINT64_MAX, fanin },
	{ "yield", false, UINT64_MAX, yield },
	{ "spawn_out", true, UINT64_MAX, spawn_out },
	{ "spawn_in", false, UINT64_MAX, spawn_in },
	{ "skynet", false, UINT64_MAX, skynet },
	{ "mem_idle", false, 1, mem_idle },
	{ "wake_sleep", true, 100, wake_sleep },
};

static std::string run(const std::string &work, uint64_t workers, uint64_t n)
{
	const kind &kind = peer::find_kind(kinds, work);

	/* Counts the main thread, be it a worker or not. */
	const global_control limit(global_control::max_allowed_parallelism, workers + kind.outside);
	task_arena arena(static_cast<int>(workers), kind.outside ? 0 : 1);
	const auto once = [&arena, &kind](uint64_t count) {
		return kind.outside ? kind.run(arena, count)
				    : arena.execute([&] { return kind.run(arena, count); });
	};

	once(std::min(n, kind.warm_up));
	return once(n);
}

int main(int argc, char **argv)
{
	return peer::program("tbb", argc, argv, run);
}
