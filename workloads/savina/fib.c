/*
 * savina-fib - Savina benchmark 29, Fibonacci: a process for every call.
 *
 * fib(n) for n above 2 spawns fib(n - 1) and fib(n - 2), waits for their
 * answers, and answers with the sum; fib(1) and fib(2) answer 1. One operation
 * is one process; there are 2 * fib(--n) - 1 of them, 150 049 for Savina's 25.
 *
 * Check: the first process's answer is the Fibonacci number, and as many
 * processes have answered: an answer carries the number of processes below, too.
 */
#include <inttypes.h>
#include <stdio.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/savina.h"

enum { N };

static const struct sb_param params[] = {
	[N] = { "n", 25, 1, 40, NULL, "which Fibonacci number" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* What a message is. Up to n = 40 neither half overflows, so two answers are
 * added as one number. */
#define VALUE_BITS 32

static uint64_t make_answer(uint64_t value, uint64_t processes)
{
	return processes << VALUE_BITS | value;
}

struct data {
	struct sb_failure failure;
	bool answered;
	uint64_t answer;
};

/* Also the input of init, which copies it; the first has no parent, and leaves
 * its answer in *data. */
struct call {
	struct data *data;
	sb_pid parent;
	uint32_t n;
	uint32_t missing; /* answers */
	bool spawned;
	uint64_t sum;
};

static const struct sb_process_ops call_ops;

SB_ACTOR_INIT(init, struct call)

static int answer(const struct call *call, struct sb_step *step, uint64_t answer)
{
	int rc;

	if (!call->parent) {
		call->data->answer = answer;
		call->data->answered = true;
		return SB_DONE;
	}
	rc = sb_step_send(step, call->parent, sb_value_u64(answer));
	return rc ? rc : SB_DONE;
}

static int spawn_both(struct call *call, struct sb_step *step)
{
	int rc = 0;

	for (uint32_t less = 1; less <= 2 && !rc; less++) {
		struct call child = { .data = call->data,
				      .parent = sb_step_self(step),
				      .n = call->n - less };

		rc = sb_step_spawn(step, &call_ops, "main", sb_value_ptr(&child), NULL);
	}
	call->spawned = true;
	call->missing = 2;
	return rc ? rc : SB_IDLE;
}

static int call_advance(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct call *call = state;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	if (call->n <= 2)
		return answer(call, step, make_answer(1, 1));
	if (!call->spawned)
		return spawn_both(call, step);
	for (uint32_t i = 0; i < count; i++)
		call->sum += events[i].data.u64;
	call->missing -= count;
	if (call->missing)
		return SB_IDLE;
	return answer(call, step, call->sum + make_answer(0, 1));
}

SB_FAILURE_STEP(call)

static const struct sb_process_ops call_ops = {
	.name = "fib",
	.state_bytes = sizeof(struct call),
	.init = init,
	.step = call_step,
};

static uint64_t fibonacci(uint64_t n)
{
	uint64_t a = 0;
	uint64_t b = 1;

	while (n--) {
		const uint64_t next = a + b;

		a = b;
		b = next;
	}
	return a;
}

static int start(struct sb_workload_run *run)
{
	struct call first = { .data = run->data, .n = (uint32_t)run->param[N] };

	*first.data = (struct data){ .answered = false };
	sb_failure_clear(run);
	return sb_scheduler_submit(run->scheduler, &call_ops, "main", sb_value_ptr(&first), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return 2 * fibonacci(run->param[N]) - 1;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	const uint64_t value = data->answer & ((UINT64_C(1) << VALUE_BITS) - 1);
	const uint64_t processes = data->answer >> VALUE_BITS;
	const uint64_t expected = fibonacci(run->param[N]);

	if (!sb_failure_check(run, why, why_bytes))
		return false;
	if (data->answered && value == expected && processes == operations(run))
		return true;
	snprintf(why, why_bytes,
		 "%" PRIu64 " by %" PRIu64 " processes, expected %" PRIu64 " by %" PRIu64, value,
		 processes, expected, operations(run));
	return false;
}

const struct sb_workload sb_workload_savina_fib = {
	.name = "savina-fib",
	.operation = "process",
	.doc = "Fibonacci numbers with a process for every call",
	.source = SB_SAVINA("29: Fibonacci"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.start = start,
	.operations = operations,
	.check = check,
};
