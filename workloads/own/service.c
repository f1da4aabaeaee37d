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
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory/arena.h"
#include "workloads/load/generator.h"
#include "workloads/load/replay.h"
#include "workloads/lib/service_set.h"
#include "workloads/lib/work.h"
#include "workloads/workload.h"

enum { SERVICE, WORK, SERVERS };

static const char *const service_initial[] = { "exp:10us", NULL };
static const char *const work_initial[] = { "spin", NULL };

static const struct sb_param params[] = {
	[SERVICE] = { "service", 0, 0, SB_PARAM_TEXT, service_initial,
		      "CPU time of a request: a distribution, or a name such "
		      "as tpcc" },
	[WORK] = { "work", 0, 0, SB_PARAM_TEXT, work_initial,
		   "what a request does: spin, chase:BYTES or stream:BYTES" },
	[SERVERS] = { "servers", 0, 0, 1 << 20, NULL,
		      "processes that requests are messages to; 0: each is a "
		      "process" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* What has to be done for a request. */
struct job {
	struct job *next; /* while it is free */
	struct job *made; /* of the same source, before this one */
	struct sb_request request;
	uint64_t units;
};

/* What one worker has recorded; it alone writes, and others read at the end. */
struct ledger {
	struct sb_set set;
	struct sb_hist sojourn;
	struct sb_hist wait;
	struct sb_hist service;
	sb_counter served;
	sb_counter units;
	sb_counter stamps; /* sum of stamp_of */
};

/* What one generator draws from and has handed out. Free jobs of servers come
 * back through returned: many put, the generator takes all at once. */
struct source {
	alignas(SB_LINE) struct sb_rng rng;
	struct job *free;
	struct job *made; /* all, the last one first */
	uint64_t units;
	uint64_t stamps;
	alignas(SB_LINE) _Atomic(struct job *) returned;
};

struct data {
	struct sb_scheduler *scheduler;
	struct sb_distribution distribution;
	enum sb_set_kind set_kind;
	uint64_t set_bytes;
	double units_per_ns;
	struct sb_generators *generators;
	struct sb_replay *replay;
	uint32_t sources;
	struct source *source;
	uint32_t workers;
	_Atomic(struct ledger *) *ledger; /* [workers], each its worker's */
	_Atomic(uint64_t) wrong_sets;
	sb_pid anchor;
	uint32_t servers;
	uint32_t started; /* servers, in this round */
	sb_pid *server;	  /* [servers] */
};

/* Sums of these are equal if, and hardly unless, the requests are the same. */
static uint64_t stamp_of(const struct sb_request *request)
{
	struct sb_rng rng;

	sb_rng_seed(&rng,
		    ((uint64_t)request->generator << 48) ^ request->number);
	return sb_rng_next(&rng);
}

/* ---- serving ---- */

static int make_set(struct sb_set *set, const struct data *data,
		    const struct sb_step *step)
{
	void *block;

	if (data->set_kind == SB_SET_NONE)
		return 0;
	block = sb_step_alloc(step, data->set_bytes);
	if (!block)
		return -ENOMEM;
	sb_set_init(set, data->set_kind, block, data->set_bytes);
	return 0;
}

/* The worker's, made when it serves its first request. NULL: no memory. */
static struct ledger *ledger_of(struct data *data, const struct sb_step *step)
{
	_Atomic(struct ledger *) *slot = &data->ledger[sb_step_worker(step)];
	struct ledger *ledger = sb_load_rlx(slot);

	if (SB_LIKELY(ledger))
		return ledger;
	ledger = sb_step_alloc(step, sizeof(*ledger));
	if (!ledger)
		return NULL;
	memset(ledger, 0, sizeof(*ledger));
	if (!data->servers && make_set(&ledger->set, data, step)) {
		sb_mem_free(ledger);
		return NULL;
	}
	sb_store_rel(slot, ledger);
	return ledger;
}

static void serve(struct data *data, struct ledger *ledger, struct sb_set *set,
		  const struct job *job)
{
	const struct sb_request *request = &job->request;
	const uint64_t start = sb_clock_ns();
	uint64_t end;

	if (data->set_kind == SB_SET_NONE)
		sb_work_spin(job->units);
	else
		sb_set_work(set, job->units);
	end = sb_clock_ns();
	sb_hist_record(&ledger->wait, start - request->intended_ns);
	sb_hist_record(&ledger->service, end - start);
	sb_hist_record(&ledger->sojourn, end - request->intended_ns);
	sb_replay_served(data->replay, request, end - start);
	sb_counter_add(&ledger->served, 1);
	sb_counter_add(&ledger->units, job->units);
	sb_counter_add(&ledger->stamps, stamp_of(request));
	sb_generators_completed(data->generators, request->generator);
}

/* ---- a request that is a process of its own ---- */

struct own {
	struct data *data;
	struct job job;
};

static int own_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	*(struct own *)state = *(const struct own *)input.ptr;
	return 0;
}

static int own_step(void *state, struct sb_step *step,
		    const struct sb_event *events, uint32_t count)
{
	struct own *own = state;
	struct ledger *ledger;

	(void)events;
	if (count)
		return -ECANCELED;
	ledger = ledger_of(own->data, step);
	if (!ledger)
		return -ENOMEM;
	serve(own->data, ledger, &ledger->set, &own->job);
	return SB_DONE;
}

static const struct sb_process_ops own_ops = {
	.name = "request",
	.state_bytes = sizeof(struct own),
	.init = own_init,
	.step = own_step,
};

/* ---- a server, and the anchor, which is a server without requests: it keeps
 * the round from being over while there is nothing to do ---- */

struct server {
	struct data *data;
	struct sb_set set;
};

static int server_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	((struct server *)state)->data = input.ptr;
	return 0;
}

static void give_back(struct data *data, struct job *job)
{
	_Atomic(struct job *) *top =
		&data->source[job->request.generator].returned;

	job->next = sb_load_rlx(top);
	while (!sb_cas_weak_acq_rel(top, &job->next, job))
		continue;
}

/* A message without a job is the last one. */
static int take(struct server *server, struct ledger *ledger,
		const struct sb_event *event)
{
	struct job *job = event->data.ptr;

	if (event->type != SB_EVENT_MESSAGE)
		return -ECANCELED;
	if (!job)
		return SB_DONE;
	serve(server->data, ledger, &server->set, job);
	give_back(server->data, job);
	return SB_IDLE;
}

static int server_step(void *state, struct sb_step *step,
		       const struct sb_event *events, uint32_t count)
{
	struct server *server = state;
	struct ledger *ledger = ledger_of(server->data, step);
	int status = SB_IDLE;

	if (!ledger)
		return -ENOMEM;
	if (count && events[0].data.ptr && !server->set.line &&
	    make_set(&server->set, server->data, step))
		return -ENOMEM;
	for (uint32_t i = 0; i < count && status == SB_IDLE; i++)
		status = take(server, ledger, &events[i]);
	return status;
}

static void server_close(void *state)
{
	struct server *server = state;

	if (!server->set.line)
		return;
	if (!sb_set_is_right(&server->set))
		sb_add_rlx(&server->data->wrong_sets, 1);
	sb_mem_free(server->set.line);
}

static const struct sb_process_ops server_ops = {
	.name = "server",
	.state_bytes = sizeof(struct server),
	.init = server_init,
	.step = server_step,
	.close = server_close,
};

/* ---- submitting, on the generators' threads ---- */

static uint64_t draw_units(struct data *data, struct source *source)
{
	return (uint64_t)llrint(
		sb_distribution_sample(&data->distribution, &source->rng) *
		data->units_per_ns);
}

static int submit_process(struct data *data, const struct sb_request *request,
			  uint64_t units)
{
	const struct own own = { data,
				 { .request = *request, .units = units } };

	/* init copies it. */
	return sb_scheduler_submit(data->scheduler, &own_ops, "main",
				   sb_value_ptr((void *)(uintptr_t)&own), NULL);
}

static struct job *make_job(struct source *source)
{
	struct job *job = calloc(1, sizeof(*job));

	if (job) {
		job->made = source->made;
		source->made = job;
	}
	return job;
}

static struct job *get_job(struct source *source)
{
	struct job *job = source->free;

	if (!job)
		job = sb_xchg_acq(&source->returned, NULL);
	if (!job)
		return make_job(source);
	source->free = job->next;
	return job;
}

static int submit_message(struct data *data, struct source *source,
			  const struct sb_request *request, uint64_t units)
{
	const uint32_t chosen = sb_rng_below(&source->rng, data->servers);
	struct job *job = get_job(source);
	int rc;

	if (!job)
		return -ENOMEM;
	job->request = *request;
	job->units = units;
	rc = sb_scheduler_send(data->scheduler, data->server[chosen],
			       sb_value_ptr(job));
	if (rc) {
		job->next = source->free;
		source->free = job;
	}
	return rc;
}

static int submit(void *arg, const struct sb_request *request)
{
	struct data *data = arg;
	struct source *source = &data->source[request->generator];
	const uint64_t units = draw_units(data, source);
	int rc;

	sb_replay_submitted(data->replay, request,
			    (double)units / data->units_per_ns);
	rc = data->servers ? submit_message(data, source, request, units)
			   : submit_process(data, request, units);
	if (!rc) {
		source->units += units;
		source->stamps += stamp_of(request);
	}
	return rc;
}

/* After all that was sent before. A full mailbox empties; a process that is gone
 * needs no message. Without memory the round ends with its time-out. */
static void send_last(struct data *data, sb_pid pid)
{
	while (sb_scheduler_send(data->scheduler, pid, sb_value_ptr(NULL)) ==
	       -EWOULDBLOCK)
		sb_thread_yield();
}

static void ended(void *arg)
{
	struct data *data = arg;

	for (uint32_t i = 0; i < data->started; i++)
		send_last(data, data->server[i]);
	send_last(data, data->anchor);
}

static const struct sb_generator_ops generator_ops = { submit, ended };

/* ---- a round ---- */

static void clear_ledgers(struct data *data)
{
	for (uint32_t w = 0; w < data->workers; w++) {
		struct ledger *ledger = sb_load_acq(&data->ledger[w]);
		struct sb_set set;

		if (!ledger)
			continue;
		set = ledger->set; /* it goes on */
		memset(ledger, 0, sizeof(*ledger));
		ledger->set = set;
	}
}

static void clear_sources(struct data *data, uint64_t seed)
{
	for (uint32_t i = 0; i < data->sources; i++) {
		/* Not those of the arrivals, which are the load's seed and up. */
		sb_rng_seed(&data->source[i].rng, ~(seed + i));
		data->source[i].units = 0;
		data->source[i].stamps = 0;
	}
}

static int start_servers(struct data *data)
{
	int rc = sb_scheduler_submit(data->scheduler, &server_ops, "main",
				     sb_value_ptr(data), &data->anchor);

	data->started = 0;
	while (!rc && data->started < data->servers) {
		rc = sb_scheduler_submit(data->scheduler, &server_ops, "main",
					 sb_value_ptr(data),
					 &data->server[data->started]);
		data->started += !rc;
	}
	return rc;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc;

	sb_store_rlx(&data->wrong_sets, 0);
	clear_ledgers(data);
	clear_sources(data, run->load->seed);
	sb_replay_prepare(data->replay, run->load, run->duration_ns);
	rc = start_servers(data);
	if (!rc)
		return sb_generators_start(data->generators, run->duration_ns);
	ended(data);
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	const struct data *data = run->data;
	uint64_t served = 0;

	for (uint32_t w = 0; w < data->workers; w++) {
		struct ledger *ledger = sb_load_acq(&data->ledger[w]);

		served += ledger ? sb_counter_read(&ledger->served) : 0;
	}
	return served;
}

/* ---- what it has measured ---- */

struct sums {
	uint64_t served;
	uint64_t units;
	uint64_t stamps;
};

static struct sums sum_ledgers(struct data *data, struct sb_requests *out)
{
	struct sums sums = { 0 };

	for (uint32_t w = 0; w < data->workers; w++) {
		struct ledger *ledger = sb_load_acq(&data->ledger[w]);

		if (!ledger)
			continue;
		sums.served += sb_counter_read(&ledger->served);
		sums.units += sb_counter_read(&ledger->units);
		sums.stamps += sb_counter_read(&ledger->stamps);
		sb_hist_read(&ledger->sojourn, &out->hist[SB_REQUEST_SOJOURN]);
		sb_hist_read(&ledger->wait, &out->hist[SB_REQUEST_WAIT]);
		sb_hist_read(&ledger->service, &out->hist[SB_REQUEST_SERVICE]);
		if (ledger->set.line && !sb_set_is_right(&ledger->set))
			sb_add_rlx(&data->wrong_sets, 1);
	}
	return sums;
}

static struct sums sum_sources(const struct data *data, uint64_t submitted)
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
	const struct data *data = run->data;
	struct sb_requests *out = run->requests;

	out->completed += served->served;
	out->asked_ns += (double)served->units / data->units_per_ns;
	out->asked_mean_ns = data->distribution.mean_ns;
	out->wall_ns += sb_scheduler_idle_since_ns(data->scheduler) -
			sb_generators_start_ns(data->generators);
	/* From submission on: what is late is not in the system yet. */
	out->in_system_expected = (double)(out->hist[SB_REQUEST_SOJOURN].sum -
					   out->hist[SB_REQUEST_LATENESS].sum) /
				  out->observed_ns;
	if (sb_requests_lost(out))
		out->in_system_expected = NAN;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;
	struct sums asked;
	struct sums served;
	uint64_t before = run->requests->submitted;
	uint64_t wrong_sets;

	sb_generators_stop(data->generators);
	sb_generators_read(data->generators, run->requests);
	asked = sum_sources(data, run->requests->submitted - before);
	served = sum_ledgers(data, run->requests);
	sb_replay_work_out(data->replay, data->workers, asked.served,
			   run->requests);
	read_round(run, &served);
	wrong_sets = sb_load_rlx(&data->wrong_sets);
	if (!served.served)
		snprintf(why, why_bytes, "no request in the whole round");
	else if (served.served != asked.served || served.units != asked.units ||
		 served.stamps != asked.stamps)
		snprintf(why, why_bytes,
			 "%" PRIu64 " requests with %" PRIu64
			 " units of work were served, expected %" PRIu64
			 " with %" PRIu64 ", the same ones",
			 served.served, served.units, asked.served,
			 asked.units);
	else if (wrong_sets)
		snprintf(why, why_bytes,
			 "%" PRIu64
			 " working sets do not show the work that was done",
			 wrong_sets);
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
			 "expected spin, chase:BYTES or stream:BYTES, a size "
			 "with its unit (64KiB) from 64B to 16GiB");
		return sb_set_parse(text, &kind, &bytes);
	}
	if (sb_distribution_init(&distribution, text, why))
		return false;
	sb_distribution_fini(&distribution);
	return true;
}

static double measure_speed(const struct data *data)
{
	const uint64_t units =
		data->set_kind == SB_SET_NONE
			? sb_work_units_per_ms()
			: sb_set_units_per_ms(data->set_kind, data->set_bytes);

	return (double)units / 1e6;
}

static int allocate(struct data *data, const struct sb_load *load)
{
	data->ledger = calloc(data->workers, sizeof(*data->ledger));
	data->server = calloc(data->servers + 1, sizeof(*data->server));
	data->sources = load->generators;
	data->source =
		aligned_alloc(SB_LINE, data->sources * sizeof(*data->source));
	if (!data->ledger || !data->server || !data->source)
		return -ENOMEM;
	memset(data->source, 0, data->sources * sizeof(*data->source));
	if (sb_replay_create(&data->replay, load->generators))
		return -ENOMEM;
	return sb_generators_create(&data->generators, load, &generator_ops,
				    data);
}

static void free_jobs(struct job *last)
{
	while (last) {
		struct job *before = last->made;

		free(last);
		last = before;
	}
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	if (data->generators)
		sb_generators_stop(data->generators);
	sb_generators_destroy(data->generators);
	sb_replay_destroy(data->replay);
	for (uint32_t i = 0; data->source && i < data->sources; i++)
		free_jobs(data->source[i].made);
	for (uint32_t w = 0; data->ledger && w < data->workers; w++) {
		struct ledger *ledger = sb_load_acq(&data->ledger[w]);

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
	struct data *data = run->data;
	char why[SB_WHY_BYTES];
	int rc;

	data->scheduler = run->scheduler;
	data->workers = sb_scheduler_workers(run->scheduler);
	data->servers = (uint32_t)run->param[SERVERS];
	rc = sb_distribution_init(&data->distribution, run->text[SERVICE], why);
	if (rc)
		return rc;
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
	.doc = "requests from outside, each with a service time: open or "
	       "closed "
	       "loop",
	.source =
		"the service times of Shinjuku, Persephone, Caladan and ghOSt",
	.params = params,
	.data_bytes = sizeof(struct data),
	.accept = accept,
	.takes_requests = true,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
