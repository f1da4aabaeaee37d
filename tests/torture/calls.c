/* calls.c - calls of the public interface by threads, steps and callbacks; each result must be one
 * that the header documents. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/torture/driver.h"
#include "tests/torture/host.h"

uint64_t delay_of(uint32_t number)
{
	static const uint64_t delays[] = { 0, 1000, 5000, 30000, 200000, 1000000, 3000000 };

	return delays[number % COUNT_OF(delays)];
}

static void submitted(struct life *life, uint32_t slot)
{
	put(&world->slot[slot], life->number + 1);
}

/* ---- submissions ---- */

struct life *call_submit(uint32_t scheduler, uint32_t type, const struct context *context,
			 enum endgame tells)
{
	struct life *life = life_new(scheduler, type, context->depth);
	sb_pid pid = 0;
	int rc;

	if (!life)
		return NULL;
	put(&life->tells, (uint8_t)tells);
	if (tells && rng_below(&own()->rng, 2))
		put(&life->init_error, -ERANGE);
	rc = sb_scheduler_submit(scheduler_of(life)->scheduler, &world->ops[type], "main",
				 sb_value_ptr(life), &pid);
	life_submitted(life, rc);
	expect(rc ? !pid : pid == get(&life->pid), "submit returned %d and PID %lx", rc,
	       (unsigned long)pid);
	return rc ? NULL : life;
}

static void submit(const struct action *a, const struct context *context)
{
	struct life *life = call_submit(a->scheduler, a->type, context, ENDGAME_PLAIN);

	if (life)
		submitted(life, a->slot);
}

static void submit_as(const struct action *a, const struct context *context)
{
	struct life *life = life_new(a->scheduler, a->type, context->depth);
	uint32_t tries = 0;
	int rc;

	if (!life)
		return;
	put(&life->pid, SB_PID_CHOSEN + a->number % CHOSEN);
	do {
		rc = sb_scheduler_submit_as(scheduler_of(life)->scheduler, get(&life->pid),
					    &world->ops[a->type], "main", sb_value_ptr(life));
		life_submitted(life, rc);
		/* The next process of a PID meets what is left of the last one. */
		if (rc != -EEXIST || context->who != THREAD)
			break;
		host_yield();
	} while (tries++ < a->number / 4);
	if (rc)
		life_give_back(life);
	else
		submitted(life, a->slot);
}

static void submit_wrong(const struct action *a, const struct context *context)
{
	struct life *life = life_new(a->scheduler, a->type, context->depth);
	struct sb_scheduler *s = world->scheduler[a->scheduler].scheduler;
	int rc;

	if (!life)
		return;
	if (a->number % 2) {
		rc = sb_scheduler_submit_as(s, 1 + a->number, &world->ops[a->type], "main",
					    sb_value_ptr(life));
		expect((rc == -EINVAL || rc == -ESHUTDOWN || rc == -EAGAIN || rc == -ENOMEM) &&
			       !get(&life->inits),
		       "submit_as with PID %u returned %d", 1 + a->number, rc);
		return;
	}
	put(&life->init_error, -ENOTSUP);
	rc = sb_scheduler_submit(s, &world->ops[a->type], "nothing", sb_value_ptr(life), NULL);
	life_submitted(life, rc);
}

/* The header allows the caller to free the operations when execute has returned. */
void call_execute(uint32_t scheduler, uint32_t type, enum endgame tells)
{
	struct life *life = life_new(scheduler, type, 0);
	struct sb_process_ops *ops;
	struct sb_exit exit = { .pid = 0 };
	int rc;

	if (!life)
		return;
	put(&life->tells, (uint8_t)tells);
	ops = malloc(sizeof(*ops));
	*ops = world->ops[type];
	rc = sb_scheduler_execute(scheduler_of(life)->scheduler, ops, "main", sb_value_ptr(life),
				  &exit);
	memset(ops, 0xa5, sizeof(*ops));
	free(ops);
	life_submitted(life, rc);
	if (rc)
		return;
	expect(get(&life->completes) == 1, "execute returned before on_complete");
	expect(exit.pid == get(&life->pid) && exit.error == get(&life->exit_error),
	       "execute says that PID %lx ended with %d, on_complete %d", (unsigned long)exit.pid,
	       exit.error, get(&life->exit_error));
	expect(exit.error || exit.result.u64 == get(&life->result), "execute has the result %lx",
	       (unsigned long)exit.result.u64);
}

struct life *call_spawn(uint32_t scheduler, uint32_t type, const struct context *context)
{
	struct life *life = life_new(scheduler, type, context->depth);
	sb_pid pid = 0;
	int rc;

	if (!life)
		return NULL;
	rc = sb_step_spawn(context->step, &world->ops[type], "main", sb_value_ptr(life), &pid);
	life_submitted(life, rc);
	return rc ? NULL : life;
}

/* ---- messages and completions ---- */

static bool may_refuse_send(const struct life *to, int rc)
{
	switch (rc) {
	case 0:
	case -ESRCH:
		return true;
	case -EWOULDBLOCK:
		return scheduler_of(to)->config.mailbox_bound;
	case -ENOMEM:
		return get(&world->refuses_memory);
	default:
		return false;
	}
}

int call_send(struct life *to, const struct context *context, bool from_step)
{
	struct parcel *parcel = parcel_new(to, context->stream, context->sequence);
	const uint64_t pid = get(&to->pid);
	uint32_t number;
	int rc;

	if (!parcel)
		return -ENOBUFS;
	number = parcel->number;
	rc = from_step ? sb_step_send(context->step, pid, sb_value_ptr(parcel))
		       : sb_scheduler_send(scheduler_of(to)->scheduler, pid, sb_value_ptr(parcel));
	expect(may_refuse_send(to, rc), "a send returned %d", rc);
	expect(!context->actor || to != context->actor->life || rc != -ESRCH,
	       "a process that runs was not found by its own send");
	parcel_sent(number, rc);
	return rc;
}

static void send_some(const struct action *a, const struct context *context, uint32_t n)
{
	struct life *to = life_in(a->slot);

	while (to && n--)
		(void)call_send(to, context, false);
}

/* True if sb_complete may say that the process has ended. */
static bool may_be_gone(const struct life *life)
{
	return life_may_be_ended(life) || get(&world->refuses_memory) ||
	       get(&life->has_ended_itself) || !get(&life->owed);
}

bool call_complete(uint32_t place, struct rng *rng)
{
	struct pending *pending =
		__atomic_exchange_n(&world->pending[place], NULL, __ATOMIC_ACQUIRE);
	const bool has_value = rng_below(rng, 4);
	struct parcel *parcel;
	uint32_t number = 0;
	int rc;

	if (!pending)
		return false;
	parcel = has_value ? parcel_new(pending->life, 0, NULL) : NULL;
	if (parcel) {
		number = parcel->number;
		parcel->is_completion = true;
		put(&world->parcel[number].is_completion, 1);
	}
	rc = sb_complete(&pending->completer, sb_value_ptr(parcel), parcel ? 0 : COMPLETION_ERROR);
	if (parcel)
		parcel_sent(number, rc);
	expect(!rc || rc == -ESRCH || (rc == -ENOMEM && get(&world->refuses_memory)),
	       "sb_complete returned %d", rc);
	expect(rc != -ESRCH || may_be_gone(pending->life),
	       "process %u, which waits for it, was not found by sb_complete",
	       pending->life->number);
	if (rc == -ENOMEM) {
		struct pending *none = NULL;

		if (__atomic_compare_exchange_n(&world->pending[place], &none, pending, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return true;
		host_allow_allocations(-1);
		rc = sb_complete(&pending->completer, sb_value_ptr(NULL), COMPLETION_ERROR);
		expect(!rc || rc == -ESRCH, "sb_complete returned %d", rc);
	}
	free(pending);
	return true;
}

/* ---- ends ---- */

static void cancel(const struct action *a)
{
	struct life *life = life_in(a->slot);
	int rc;

	if (!life)
		return;
	add(&life->cancels, 1);
	rc = sb_scheduler_cancel(scheduler_of(life)->scheduler, get(&life->pid));
	expect(!rc || rc == -ESRCH || (rc == -ENOMEM && get(&world->refuses_memory)),
	       "cancel returned %d", rc);
	/* With two calls at the same time, the other one may not have sent its event yet. */
	if (!rc && get(&life->pid) < SB_PID_CHOSEN && get(&life->cancels) == 1 &&
	    !get(&scheduler_of(life)->stops))
		put(&life->is_cancelled, true);
}

void call_terminate(struct life *life)
{
	int rc;

	life_may_end(life);
	rc = sb_scheduler_terminate(scheduler_of(life)->scheduler, get(&life->pid));
	expect(!rc || rc == -ESRCH || (rc == -ENOMEM && get(&world->refuses_memory)),
	       "terminate returned %d", rc);
	if (!rc && get(&life->pid) < SB_PID_CHOSEN)
		put(&life->is_terminated, true);
}

static void terminate(const struct action *a)
{
	struct life *life = life_in(a->slot);

	if (life)
		call_terminate(life);
}

/* ---- the whole scheduler ---- */

struct visit {
	struct scheduler_model *s;
	bool tells; /* once */
};

static void visit(void *arg, const struct sb_process_info *info)
{
	struct visit *v = arg;

	expect(info->pid && info->name && info->state >= SB_STATE_READY &&
		       info->state <= SB_STATE_COMPLETE,
	       "the list has PID %lx in state %d", (unsigned long)info->pid, info->state);
	expect(!strcmp(info->name, "actor"), "the list has a process '%s'", info->name);
	if (v->tells)
		add(&v->s->inside, 1);
	v->tells = false;
	call_in((uint32_t)(v->s - world->scheduler), FEATURE_HANDLER_CALLS, VISIT);
}

void call_list(struct scheduler_model *s, bool tells)
{
	struct visit v = { s, tells };

	sb_scheduler_list(s->scheduler, visit, &v);
}

void call_stop(struct scheduler_model *s)
{
	int rc;

	add(&s->stops, 1);
	/* Without force, however slow the machine is; a hang is found by the parent process. */
	rc = sb_scheduler_stop(s->scheduler, 10 * host_patience_ns());
	expect(rc != -ETIMEDOUT, "stop needed force");
	expect(!rc || rc == -EALREADY, "stop returned %d", rc);
}

static void stop(struct scheduler_model *s, uint32_t number)
{
	int rc;

	if (number % 4 == 0) {
		call_stop(s);
		return;
	}
	add(&s->stops, 1);
	put(&s->is_forced, true);
	rc = sb_scheduler_stop(s->scheduler, delay_of(number));
	expect(!rc || rc == -EALREADY || rc == -ETIMEDOUT, "stop returned %d", rc);
}

static void start(struct scheduler_model *s)
{
	uint32_t failed;
	int rc;

	if (get(&world->is_calm))
		return;
	rc = sb_scheduler_start(s->scheduler, &failed);

	expect(!rc || rc == -EALREADY || (rc == -ENOMEM && get(&world->refuses_memory)),
	       "start returned %d", rc);
}

/* The caller is in a step or a callback of that scheduler, and would wait for itself. */
static void must_not_wait(struct scheduler_model *s, uint32_t number)
{
	struct sb_exit exit;
	struct life *life;
	int rc;

	switch (number % 4) {
	case 0:
		rc = sb_scheduler_stop(s->scheduler, 0);
		break;
	case 1:
		rc = sb_scheduler_settle(s->scheduler);
		break;
	case 2:
		rc = sb_scheduler_wait_idle(s->scheduler, UINT64_MAX);
		break;
	default:
		life = life_new((uint32_t)(s - world->scheduler), 0, DEPTH_QUIET);
		if (!life)
			return;
		rc = sb_scheduler_execute(s->scheduler, &world->ops[0], "main", sb_value_ptr(life),
					  &exit);
		expect(!get(&life->inits), "execute in a step or a callback called init");
		life_give_back(life);
	}
	expect(rc == -EDEADLK, "%s in a step or a callback returned %d",
	       ((const char *const[]){ "stop", "settle", "wait_idle", "execute" })[number % 4], rc);
}

/* Creates a scheduler that is never started. The round destroys it in the end. */
static void create(void)
{
	struct sb_place place = { .os_cpu = -1 };
	const struct sb_placement placement = { .workers = 1, .place = &place };
	const uint32_t i = add(&world->spares, 1);
	struct sb_config config;
	struct sb_scheduler *s;
	int rc;

	if (i >= SPARES_MAX)
		return;
	sb_config_init(&config);
	rc = sb_scheduler_create(&s, &config, &placement);
	expect(!rc || (rc == -ENOMEM && get(&world->refuses_memory)), "create returned %d", rc);
	if (!rc)
		put(&world->spare[i], s);
}

static void refuse_memory(uint32_t number)
{
	if (!host_can_refuse_allocations())
		return;
	put(&world->refuses_memory, true);
	host_allow_allocations(number % 32);
	host_sleep_ns(delay_of(number));
	host_allow_allocations(-1);
}

static void shortage(struct sb_scheduler *s)
{
	const int rc = sb_scheduler_take_shortage(s);

	expect(!rc || rc == -ENOMEM || rc == -EAGAIN, "take_shortage returned %d", rc);
	expect(sb_scheduler_workers(s) && sb_scheduler_receiver(s), "a scheduler without workers");
	(void)sb_scheduler_idle_since_ns(s);
}

void call(const struct action *a, const struct context *context)
{
	struct scheduler_model *s = &world->scheduler[a->scheduler];
	int rc;

	switch (a->kind) {
	case ACT_SUBMIT:
		submit(a, context);
		break;
	case ACT_SUBMIT_AS:
		submit_as(a, context);
		break;
	case ACT_SUBMIT_WRONG:
		submit_wrong(a, context);
		break;
	case ACT_EXECUTE:
		call_execute(a->scheduler, a->type, ENDGAME_PLAIN);
		break;
	case ACT_SEND:
		send_some(a, context, 1);
		break;
	case ACT_BURST:
		send_some(a, context, 2 + a->number % 8);
		break;
	case ACT_CANCEL:
		cancel(a);
		break;
	case ACT_TERMINATE:
		terminate(a);
		break;
	case ACT_COMPLETE:
		(void)call_complete(a->number % PENDING_MAX, &own()->rng);
		break;
	case ACT_LIST:
		call_list(s, false);
		break;
	case ACT_WAIT_IDLE:
		rc = sb_scheduler_wait_idle(s->scheduler,
					    a->number % 4 ? delay_of(a->number) : UINT64_MAX);
		expect(!rc || (rc == -ETIMEDOUT && a->number % 4), "wait_idle returned %d", rc);
		break;
	case ACT_SETTLE:
		rc = sb_scheduler_settle(s->scheduler);
		expect(!rc, "settle returned %d", rc);
		break;
	case ACT_START:
		start(s);
		break;
	case ACT_STOP:
		stop(s, a->number);
		break;
	case ACT_SHORTAGE:
		shortage(s->scheduler);
		break;
	case ACT_PAUSE:
		host_sleep_ns(delay_of(a->number));
		break;
	case ACT_REFUSE_MEMORY:
		refuse_memory(a->number);
		break;
	case ACT_MUST_NOT_WAIT:
		must_not_wait(&world->scheduler[context->scheduler], a->number);
		break;
	case ACT_CREATE:
		create();
		break;
	}
}

/* Limit of callbacks within callbacks of one thread. */
#define DEPTH_MAX 2

void call_in(uint32_t scheduler, enum feature feature, enum who who)
{
	struct own *mine = own();
	struct action action;

	if (!world->script.feature[feature] || get(&world->is_calm) || mine->depth >= DEPTH_MAX)
		return;
	mine->depth++;
	for (uint32_t n = rng_below(&mine->rng, 4); n; n--) {
		const struct context context = { .who = who,
						 .scheduler = scheduler,
						 .depth = DEPTH_QUIET };

		if (script_draw_action(&world->script, &mine->rng, who, &action))
			call(&action, &context);
	}
	mine->depth--;
}
