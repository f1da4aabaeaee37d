/*
 * service - requests come from outside as a load says, each with a time of
 * service drawn from a distribution, and are served: each is a process of its own, or,
 * with --servers, a message to one of that many processes, chosen at random. A
 * process serves a request in one step. One operation is one request.
 *
 * --service is CPU time: the drawn time is turned into units of work, whose
 * speed is measured before the first round. --work says what a unit is: a step
 * of a chain of multiplications, or an access to a working set (set.h). A server
 * has a set of its own; a request that is a process of its own uses the one of
 * the worker that runs it, which no other request uses meanwhile. Sets come from
 * the arena of the worker that uses them first.
 *
 * Check: every request that was accepted was served exactly once, with all of
 * its units, and the working sets show that work.
 */
#include "workloads/own/service.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory/arena.h"
#include "workloads/lib/service_set.h"
#include "workloads/lib/work.h"
#include "workloads/load/generator.h"
#include "workloads/load/replay.h"
#include "workloads/workload.h"

enum { SERVICE, WORK, SERVERS };

static const char *const service_initial[] = { "exp:10us", NULL };
static const char *const work_initial[] = { "spin", NULL };

static const struct sb_param params[] = {
	[SERVICE] = { "service", 0, 0, SB_PARAM_TEXT, service_initial,
		      "CPU time of a request: a distribution, or a name such as tpcc" },
	[WORK] = { "work", 0, 0, SB_PARAM_TEXT, work_initial,
		   "what a request does: spin, chase:BYTES or stream:BYTES" },
	[SERVERS] = { "servers", 0, 0, 1 << 20, NULL,
		      "processes that requests are messages to; 0: each is a process" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

uint64_t sb_service_stamp(const struct sb_request *request)
{
	struct sb_rng rng;

	sb_rng_seed(&rng, ((uint64_t)request->generator << 48) ^ request->number);
	return sb_rng_next(&rng);
}

/* ---- a request that is a process of its own ---- */

/* ---- a server, and the anchor, which is a server without requests: it keeps
 * the round from being over while there is nothing to do ---- */

/* ---- submitting, on the generators' threads ---- */

static uint64_t draw_units(struct sb_service *data, struct sb_service_source *source)
{
	return (uint64_t)llrint(sb_distribution_sample(&data->distribution, &source->rng) *
				data->units_per_ns);
}

static int submit_process(struct sb_service *data, const struct sb_request *request, uint64_t units)
{
	const struct sb_service_own own = { data, { .request = *request, .units = units } };

	/* init copies it. */
	return sb_scheduler_submit(data->scheduler, &sb_service_own_ops, "main",
				   sb_value_ptr((void *)(uintptr_t)&own), NULL);
}

static struct sb_service_job *make_job(struct sb_service_source *source)
{
	struct sb_service_job *job = calloc(1, sizeof(*job));

	if (job) {
		job->made = source->made;
		source->made = job;
	}
	return job;
}

static struct sb_service_job *get_job(struct sb_service_source *source)
{
	struct sb_service_job *job = source->free;

	if (!job)
		job = sb_xchg_acq(&source->returned, NULL);
	if (!job)
		return make_job(source);
	source->free = job->next;
	return job;
}

static int submit_message(struct sb_service *data, struct sb_service_source *source,
			  const struct sb_request *request, uint64_t units)
{
	const uint32_t chosen = sb_rng_below(&source->rng, data->servers);
	struct sb_service_job *job = get_job(source);
	int rc;

	if (!job)
		return -ENOMEM;
	job->request = *request;
	job->units = units;
	rc = sb_scheduler_send(data->scheduler, data->server[chosen], sb_value_ptr(job));
	if (rc) {
		job->next = source->free;
		source->free = job;
	}
	return rc;
}

static int submit(void *arg, const struct sb_request *request)
{
	struct sb_service *data = arg;
	struct sb_service_source *source = &data->source[request->generator];
	const uint64_t units = draw_units(data, source);
	int rc;

	sb_replay_submitted(data->replay, request, (double)units / data->units_per_ns);
	rc = data->servers ? submit_message(data, source, request, units)
			   : submit_process(data, request, units);
	if (!rc) {
		source->units += units;
		source->stamps += sb_service_stamp(request);
	}
	return rc;
}

/* After all that was sent before. A full mailbox empties; a process that is gone
 * needs no message. Without memory the round ends with its time-out. */
static void send_last(struct sb_service *data, sb_pid pid)
{
	while (sb_scheduler_send(data->scheduler, pid, sb_value_ptr(NULL)) == -EWOULDBLOCK)
		sb_thread_yield();
}

static void ended(void *arg)
{
	struct sb_service *data = arg;

	for (uint32_t i = 0; i < data->started; i++)
		send_last(data, data->server[i]);
	send_last(data, data->anchor);
}

static const struct sb_generator_ops generator_ops = { submit, ended };

/* ---- a round ---- */

static void clear_ledgers(struct sb_service *data)
{
	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_service_ledger *ledger = sb_load_acq(&data->ledger[w]);
		struct sb_set set;

		if (!ledger)
			continue;
		set = ledger->set; /* it goes on */
		memset(ledger, 0, sizeof(*ledger));
		ledger->set = set;
	}
}

static void clear_sources(struct sb_service *data, uint64_t seed)
{
	for (uint32_t i = 0; i < data->sources; i++) {
		/* Not those of the arrivals, which are the load's seed and up. */
		sb_rng_seed(&data->source[i].rng, ~(seed + i));
		data->source[i].units = 0;
		data->source[i].stamps = 0;
	}
}

static int start_servers(struct sb_service *data)
{
	int rc = sb_scheduler_submit(data->scheduler, &sb_service_server_ops, "main",
				     sb_value_ptr(data), &data->anchor);

	data->started = 0;
	while (!rc && data->started < data->servers) {
		rc = sb_scheduler_submit(data->scheduler, &sb_service_server_ops, "main",
					 sb_value_ptr(data), &data->server[data->started]);
		data->started += !rc;
	}
	return rc;
}

static int start(struct sb_workload_run *run)
{
	struct sb_service *data = run->data;
	int rc;

	sb_store_rlx(&data->wrong_sets, 0);
	clear_ledgers(data);
	clear_sources(data, run->load->seed);
	sb_replay_prepare(data->replay, run->load, run->relax_ns + run->duration_ns);
	rc = start_servers(data);
	if (rc) {
		ended(data);
		return rc;
	}
	rc = sb_generators_start(data->generators, run->relax_ns, run->duration_ns);
	run->round.start_ns = sb_generators_window(data->generators)->from_ns;
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	const struct sb_service *data = run->data;
	uint64_t served = 0;

	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_service_ledger *ledger = sb_load_acq(&data->ledger[w]);

		served += ledger ? sb_counter_read(&ledger->served.requests) : 0;
	}
	return served;
}

static void peek(const struct sb_workload_run *run, uint64_t *completed,
		 struct sb_hist_counts *sojourn)
{
	const struct sb_service *data = run->data;

	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_service_ledger *ledger = sb_load_acq(&data->ledger[w]);

		if (!ledger)
			continue;
		*completed += sb_counter_read(&ledger->served.requests);
		sb_hist_read(&ledger->served.sojourn, sojourn);
	}
}

/* ---- what it has measured ---- */

struct sums {
	uint64_t served;
	uint64_t units;
	uint64_t stamps;
};

static struct sums sum_ledgers(struct sb_service *data, struct sb_requests *out)
{
	struct sums sums = { 0 };

	for (uint32_t w = 0; w < data->workers; w++) {
		struct sb_service_ledger *ledger = sb_load_acq(&data->ledger[w]);

		if (!ledger)
			continue;
		sums.served += sb_counter_read(&ledger->served.requests);
		sums.units += sb_counter_read(&ledger->units);
		sums.stamps += sb_counter_read(&ledger->stamps);
		sb_served_read(&ledger->served, out);
		if (ledger->set.line && !sb_set_is_right(&ledger->set))
			sb_add_rlx(&data->wrong_sets, 1);
	}
	return sums;
}

static struct sums sum_sources(const struct sb_service *data, uint64_t submitted)
{
	struct sums sums = { .served = submitted };

	for (uint32_t i = 0; i < data->sources; i++) {
		sums.units += data->source[i].units;
		sums.stamps += data->source[i].stamps;
	}
	return sums;
}

static void read_round(struct sb_workload_run *run, const struct sums *served)
{
	const struct sb_service *data = run->data;
	struct sb_requests *out = run->requests;

	out->asked_ns += (double)served->units / data->units_per_ns;
	out->asked_mean_ns = data->distribution.mean_ns;
	sb_served_end_round(out, data->generators, sb_scheduler_idle_since_ns(data->scheduler));
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct sb_service *data = run->data;
	struct sums asked;
	struct sums served;
	uint64_t before = run->requests->submitted;
	uint64_t wrong_sets;

	sb_generators_stop(data->generators);
	sb_generators_read(data->generators, run->requests);
	asked = sum_sources(data, run->requests->submitted - before);
	served = sum_ledgers(data, run->requests);
	sb_replay_work_out(data->replay, data->workers, sb_generators_accepted(data->generators),
			   sb_generators_window(data->generators)->from_ns, run->requests);
	read_round(run, &served);
	wrong_sets = sb_load_rlx(&data->wrong_sets);
	if (!served.served)
		snprintf(why, why_bytes, "no request in the whole round");
	else if (served.served != asked.served || served.units != asked.units ||
		 served.stamps != asked.stamps)
		snprintf(why, why_bytes,
			 "%" PRIu64 " requests with %" PRIu64
			 " units of work were served, expected %" PRIu64 " with %" PRIu64
			 ", the same ones",
			 served.served, served.units, asked.served, asked.units);
	else if (wrong_sets)
		snprintf(why, why_bytes,
			 "%" PRIu64 " working sets do not show the work that was done", wrong_sets);
	else
		return true;
	return false;
}

/* ---- from text, set-up, teardown ---- */

static bool accept(const struct sb_param *param, const char *text, char *why)
{
	struct sb_distribution distribution;
	enum sb_set_kind kind;
	uint64_t bytes;

	if (param == &params[WORK]) {
		snprintf(why, SB_WHY_BYTES,
			 "expected spin, chase:BYTES or stream:BYTES, a size with its unit (64KiB) "
			 "from 64B to 16GiB");
		return sb_set_parse(text, &kind, &bytes);
	}
	if (sb_distribution_init(&distribution, text, why))
		return false;
	sb_distribution_fini(&distribution);
	return true;
}

static double measure_speed(const struct sb_service *data)
{
	const uint64_t units = data->set_kind == SB_SET_NONE
				       ? sb_work_units_per_ms()
				       : sb_set_units_per_ms(data->set_kind, data->set_bytes);

	return (double)units / 1e6;
}

static int allocate(struct sb_service *data, const struct sb_load *load)
{
	data->ledger = calloc(data->workers, sizeof(*data->ledger));
	data->server = calloc(data->servers + 1, sizeof(*data->server));
	data->sources = load->generators;
	data->source = aligned_alloc(SB_LINE, data->sources * sizeof(*data->source));
	if (!data->ledger || !data->server || !data->source)
		return -ENOMEM;
	memset(data->source, 0, data->sources * sizeof(*data->source));
	if (sb_replay_create(&data->replay, load->generators))
		return -ENOMEM;
	return sb_generators_create(&data->generators, load, &generator_ops, data);
}

static void free_jobs(struct sb_service_job *last)
{
	while (last) {
		struct sb_service_job *before = last->made;

		free(last);
		last = before;
	}
}

static void teardown(struct sb_workload_run *run)
{
	struct sb_service *data = run->data;

	if (data->generators)
		sb_generators_stop(data->generators);
	sb_generators_destroy(data->generators);
	sb_replay_destroy(data->replay);
	for (uint32_t i = 0; data->source && i < data->sources; i++)
		free_jobs(data->source[i].made);
	for (uint32_t w = 0; data->ledger && w < data->workers; w++) {
		struct sb_service_ledger *ledger = sb_load_acq(&data->ledger[w]);

		sb_mem_free(ledger ? ledger->set.line : NULL);
		sb_mem_free(ledger);
	}
	free(data->source);
	free(data->server);
	free(data->ledger);
	sb_distribution_fini(&data->distribution);
}

static int setup(struct sb_workload_run *run)
{
	struct sb_service *data = run->data;
	char why[SB_WHY_BYTES];
	int rc;

	data->scheduler = run->scheduler;
	data->workers = sb_scheduler_workers(run->scheduler);
	data->servers = (uint32_t)run->param[SERVERS];
	rc = sb_distribution_init(&data->distribution, run->text[SERVICE], why);
	if (rc)
		return rc;
	run->asked_ns = data->distribution.mean_ns;
	run->asked_scv = data->distribution.scv;
	if (!sb_set_parse(run->text[WORK], &data->set_kind, &data->set_bytes))
		rc = -EINVAL;
	if (!rc)
		rc = allocate(data, run->load);
	if (!rc) {
		data->units_per_ns = measure_speed(data);
		rc = data->units_per_ns > 0 ? 0 : -ENOMEM;
	}
	if (rc)
		teardown(run);
	return rc;
}

const struct sb_workload sb_workload_service = {
	.name = "service",
	.operation = "request",
	.doc = "requests from outside, each with a service time: open or closed loop",
	.source = "the service times of Shinjuku, Persephone, Caladan and ghOSt",
	.params = params,
	.objective = "sojourn_ns_p99",
	.data_bytes = sizeof(struct sb_service),
	.accept = accept,
	.takes_requests = true,
	.peek = peek,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
