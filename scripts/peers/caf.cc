/*
 * caf.cc - the peers' work in CAF, the C++ Actor Framework: event-based actors.
 *
 * usage: caf WORK WORKERS N
 *
 * The main thread is outside of CAF's scheduler: it spawns the actors, sends them
 * their first messages, and waits. Timed work runs twice: the first time,
 * unmeasured, starts the threads and grows the heap.
 */
#include "peer.h"

#include <iterator>
#include <utility>

#include <caf/all.hpp>

/* A member of a ring who gets this, in place of a token, ends. */
constexpr uint64_t STOP = 0;

/* A message is the number of hops that are left, this included. */
class member : public caf::event_based_actor
{
	peer::tally *const ended_, *const stopped_;
	uint64_t *const received_;
	caf::actor next_;
	uint64_t hops_ = 0;

	void take(uint64_t left)
	{
		if (left == STOP) {
			*received_ = hops_;
			next_ = caf::actor(); /* else the ring keeps itself */
			quit();
			stopped_->add(0);
			return;
		}
		hops_++;
		if (left > 1)
			send(next_, left - 1);
		else
			ended_->add(0);
	}

      public:
	member(caf::actor_config &config, peer::tally *ended, peer::tally *stopped,
	       uint64_t *received)
	    : event_based_actor(config), ended_(ended), stopped_(stopped), received_(received)
	{
	}

	caf::behavior make_behavior() override
	{
		return {
			[this](uint64_t left) { take(left); },
			[this](const caf::actor &to) { next_ = to; },
		};
	}
};

static std::string run_rings(caf::actor_system &system, const peer::rings &shape, uint64_t n)
{
	const uint64_t tokens = shape.count * shape.tokens;
	const uint64_t each = peer::share(n, tokens);
	std::vector<uint64_t> received(shape.count * shape.members);
	std::vector<caf::actor> members;
	peer::tally ended(tokens), stopped(received.size());

	for (uint64_t &own : received)
		members.push_back(system.spawn<member>(&ended, &stopped, &own));
	for (uint64_t i = 0; i < members.size(); i++)
		caf::anon_send(members[i], members[shape.next(i)]);

	const peer::stopwatch watch;
	for (uint64_t i = 0; i < tokens; i++)
		caf::anon_send(members[shape.start(i)], each);
	ended.wait();
	const std::string line = watch.end(tokens * each);

	for (const caf::actor &one : members)
		caf::anon_send(one, STOP);
	stopped.wait();
	peer::check_hops(shape, each, received);
	return line;
}

template <const peer::rings &shape> static std::string ring(caf::actor_system &system, uint64_t n)
{
	return run_rings(system, shape, n);
}

/* The messages are numbered, so that the sum shows that each came once. */
static std::string fanin(caf::actor_system &system, uint64_t n)
{
	const uint64_t each = peer::share(n, peer::PRODUCERS);
	const uint64_t messages = peer::PRODUCERS * each;
	uint64_t received = 0;
	uint64_t sum = 0;
	peer::tally ended(1);
	const caf::actor consumer =
		system.spawn([&](caf::event_based_actor *self) -> caf::behavior {
			return { [&, self](uint64_t message) {
				sum += message;
				if (++received == messages) {
					self->quit();
					ended.add(0);
				}
			} };
		});

	const peer::stopwatch watch;
	for (uint64_t first = 0; first < messages; first += each) {
		system.spawn([=](caf::event_based_actor *self) {
			for (uint64_t i = first; i < first + each; i++)
				self->send(consumer, i);
		});
	}
	ended.wait();
	const std::string line = watch.end(messages);

	peer::expect("sum of the messages", sum, peer::sum_below(messages));
	return line;
}

/*
 * CAF has no yield. An actor that sends itself a message, and may take but one
 * at a time (see ONE_MESSAGE), leaves its worker and is queued again.
 */
static std::string yield(caf::actor_system &system, uint64_t n)
{
	uint64_t turns = 0;
	peer::tally ended(1);
	const caf::actor actor = system.spawn([&](caf::event_based_actor *self) -> caf::behavior {
		return { [&, self, n](uint64_t left) {
			turns++;
			if (left > 1) {
				self->send(self, left - 1);
			} else {
				self->quit();
				ended.add(0);
			}
		} };
	});

	const peer::stopwatch watch;
	caf::anon_send(actor, n);
	ended.wait();
	const std::string line = watch.end(n);

	peer::expect("turns", turns, n);
	return line;
}

static std::string spawn_out(caf::actor_system &system, uint64_t n)
{
	peer::tally ran(n);

	const peer::stopwatch watch;
	for (uint64_t i = 0; i < n; i++)
		system.spawn([&ran, i] { ran.add(i); });
	ran.wait();
	const std::string line = watch.end(n);

	ran.check("actors", peer::sum_below(n));
	return line;
}

/* With two workers this takes some ten microseconds for each. */
static std::string spawn_in(caf::actor_system &system, uint64_t n)
{
	peer::tally ran(n);

	const peer::stopwatch watch;
	system.spawn([&ran, n](caf::event_based_actor *self) {
		for (uint64_t i = 0; i < n; i++)
			self->spawn([&ran, i] { ran.add(i); });
	});
	ran.wait();
	const std::string line = watch.end(n);

	ran.check("actors", peer::sum_below(n));
	return line;
}

/* Adds up what its children send it, and sends that to its parent. */
class node : public caf::event_based_actor
{
	const caf::actor parent_;
	const uint64_t first_, leaves_;
	uint64_t awaited_ = peer::CHILDREN;
	uint64_t sum_ = 0;

	void take(uint64_t part)
	{
		sum_ += part;
		if (--awaited_ == 0) {
			send(parent_, sum_);
			quit();
		}
	}

      public:
	node(caf::actor_config &config, caf::actor parent, uint64_t first, uint64_t leaves)
	    : event_based_actor(config), parent_(std::move(parent)), first_(first), leaves_(leaves)
	{
	}

	caf::behavior make_behavior() override
	{
		const uint64_t each = leaves_ / peer::CHILDREN;

		if (leaves_ == 1) {
			send(parent_, first_);
			return {}; /* ends it */
		}
		for (uint64_t i = 0; i < peer::CHILDREN; i++)
			spawn<node>(caf::actor(this), first_ + i * each, each);
		return { [this](uint64_t part) { take(part); } };
	}
};

static std::string skynet(caf::actor_system &system, uint64_t leaves)
{
	const uint64_t nodes = peer::skynet_nodes(leaves);
	caf::scoped_actor self(system);
	uint64_t sum = 0;

	const peer::stopwatch watch;
	system.spawn<node>(caf::actor(self), uint64_t(0), leaves);
	self->receive([&sum](uint64_t all) { sum = all; });
	const std::string line = watch.end(nodes);

	peer::expect("sum of the leaves", sum, peer::sum_below(leaves));
	return line;
}

/* Waits for one message, and ends. */
class idle : public caf::event_based_actor
{
	peer::tally *const waiting_, *const answers_;

      public:
	idle(caf::actor_config &config, peer::tally *waiting, peer::tally *answers)
	    : event_based_actor(config), waiting_(waiting), answers_(answers)
	{
	}

	caf::behavior make_behavior() override
	{
		waiting_->add(0);
		return { [this](uint64_t message) {
			quit();
			answers_->add(message);
		} };
	}
};

/* The table of the actors is written before, so that it does not count. */
static std::string mem_idle(caf::actor_system &system, uint64_t n)
{
	std::vector<caf::actor> actors(n);
	peer::tally waiting(n), answers(n);

	const uint64_t before = peer::resident_bytes();
	for (caf::actor &one : actors)
		one = system.spawn<idle>(&waiting, &answers);
	waiting.wait();
	const uint64_t after = peer::resident_bytes();

	for (uint64_t i = 0; i < n; i++)
		caf::anon_send(actors[i], i);
	answers.wait();
	answers.check("answers", peer::sum_below(n));
	return peer::bytes_line(before, after, n);
}

/* A message to an idle actor; a new actor for each would be slower. */
static std::string wake_sleep(caf::actor_system &system, uint64_t n)
{
	std::vector<peer::clock::time_point> begin(n);
	std::vector<int64_t> ns(n);
	peer::tally ran(n);
	const caf::actor actor = system.spawn([&](caf::event_based_actor *self) -> caf::behavior {
		return { [&, self, n](uint64_t i) {
			ns[i] = (peer::clock::now() - begin[i]).count();
			if (i + 1 == n)
				self->quit();
			ran.add(i);
		} };
	});

	for (uint64_t i = 0; i < n; i++) {
		peer::sleep_between_wakes();
		begin[i] = peer::clock::now();
		caf::anon_send(actor, i);
	}
	ran.wait();
	ran.check("messages", peer::sum_below(n));
	return peer::wake_line(std::move(ns));
}

/* How many messages an actor may take before others have their turn. */
constexpr int64_t CAF_DEFAULT = 0, ONE_MESSAGE = 1;

struct kind {
	const char *name;
	int64_t throughput;
	uint64_t warm_up; /* at most so many operations, before those measured */
	std::string (*run)(caf::actor_system &system, uint64_t n);
};

static const kind kinds[] = {
	{ "pingpong", CAF_DEFAULT, UINT64_MAX, ring<peer::PINGPONG> },
	{ "pairs1000", CAF_DEFAULT, UINT64_MAX, ring<peer::PAIRS1000> },
	{ "ring_1tok", CAF_DEFAULT, UINT64_MAX, ring<peer::RING_1TOK> },
	{ "ring_503tok", CAF_DEFAULT, UINT64_MAX, ring<peer::RING_503TOK> },
	{ "fanin64", CAF_DEFAULT, UINT64_MAX, fanin },
	{ "yield", ONE_MESSAGE, UINT64_MAX, yield },
	{ "spawn_out", CAF_DEFAULT, UINT64_MAX, spawn_out },
	{ "spawn_in", CAF_DEFAULT, UINT64_MAX, spawn_in },
	{ "skynet", CAF_DEFAULT, UINT64_MAX, skynet },
	{ "mem_idle", CAF_DEFAULT, 1, mem_idle },
	{ "wake_sleep", CAF_DEFAULT, 100, wake_sleep },
};

static std::string run(const std::string &work, uint64_t workers, uint64_t n)
{
	const kind &kind = peer::find_kind(kinds, work);

	caf::actor_system_config config;
	config.set("scheduler.max-threads", static_cast<int64_t>(workers));
	if (kind.throughput != CAF_DEFAULT)
		config.set("scheduler.max-throughput", kind.throughput);
	caf::actor_system system(config);
	peer::expect("workers", system.scheduler().num_workers(), workers);

	kind.run(system, std::min(n, kind.warm_up));
	system.await_all_actors_done();
	return kind.run(system, n);
}

int main(int argc, char **argv)
{
	return peer::program("caf", argc, argv, run);
}
