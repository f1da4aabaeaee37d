/* service_serve.c - how requests are served: by a process each, or by servers. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/memory/arena.h"
#include "workloads/lib/service_set.h"
#include "workloads/lib/work.h"
#include "workloads/load/generator.h"
#include "workloads/load/replay.h"
#include "workloads/own/service.h"
#include "workloads/workload.h"

static int make_set(struct sb_set *set, const struct sb_service *data, const struct sb_step *step)
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
static struct sb_service_ledger *ledger_of(struct sb_service *data, const struct sb_step *step)
{
	_Atomic(struct sb_service_ledger *) *slot = &data->ledger[sb_step_worker(step)];
	struct sb_service_ledger *ledger = sb_load_rlx(slot);

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

static void serve(struct sb_service *data, struct sb_service_ledger *ledger, struct sb_set *set,
		  const struct sb_service_job *job, const struct sb_step *step)
{
	const struct sb_request *request = &job->request;
	const uint64_t start = sb_clock_ns();
	uint64_t end;

	if (data->set_kind == SB_SET_NONE)
		sb_work_spin(job->units);
	else
		sb_set_work(set, job->units);
	end = sb_clock_ns();
	sb_replay_served(data->replay, request, end - start);
	sb_counter_add(&ledger->units, job->units);
	sb_counter_add(&ledger->stamps, sb_service_stamp(request));
	sb_served_complete(&ledger->served, step, data->generators, request, start, end);
}

static int own_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	*(struct sb_service_own *)state = *(const struct sb_service_own *)input.ptr;
	return 0;
}

static int own_step(void *state, struct sb_step *step, const struct sb_event *events,
		    uint32_t count)
{
	struct sb_service_own *own = state;
	struct sb_service_ledger *ledger;

	(void)events;
	if (count)
		return -ECANCELED;
	ledger = ledger_of(own->data, step);
	if (!ledger)
		return -ENOMEM;
	serve(own->data, ledger, &ledger->set, &own->job, step);
	return SB_DONE;
}

const struct sb_process_ops sb_service_own_ops = {
	.name = "request",
	.state_bytes = sizeof(struct sb_service_own),
	.init = own_init,
	.step = own_step,
};

static int server_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	((struct sb_service_server *)state)->data = input.ptr;
	return 0;
}

static void give_back(struct sb_service *data, struct sb_service_job *job)
{
	_Atomic(struct sb_service_job *) *top = &data->source[job->request.generator].returned;

	job->next = sb_load_rlx(top);
	while (!sb_cas_weak_acq_rel(top, &job->next, job))
		continue;
}

/* A message without a job is the last one. */
static int take(struct sb_service_server *server, struct sb_service_ledger *ledger,
		const struct sb_event *event, const struct sb_step *step)
{
	struct sb_service_job *job = event->data.ptr;

	if (event->type != SB_EVENT_MESSAGE)
		return -ECANCELED;
	if (!job)
		return SB_DONE;
	serve(server->data, ledger, &server->set, job, step);
	give_back(server->data, job);
	return SB_IDLE;
}

static int server_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct sb_service_server *server = state;
	struct sb_service_ledger *ledger = ledger_of(server->data, step);
	int status = SB_IDLE;

	if (!ledger)
		return -ENOMEM;
	if (count && events[0].data.ptr && !server->set.line &&
	    make_set(&server->set, server->data, step))
		return -ENOMEM;
	for (uint32_t i = 0; i < count && status == SB_IDLE; i++)
		status = take(server, ledger, &events[i], step);
	return status;
}

static void server_close(void *state)
{
	struct sb_service_server *server = state;

	if (!server->set.line)
		return;
	if (!sb_set_is_right(&server->set))
		sb_add_rlx(&server->data->wrong_sets, 1);
	sb_mem_free(server->set.line);
}

const struct sb_process_ops sb_service_server_ops = {
	.name = "server",
	.state_bytes = sizeof(struct sb_service_server),
	.init = server_init,
	.step = server_step,
	.close = server_close,
};
