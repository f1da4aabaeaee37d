/*
 * described.c - a workload that a description says: requests come from outside, as a load says,
 * to one kind of processes, which call those of others. One operation is one request from outside.
 *
 * Check: each request that was accepted was served once, and each that a process sent to another
 * one; whoever waited for replies got each of them; and the states show the work that was done.
 */
#include "workloads/described/described.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory/arena.h"
#include "workloads/lib/work.h"

/* Between two looks whether all is done, after the last request. */
#define LOOK_NS 20000

/* As many are needed for a percentile as the results ask for: ten beyond it. */
#define NEEDED_P50 20
#define NEEDED_P99 1000

/* ---- requests, on the generators' threads ---- */

static int submit(void *arg, const struct sb_request *request)
{
	struct sb_described *data = arg;
	struct sb_described_source *source = &data->source[request->generator];
	/* Of the first kind. */
	const uint32_t number = sb_rng_below(&source->rng, sb_kind_processes(data, 0));
	struct sb_asked *asked = calloc(1, sizeof(*asked));
	int rc;

	if (!asked)
		return -ENOMEM;
	*asked = (struct sb_asked){ .from_outside = true,
				    .asked_ns = sb_clock_ns(),
				    .request = *request };
	sb_count(&source->asked);
	rc = sb_scheduler_send(data->failure.scheduler, data->process[number], sb_value_ptr(asked));
	if (!rc)
		return 0;
	sb_store_rel(&source->asked, sb_load_rlx(&source->asked) - 1);
	free(asked);
	return rc;
}

/* ---- the end of a round ---- */

struct sums {
	uint64_t asked[SB_KINDS_MAX];
	uint64_t served[SB_KINDS_MAX];
	uint64_t called[SB_KINDS_MAX];
	uint64_t replied[SB_KINDS_MAX];
};

static void add_served(const struct sb_described *data, struct sums *sums)
{
	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_described_ledger *ledger = sb_load_acq(&data->ledger[w]);

		for (uint32_t k = 0; ledger && k < data->description->kinds; k++)
			sums->served[k] += sb_load_acq(&ledger->kind[k].served);
	}
}

static void add_asked(const struct sb_described *data, struct sums *sums)
{
	for (uint32_t i = 0; i < data->sources; i++)
		sums->asked[0] += sb_load_acq(&data->source[i].asked);
	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_described_ledger *ledger = sb_load_acq(&data->ledger[w]);

		for (uint32_t k = 0; ledger && k < data->description->kinds; k++)
			sums->asked[k] += sb_load_acq(&ledger->kind[k].asked);
	}
}

/*
 * Whether nothing is under way; after the last request from outside. A worker counts the requests
 * that it asks before it counts the one that asked them as served. Those served are read first, so
 * if both sums are equal, all requests had been served in between.
 */
static bool all_served(const struct sb_described *data)
{
	struct sums sums = { 0 };

	add_served(data, &sums);
	add_asked(data, &sums);
	return !memcmp(sums.served, sums.asked, sizeof(sums.served));
}

/* After all that was sent before. A full mailbox empties; a process that is gone needs no
 * message. */
static void send_last(struct sb_described *data, sb_pid pid)
{
	while (sb_scheduler_send(data->failure.scheduler, pid, sb_value_ptr(NULL)) == -EWOULDBLOCK)
		sb_thread_yield();
}

/* Processes that have been stopped or have failed serve no more requests. */
static void ended(void *arg)
{
	struct sb_described *data = arg;

	while (!all_served(data) && !sb_load_rlx(&data->failure.error) &&
	       sb_load_acq(&data->alive) == data->processes)
		sb_thread_sleep(LOOK_NS);
	for (uint32_t i = 0; i < data->processes; i++) {
		if (data->process[i])
			send_last(data, data->process[i]);
	}
}

static const struct sb_generator_ops generator_ops = { submit, ended };

/* ---- a round ---- */

static void clear(struct sb_described *data, uint64_t seed)
{
	const size_t kinds = data->description->kinds * sizeof(struct sb_kind_ledger);

	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_described_ledger *ledger = sb_load_acq(&data->ledger[w]);

		if (ledger)
			memset(ledger, 0, sizeof(*ledger) + kinds);
	}
	for (uint32_t i = 0; i < data->sources; i++) {
		/* Not those of the arrivals, which are the load's seed and up. */
		sb_rng_seed(&data->source[i].rng, ~(seed + i));
		sb_store_rel(&data->source[i].asked, 0);
	}
	memset(data->process, 0, data->processes * sizeof(*data->process));
	sb_store_rlx(&data->wrong_states, 0);
	data->seed = seed;
}

static int start_processes(struct sb_described *data)
{
	struct sb_server input = { .data = data };
	int rc = 0;

	for (uint32_t i = 0; i < data->processes && !rc; i++) {
		input.number = i;
		input.kind += i == data->first[input.kind + 1];
		rc = sb_scheduler_submit(data->failure.scheduler, &sb_server_ops, "main",
					 sb_value_ptr(&input), &data->process[i]);
	}
	return rc;
}

static int start(struct sb_workload_run *run)
{
	struct sb_described *data = run->data;
	int rc;

	sb_failure_clear(run);
	clear(data, run->load->seed);
	rc = start_processes(data);
	if (!rc)
		rc = sb_generators_start(data->generators, run->relax_ns, run->duration_ns);
	run->round.start_ns = sb_generators_window(data->generators)->from_ns;
	return sb_failure_started(run, rc);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	const struct sb_described *data = run->data;
	uint64_t completed = 0;

	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_described_ledger *ledger = sb_load_acq(&data->ledger[w]);

		completed += ledger ? sb_counter_read(&ledger->served.requests) : 0;
	}
	return completed;
}

static void peek(const struct sb_workload_run *run, uint64_t *completed,
		 struct sb_hist_counts *sojourn)
{
	const struct sb_described *data = run->data;

	*completed += operations(run);
	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_described_ledger *ledger = sb_load_acq(&data->ledger[w]);

		if (ledger)
			sb_hist_read(&ledger->served.sojourn, sojourn);
	}
}

/* ---- what it has measured ---- */

static void read_served(const struct sb_described *data, struct sb_requests *out)
{
	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_described_ledger *ledger = sb_load_acq(&data->ledger[w]);

		if (ledger)
			sb_served_read(&ledger->served, out);
	}
}

static double mean_of(const struct sb_described *data, const struct sb_action *action,
		      const double mean_ns[])
{
	double sum = action->act == SB_ACT_WORK ? action->work.mean_ns : 0;

	for (uint32_t t = 0; t < action->targets; t++) {
		const struct sb_target *target = &action->target[t];
		const uint32_t n =
			target->is_each ? sb_kind_processes(data, target->kind) : target->processes;

		sum += n * mean_ns[target->kind];
	}
	return action->share * sum;
}

/* How long the work of a request takes on average, with that of all that it asks for. From the last
 * kind up: each calls those below it. */
static double mean_work_ns(const struct sb_described *data)
{
	const struct sb_description *d = data->description;
	double mean_ns[SB_KINDS_MAX] = { 0 };

	for (uint32_t k = d->kinds; k-- > 0;) {
		for (uint32_t i = 0; i < d->kind[k].actions; i++)
			mean_ns[k] += mean_of(data, &d->kind[k].action[i], mean_ns);
	}
	return mean_ns[0];
}

static double work_ns(const struct sb_described *data)
{
	double ns = 0;

	for (uint32_t w = 0; w < data->workers; w++) {
		const struct sb_described_ledger *ledger = sb_load_acq(&data->ledger[w]);

		for (uint32_t k = 0; ledger && k < data->description->kinds; k++)
			ns += (double)ledger->kind[k].units / data->units_per_ns[k];
	}
	return ns;
}

static void read_requests(struct sb_workload_run *run)
{
	const struct sb_described *data = run->data;
	struct sb_requests *out = run->requests;

	read_served(data, out);
	out->asked_ns += work_ns(data);
	out->asked_mean_ns = mean_work_ns(data);
	sb_served_end_round(out, data->generators,
			    sb_scheduler_idle_since_ns(data->failure.scheduler));
}

static void read_kind(struct sb_workload_run *run, uint32_t kind, uint64_t served)
{
	const struct sb_described *data = run->data;
	double *own = &run->round.own[SB_KIND_METRICS * kind];
	struct sb_hist_counts took = { 0 };

	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_described_ledger *ledger = sb_load_acq(&data->ledger[w]);

		if (ledger)
			sb_hist_read(&ledger->kind[kind].took, &took);
	}
	own[SB_KIND_PER_OP] = (double)served / (double)operations(run);
	own[SB_KIND_NS_P50] = served < NEEDED_P50 ? NAN : (double)sb_hist_quantile(&took, 0.5);
	own[SB_KIND_NS_P99] = served < NEEDED_P99 ? NAN : (double)sb_hist_quantile(&took, 0.99);
}

/* ---- the check ---- */

static void add_calls(const struct sb_described *data, struct sums *sums)
{
	for (uint32_t w = 0; w < data->workers; w++) {
		const struct sb_described_ledger *ledger = sb_load_acq(&data->ledger[w]);

		for (uint32_t k = 0; ledger && k < data->description->kinds; k++) {
			sums->called[k] += ledger->kind[k].called;
			sums->replied[k] += ledger->kind[k].replied;
		}
	}
}

static bool kind_is_right(const struct sb_kind *kind, const struct sums *sums, uint32_t k,
			  char *why, size_t why_bytes)
{
	if (sums->served[k] != sums->asked[k])
		snprintf(why, why_bytes,
			 "%s: %" PRIu64 " requests were served, expected %" PRIu64
			 ", those that it was asked",
			 kind->name, sums->served[k], sums->asked[k]);
	else if (sums->replied[k] != sums->called[k])
		snprintf(why, why_bytes,
			 "%s: %" PRIu64 " replies came, expected %" PRIu64 ", those that it waited "
			 "for",
			 kind->name, sums->replied[k], sums->called[k]);
	else
		return true;
	return false;
}

static bool is_right(const struct sb_workload_run *run, const struct sums *sums, uint64_t submitted,
		     char *why, size_t why_bytes)
{
	const struct sb_described *data = run->data;
	const uint64_t completed = operations(run);
	const uint64_t wrong = sb_load_rlx(&data->wrong_states);

	for (uint32_t k = 0; k < data->description->kinds; k++) {
		if (!kind_is_right(&data->description->kind[k], sums, k, why, why_bytes))
			return false;
	}
	if (completed != submitted)
		snprintf(why, why_bytes, "%" PRIu64 " requests were completed, expected %" PRIu64,
			 completed, submitted);
	else if (!completed)
		snprintf(why, why_bytes, "no request in the whole round");
	else if (wrong)
		snprintf(why, why_bytes, "%" PRIu64 " states do not show the work that was done",
			 wrong);
	else
		return true;
	return false;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct sb_described *data = run->data;
	const uint64_t before = run->requests->submitted;
	struct sums sums = { 0 };

	sb_generators_stop(data->generators);
	sb_generators_read(data->generators, run->requests);
	if (!sb_failure_check(run, why, why_bytes))
		return false;
	add_served(data, &sums);
	add_asked(data, &sums);
	add_calls(data, &sums);
	read_requests(run);
	for (uint32_t k = 0; k < data->description->kinds; k++)
		read_kind(run, k, sums.served[k]);
	return is_right(run, &sums, run->requests->submitted - before, why, why_bytes);
}

/* ---- set-up, teardown ---- */

static int measure_speeds(struct sb_described *data)
{
	for (uint32_t k = 0; k < data->description->kinds; k++) {
		const uint64_t bytes = data->description->kind[k].state_bytes;
		const uint64_t units =
			bytes ? sb_set_units_per_ms(SB_SET_STREAM, bytes) : sb_work_units_per_ms();

		if (!units)
			return -ENOMEM;
		data->units_per_ns[k] = (double)units / 1e6;
	}
	return 0;
}

static int allocate(struct sb_described *data, const struct sb_load *load)
{
	data->ledger = calloc(data->workers, sizeof(*data->ledger));
	data->process = calloc(data->processes, sizeof(*data->process));
	data->sources = load->generators;
	data->source = aligned_alloc(SB_LINE, data->sources * sizeof(*data->source));
	if (!data->ledger || !data->process || !data->source)
		return -ENOMEM;
	memset(data->source, 0, data->sources * sizeof(*data->source));
	return sb_generators_create(&data->generators, load, &generator_ops, data);
}

static void teardown(struct sb_workload_run *run)
{
	struct sb_described *data = run->data;

	if (data->generators)
		sb_generators_stop(data->generators);
	sb_generators_destroy(data->generators);
	for (uint32_t w = 0; data->ledger && w < data->workers; w++)
		sb_mem_free(sb_load_acq(&data->ledger[w]));
	free(data->source);
	free(data->process);
	free(data->ledger);
}

static int setup(struct sb_workload_run *run)
{
	struct sb_described *data = run->data;
	const struct sb_description *d = run->workload->description;
	int rc;

	data->description = d;
	data->failure.scheduler = run->scheduler;
	data->workers = sb_scheduler_workers(run->scheduler);
	for (uint32_t k = 0; k < d->kinds; k++)
		data->first[k + 1] = data->first[k] + (uint32_t)run->param[k];
	data->processes = data->first[d->kinds];
	run->asked_ns = mean_work_ns(data);
	run->asked_scv = 1; /* nobody has worked it out */
	rc = measure_speeds(data);
	if (!rc)
		rc = allocate(data, run->load);
	if (rc)
		teardown(run);
	return rc;
}

struct sb_workload sb_described_workload(const struct sb_description *description)
{
	return (struct sb_workload){
		.name = description->name,
		.operation = "request",
		.doc = description->doc,
		.source = description->file,
		.params = description->params,
		.metrics = description->metrics,
		.description = description,
		.data_bytes = sizeof(struct sb_described),
		.takes_requests = true,
		.peek = peek,
		.objective = "sojourn_ns_p99",
		.setup = setup,
		.start = start,
		.operations = operations,
		.check = check,
		.teardown = teardown,
	};
}
