/*
 * peer.h - what the peers in C++ have in common: PROGRAM WORK WORKERS N, the one
 * line that is printed, and the bookkeeping that checks the answers.
 */
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace peer
{

using clock = std::chrono::steady_clock;

constexpr uint64_t PRODUCERS = 64; /* of the fan-in */
constexpr uint64_t CHILDREN = 10;  /* of an inner node of skynet */

/* An error, and the exit status that says of which kind it is. */
struct error : std::runtime_error {
	int status;

	error(int exit_status, const std::string &text)
	    : std::runtime_error(text), status(exit_status)
	{
	}
};

inline error wrong(const std::string &text)
{
	return { 1, "wrong answer: " + text };
}

inline error usage(const std::string &text)
{
	return { 3, text };
}

inline error cannot(const std::string &why)
{
	return { 77, why };
}

inline void expect(const std::string &what, uint64_t got, uint64_t expected)
{
	if (got != expected)
		throw wrong(what + ": got " + std::to_string(got) + ", expected " +
			    std::to_string(expected));
}

/* A program's kind of work by its name, or a usage error. */
template <typename Kind, size_t N>
const Kind &find_kind(const Kind (&kinds)[N], const std::string &work)
{
	for (const Kind &kind : kinds) {
		if (work == kind.name)
			return kind;
	}
	throw usage("WORK: unknown: '" + work + "'");
}

/* An equal part of N for each, or a usage error. */
inline uint64_t share(uint64_t n, uint64_t count)
{
	if (n < count)
		throw usage("N: expected at least " + std::to_string(count));
	return n / count;
}

/* The sum of 0, 1, ... n - 1. */
inline uint64_t sum_below(uint64_t n)
{
	return n * (n - 1) / 2;
}

/* Measures from its construction to end(). */
class stopwatch
{
	clock::time_point begin = clock::now();

      public:
	/* The line that is printed. */
	std::string end(uint64_t operations) const
	{
		const std::chrono::duration<double, std::nano> took = clock::now() - begin;
		char line[64];

		snprintf(line, sizeof(line), "ns_per_op %.2f",
			 took.count() / static_cast<double>(operations));
		return line;
	}
};

/*
 * Counts what has to happen n times and sums a number that each brings, in one
 * word, so that one atomic operation does both: the count in the low half, the
 * sum, modulo 2^32, in the high one. The last one ends wait().
 */
class tally
{
	std::atomic<uint64_t> word{ 0 };
	const uint32_t n;
	bool complete = false;
	std::mutex mutex;
	std::condition_variable last;

      public:
	explicit tally(uint64_t times) : n(static_cast<uint32_t>(times))
	{
	}

	void add(uint64_t number)
	{
		const uint64_t old = word.fetch_add(number << 32 | 1);

		if (static_cast<uint32_t>(old) + 1 == n) {
			const std::lock_guard<std::mutex> lock(mutex);

			complete = true;
			last.notify_one();
		}
	}

	void wait()
	{
		std::unique_lock<std::mutex> lock(mutex);

		last.wait(lock, [this] { return complete; });
	}

	void check(const std::string &what, uint64_t sum) const
	{
		const uint64_t found = word;

		expect(what, static_cast<uint32_t>(found), n);
		expect("sum (modulo 2^32) of " + what, found >> 32, static_cast<uint32_t>(sum));
	}
};

/*
 * So many rings; a pair is a ring of two. Their members are numbered through, and
 * so are their tokens, which start at the first members of each ring.
 */
struct rings {
	uint64_t count, members, tokens; /* the latter two of each ring */

	uint64_t next(uint64_t member) const
	{
		return member - member % members + (member + 1) % members;
	}

	uint64_t start(uint64_t token) const
	{
		return token / tokens * members + token % tokens;
	}
};

constexpr rings PINGPONG = { 1, 2, 1 }, PAIRS1000 = { 1000, 2, 1 }, RING_1TOK = { 1, 503, 1 },
		RING_503TOK = { 1, 503, 503 };

/* How often a token that makes so many hops comes to a member. */
inline uint64_t visits(const rings &shape, uint64_t token, uint64_t member, uint64_t hops)
{
	const uint64_t distance = (member + shape.members - token) % shape.members;

	return hops / shape.members + (distance < hops % shape.members);
}

/* Each receipt of a token is a hop, the first included. */
inline void check_hops(const rings &shape, uint64_t each, const std::vector<uint64_t> &received)
{
	for (uint64_t i = 0; i < received.size(); i++) {
		uint64_t expected = 0;

		for (uint64_t token = 0; token < shape.tokens; token++)
			expected += visits(shape, token, i % shape.members, each);
		expect("messages to member " + std::to_string(i), received[i], expected);
	}
}

/* How many nodes the tree of skynet with so many leaves has. */
inline uint64_t skynet_nodes(uint64_t leaves)
{
	uint64_t nodes = 0;

	for (uint64_t level = leaves; level > 0; level /= CHILDREN) {
		if (level % CHILDREN != 0 && level != 1)
			throw usage("N: expected a power of ten");
		nodes += level;
	}
	return nodes;
}

inline uint64_t resident_bytes()
{
	std::ifstream status("/proc/self/status");
	std::string word;
	uint64_t kib;

	while (status >> word) {
		if (word == "VmRSS:" && status >> kib)
			return kib * 1024;
	}
	throw std::runtime_error("/proc/self/status: no VmRSS");
}

inline std::string bytes_line(uint64_t before, uint64_t after, uint64_t n)
{
	return "bytes " + std::to_string((after - before) / n);
}

/* The gap before each wake-up: long enough that workers park. */
inline void sleep_between_wakes()
{
	std::this_thread::sleep_for(std::chrono::microseconds(200));
}

inline std::string wake_line(std::vector<int64_t> ns)
{
	const auto rank = [&ns](uint64_t permille) {
		return std::to_string(ns[(ns.size() * permille + 999) / 1000 - 1]);
	};

	std::sort(ns.begin(), ns.end());
	return "p50 " + rank(500) + " p99 " + rank(990) + " p99.9 " + rank(999);
}

inline uint64_t number(const char *name, const char *text, uint64_t most)
{
	char *end;
	const uint64_t value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < 1 || value > most)
		throw usage(std::string(name) + ": expected a number from 1 to " +
			    std::to_string(most) + ", not '" + text + "'");
	return value;
}

/*
 * The program: run(work, workers, n) returns the line to print, or throws.
 * Returns the exit status.
 */
template <typename F> int program(const char *name, int argc, char **argv, F run)
{
	try {
		if (argc != 4)
			throw usage("expected WORK WORKERS N");
		const std::string line = run(std::string(argv[1]), number("WORKERS", argv[2], 1024),
					     number("N", argv[3], 1000000000));
		std::cout << line << std::endl;
		return 0;
	} catch (const error &e) {
		std::cerr << name << ": " << e.what() << std::endl;
		return e.status;
	} catch (const std::exception &e) {
		std::cerr << name << ": " << e.what() << std::endl;
		return 1;
	}
}

} // namespace peer
