/* serve.c - what a process does with a request: the actions of its kind, one after the other. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory/arena.h"
#include "workloads/described/described.h"
#include "workloads/lib/work.h"

/* ---- what it keeps ---- */

/* The worker's, made when it serves its first request. NULL: no memory. */
static struct sb_described_ledger *ledger_of(struct sb_described *data, const struct sb_step *step)
{
	_Atomic(struct sb_described_ledger *) *slot = &data->ledger[sb_step_worker(step)];
	struct sb_described_ledger *ledger = sb_load_rlx(slot);
	const size_t bytes = sizeof(*ledger) + data->description->kinds * sizeof(*ledger->kind);

	if (SB_LIKELY(ledger))
		return ledger;
	ledger = sb_step_alloc(step, bytes);
	if (!ledger)
		return NULL;
	memset(ledger, 0, bytes);
	sb_store_rel(slot, ledger);
	return ledger;
}

/* Made by the process's first step, so that it lies at its worker. */
static int make_state(struct sb_server *server, const struct sb_step *step)
{
	const uint64_t bytes = server->data->description->kind[server->kind].state_bytes;
	void *block;

	if (!bytes || server->set.line)
		return 0;
	block = sb_step_alloc(step, bytes);
	if (!block)
		return -ENOMEM;
	sb_set_init(&server->set, SB_SET_STREAM, block, bytes);
	return 0;
}

/* ---- one action ---- */

struct service {
	struct sb_server *server;
	struct sb_described_ledger *ledger;
	struct sb_step *step;
};

static void work(const struct service *s, const struct sb_distribution *distribution)
{
	struct sb_server *server = s->server;
	const uint64_t units = (uint64_t)llrint(sb_distribution_sample(distribution, &server->rng) *
						server->data->units_per_ns[server->kind]);

	if (server->set.line)
		sb_set_work(&server->set, units);
	else
		sb_work_spin(units);
	s->ledger->kind[server->kind].units += units;
}

/* caller: NULL, or who waits for the reply. */
static int ask(const struct service *s, uint32_t kind, uint32_t number, struct sb_asked *caller)
{
	struct sb_described *data = s->server->data;
	struct sb_asked *asked = sb_step_alloc(s->step, sizeof(*asked));
	int rc;

	if (!asked)
		return -ENOMEM;
	*asked = (struct sb_asked){ .caller = caller, .kind = kind, .asked_ns = sb_clock_ns() };
	sb_count(&s->ledger->kind[kind].asked);
	if (caller) {
		caller->replies++;
		s->ledger->kind[caller->kind].called++;
	}
	rc = sb_step_send(s->step, data->process[data->first[kind] + number], sb_value_ptr(asked));
	if (rc)
		sb_mem_free(asked);
	return rc;
}

/* Neighbours from a random one on, so that each is another one. */
static int ask_target(const struct service *s, const struct sb_target *target,
		      struct sb_asked *caller)
{
	const uint32_t all = sb_kind_processes(s->server->data, target->kind);
	const uint32_t n = target->is_each ? all : target->processes;
	uint32_t number = sb_rng_below(&s->server->rng, all);
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		rc = ask(s, target->kind, number, caller);
		number = number + 1 == all ? 0 : number + 1;
	}
	return rc;
}

static int act(const struct service *s, const struct sb_action *action, struct sb_asked *asked)
{
	int rc = 0;

	if (action->share < 1 && sb_rng_unit(&s->server->rng) >= action->share)
		return 0;
	if (action->act == SB_ACT_WORK)
		work(s, &action->work);
	for (uint32_t i = 0; i < action->targets && !rc; i++)
		rc = ask_target(s, &action->target[i], action->act == SB_ACT_CALL ? asked : NULL);
	return rc;
}

/* ---- a request ---- */

static int complete(const struct service *s, struct sb_asked *asked)
{
	struct sb_kind_ledger *ledger = &s->ledger->kind[asked->kind];
	const uint64_t end = sb_clock_ns();
	int rc = 0;

	sb_hist_record(&ledger->took, end - asked->asked_ns);
	if (asked->caller)
		rc = sb_step_send(s->step, asked->caller->server, sb_value_ptr(asked->caller));
	if (asked->from_outside) {
		sb_served_complete(&s->ledger->served, s->step, s->server->data->generators,
				   &asked->request, asked->start_ns, end);
		free(asked);
	} else {
		sb_mem_free(asked);
	}
	/* Last: when all are served, the round is over. */
	sb_count(&ledger->served);
	return rc;
}

/* Until it waits for a reply, or all is done. */
static int go_on(const struct service *s, struct sb_asked *asked)
{
	const struct sb_kind *kind = &s->server->data->description->kind[asked->kind];

	while (asked->action < kind->actions) {
		const int rc = act(s, &kind->action[asked->action++], asked);

		if (rc || asked->replies)
			return rc;
	}
	return complete(s, asked);
}

static int take(const struct service *s, struct sb_asked *asked)
{
	if (!asked->server) {
		asked->server = sb_step_self(s->step);
		asked->start_ns = sb_clock_ns();
		return go_on(s, asked);
	}
	s->ledger->kind[asked->kind].replied++;
	return --asked->replies ? 0 : go_on(s, asked);
}

/* ---- the process ---- */

static int server_init(void *state, const char *method, union sb_value input)
{
	struct sb_server *server = state;

	(void)method; /* there is one */
	*server = *(const struct sb_server *)input.ptr;
	sb_rng_seed(&server->rng, server->data->seed ^ ((uint64_t)server->number + 1) << 32);
	sb_add_rlx(&server->data->alive, 1);
	return 0;
}

static int server_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct sb_server *server = state;
	const struct service s = { server, ledger_of(server->data, step), step };
	int rc = s.ledger ? make_state(server, step) : -ENOMEM;

	for (uint32_t i = 0; i < count && !rc; i++) {
		if (events[i].type != SB_EVENT_MESSAGE)
			return -ECANCELED;
		if (!events[i].data.ptr)
			return SB_DONE;
		rc = take(&s, events[i].data.ptr);
	}
	return rc ? rc : SB_IDLE;
}

SB_FAILURE_STEP(server)

static void server_close(void *state)
{
	struct sb_server *server = state;

	if (server->set.line && !sb_set_is_right(&server->set))
		sb_add_rlx(&server->data->wrong_states, 1);
	sb_mem_free(server->set.line);
	sb_sub_acq_rel(&server->data->alive, 1);
}

const struct sb_process_ops sb_server_ops = {
	.name = "server",
	.state_bytes = sizeof(struct sb_server),
	.init = server_init,
	.step = server_step,
	.close = server_close,
};
