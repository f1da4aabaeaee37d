/*
 * shim.cc - see shim.h. A run is Google Benchmark's State, by another name.
 */
#include "harness/micro/shim.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

using benchmark::State;

static State &state_of(sb_gbench_run *run)
{
	return *reinterpret_cast<State *>(run);
}

static const State &state_of(const sb_gbench_run *run)
{
	return *reinterpret_cast<const State *>(run);
}

static benchmark::BigO big_o(sb_gbench_fit fit)
{
	return fit == SB_GBENCH_FIT_N ? benchmark::oN : benchmark::o1;
}

static void (*give_up_with)(const char *why);

static void end_by_exception()
{
	try {
		std::rethrow_exception(std::current_exception());
	} catch (const std::bad_alloc &) {
		give_up_with("no memory");
	} catch (const std::system_error &error) {
		give_up_with(error.what());
	} catch (...) {
	}
	std::abort();
}

static bool is_within; /* the library */

/* It ends the program with status 1 where it cannot look at the machine. */
static void end_by_exit()
{
	if (is_within)
		give_up_with(nullptr);
}

void sb_gbench_begin(void (*give_up)(const char *why))
{
	give_up_with = give_up;
	std::set_terminate(end_by_exception);
	(void)std::atexit(end_by_exit);
}

void sb_gbench_register(const sb_gbench *b)
{
	const auto body = b->body;
	const auto data = b->data;
	const bool fits = b->fit != SB_GBENCH_FIT_NONE;
	auto *const google =
		benchmark::RegisterBenchmark(b->name, [body, data, fits](State &state) {
			if (fits)
				state.SetComplexityN(state.range(0));
			body(reinterpret_cast<sb_gbench_run *>(&state), data);
		});

	if (b->arg_name)
		google->ArgName(b->arg_name);
	for (uint32_t i = 0; b->arg_name && i < b->args; i++)
		google->Arg(b->arg[i]);
	for (uint32_t i = 0; i < b->thread_counts; i++) {
		if (b->threads[i] > 1 || b->thread_counts > 1)
			google->Threads(static_cast<int>(b->threads[i]));
	}
	if (b->wall_time)
		google->MeasureProcessCPUTime()->UseRealTime();
	if (fits)
		google->Complexity(big_o(b->fit));
}

void sb_gbench_context(const char *key, const char *value)
{
	benchmark::AddCustomContext(key, value);
}

size_t sb_gbench_main(int argc, char **argv)
{
	is_within = true;
	benchmark::Initialize(&argc, argv);
	const size_t matched = benchmark::RunSpecifiedBenchmarks();
	benchmark::Shutdown();
	is_within = false;
	return matched;
}

uint32_t sb_gbench_thread(const sb_gbench_run *run)
{
	return static_cast<uint32_t>(state_of(run).thread_index());
}

uint32_t sb_gbench_threads(const sb_gbench_run *run)
{
	return static_cast<uint32_t>(state_of(run).threads());
}

int64_t sb_gbench_arg(const sb_gbench_run *run)
{
	return state_of(run).range(0);
}

uint64_t sb_gbench_iterations(const sb_gbench_run *run)
{
	return static_cast<uint64_t>(state_of(run).max_iterations);
}

bool sb_gbench_next(sb_gbench_run *run, uint64_t n)
{
	return state_of(run).KeepRunningBatch(static_cast<int64_t>(n));
}

void sb_gbench_fail(sb_gbench_run *run, const char *why)
{
	state_of(run).SkipWithError(why);
}

void sb_gbench_items(sb_gbench_run *run, uint64_t items)
{
	state_of(run).SetItemsProcessed(static_cast<int64_t>(items));
}

void sb_gbench_counter(sb_gbench_run *run, const char *name, double value)
{
	state_of(run).counters[name] =
		benchmark::Counter(value, benchmark::Counter::kAvgIterations);
}
