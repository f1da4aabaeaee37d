/*
 * sequence.c - a scenario of any calls: two threads, and processes as these tell them to, submit,
 * send, spawn, terminate, cancel, monitor, link, sleep, start and stop timers, and fail; the
 * scheduler is stopped after or among that, and started again. The sequence's seed draws its
 * configuration and the calls; what is checked holds whatever they are. When one fails, main.c leaves out what the
 * failure does not need.
 */
#include <errno.h>
#include <inttypes.h>

#include "core/commands.h"
#include "tests/explore/explore.h"

#define PHASES	2
#define THREADS 2
#define CALLS	(SEQUENCE_CALLS / PHASES) /* of each phase */
#define ACTORS	4

/* Of threads; then of processes, which a thread tells by message; of these the first ones are
 * yields of a command. */
enum what {
	SUBMIT,
	KILL,
	ASK_TO_FINISH,
	PAUSE,
	TERMINATE,
	CANCEL,
	MONITOR,
	UNMONITOR,
	LINK,
	UNLINK,
	SLEEP,
	TIMER,
	TICKER,
	STOP_TIMER,
	SPAWN,
	SEND,
	CONTINUE,
	FAIL,
	WHATS
};

static const struct {
	const char *name; /* before the target */
	uint32_t command; /* of a yield */
	bool alone;	  /* it has no target */
} what[WHATS] = {
	[SUBMIT] = { "submits", 0, false },
	[KILL] = { "terminates", 0, false },
	[ASK_TO_FINISH] = { "cancels", 0, false },
	[PAUSE] = { "pauses", 0, true },
	[TERMINATE] = { "terminate", SB_COMMAND_TERMINATE, false },
	[CANCEL] = { "cancel", SB_COMMAND_CANCEL, false },
	[MONITOR] = { "monitor", SB_COMMAND_MONITOR, false },
	[UNMONITOR] = { "unmonitor", SB_COMMAND_UNMONITOR, false },
	[LINK] = { "link to", SB_COMMAND_LINK, false },
	[UNLINK] = { "unlink from", SB_COMMAND_UNLINK, false },
	[SLEEP] = { "sleep", SB_COMMAND_SLEEP, true },
	[TIMER] = { "start a timer", SB_COMMAND_TIMER_START, true },
	[TICKER] = { "start a ticker", SB_COMMAND_TICKER, true },
	[STOP_TIMER] = { "stop a timer", SB_COMMAND_TIMER_STOP, true },
	[SPAWN] = { "spawn", 0, false },
	[SEND] = { "send to", 0, false },
	[CONTINUE] = { "continue", 0, true },
	[FAIL] = { "fail", 0, true },
};

struct call {
	enum what what;
	uint32_t thread;
	uint32_t actor; /* that is told to; ACTORS: the thread itself */
	uint32_t target;
	bool is_made; /* false: it has been left out */
};

struct sequence {
	struct fixture f;
	struct call call[SEQUENCE_CALLS];
	bool stops_early[PHASES]; /* while threads make their calls */
	_Atomic(sb_pid) pid[ACTORS];
	_Atomic(uint32_t) phase, entered;
	/* Messages. */
	_Atomic(uint64_t) accepted, read, dropped;
};

/* ---- what processes do ---- */

#define SHORT_NS 2000

/* A message is a call's number; below FROM_THREADS it is from a process, and says nothing. */
#define FROM_THREADS 1

struct actor {
	struct sequence *sequence;
	int owed; /* completions */
	uint64_t timer;
	uint64_t last[THREADS]; /* message of each thread */
	int steps;		/* to do at once */
	bool finishes, fails;
};

static int actor_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count);

static int actor_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	((struct actor *)state)->sequence = input.ptr;
	return 0;
}

static const struct sb_process_ops actor_ops = {
	.name = "actor", .state_bytes = sizeof(struct actor), .init = actor_init, .step = actor_step
};

static uint64_t argument(const struct actor *a, const struct call *call)
{
	if (call->what == STOP_TIMER)
		return a->timer;
	return what[call->what].alone ? SHORT_NS : sb_load_rlx(&a->sequence->pid[call->target]);
}

static void spawn(struct actor *a, struct sb_step *step, uint32_t slot)
{
	sb_pid pid;
	const int rc = sb_step_spawn(step, &actor_ops, "main", sb_value_ptr(a->sequence), &pid);

	if (rc)
		CHECK_EQ(rc, -ESHUTDOWN);
	else
		sb_store_rlx(&a->sequence->pid[slot], pid);
}

static void note_sent(struct sequence *q, int rc)
{
	if (rc)
		CHECK_EQ(rc, -ESRCH);
	else
		sb_add_rlx(&q->accepted, 1);
}

static void do_call(struct actor *a, struct sb_step *step, const struct call *call)
{
	struct sequence *q = a->sequence;

	if (what[call->what].command) {
		CHECK_EQ(sb_step_yield(step, what[call->what].command,
				       sb_value_u64(argument(a, call)), call->what),
			 0);
		a->owed++;
	} else if (call->what == SPAWN) {
		spawn(a, step, call->target);
	} else if (call->what == SEND) {
		note_sent(q,
			  sb_step_send(step, sb_load_rlx(&q->pid[call->target]), sb_value_u64(0)));
	} else {
		a->steps += call->what == CONTINUE;
		a->fails |= call->what == FAIL;
	}
}

static void take_message(struct actor *a, struct sb_step *step, uint64_t message)
{
	struct sequence *q = a->sequence;
	const struct call *call;

	sb_add_rlx(&q->read, 1);
	if (message < FROM_THREADS)
		return;
	call = &q->call[message - FROM_THREADS];
	assert_true(message > a->last[call->thread]);
	a->last[call->thread] = message;
	do_call(a, step, call);
}

static void take_completion(struct actor *a, const struct sb_event *e)
{
	a->owed--;
	assert_true(a->owed >= 0);
	if (e->error)
		assert_true(e->error == -ESRCH || e->error == -EEXIST || e->error == -EINVAL ||
			    e->error == -ENOENT);
	else if (e->tag == TIMER || e->tag == TICKER)
		a->timer = e->data.u64;
}

static int actor_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct actor *a = state;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_MESSAGE)
			take_message(a, step, events[i].data.u64);
		else if (events[i].type == SB_EVENT_COMPLETION)
			take_completion(a, &events[i]);
		a->finishes |= events[i].type == SB_EVENT_CANCEL;
	}
	if (a->fails)
		return -EIO;
	if (a->steps) {
		a->steps--;
		return SB_CONTINUE;
	}
	if (a->owed)
		return SB_YIELD;
	return a->finishes ? SB_DONE : SB_IDLE;
}

/* ---- what threads do ---- */

static void submit(struct sequence *q, uint32_t slot)
{
	sb_pid pid;
	const int rc = sb_scheduler_submit(q->f.s, &actor_ops, "main", sb_value_ptr(q), &pid);

	if (rc)
		CHECK_EQ(rc, -ESHUTDOWN);
	else
		sb_store_rlx(&q->pid[slot], pid);
}

static void make_call(struct sequence *q, uint64_t number)
{
	const struct call *call = &q->call[number];
	const sb_pid target = sb_load_rlx(&q->pid[call->target]);
	int rc = 0;

	if (call->actor < ACTORS)
		note_sent(q, sb_scheduler_send(q->f.s, sb_load_rlx(&q->pid[call->actor]),
					       sb_value_u64(number + FROM_THREADS)));
	else if (call->what == SUBMIT)
		submit(q, call->target);
	else if (call->what == KILL)
		rc = sb_scheduler_terminate(q->f.s, target);
	else if (call->what == ASK_TO_FINISH)
		rc = sb_scheduler_cancel(q->f.s, target);
	else
		sb_thread_sleep(SHORT_NS);
	if (rc)
		CHECK_EQ(rc, -ESRCH);
}

static void *make_calls(void *arg)
{
	struct sequence *q = arg;
	const uint32_t me = sb_add_acq_rel(&q->entered, 1) % THREADS;
	const uint32_t first = CALLS * sb_load_rlx(&q->phase);

	for (uint32_t i = first; i < first + CALLS; i++) {
		if (q->call[i].thread == me && q->call[i].is_made)
			make_call(q, i);
	}
	return NULL;
}

static void run_phase(struct sequence *q, uint32_t phase)
{
	struct sb_thread thread[THREADS];

	sb_store_rlx(&q->phase, phase);
	CHECK_EQ(sb_scheduler_start(q->f.s, NULL), 0);
	for (uint32_t i = 0; i < ACTORS; i++)
		submit(q, i);
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK_EQ(sb_thread_start(&thread[i], -1, make_calls, q), 0);
	if (q->stops_early[phase])
		CHECK_EQ(sb_scheduler_stop(q->f.s, PATIENCE_NS), 0);
	for (uint32_t i = 0; i < THREADS; i++)
		sb_thread_join(&thread[i]);
	if (!q->stops_early[phase])
		CHECK_EQ(sb_scheduler_stop(q->f.s, PATIENCE_NS), 0);
}

/* ---- the sequence ---- */

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* Each call takes the same number of draws, so that leaving one out changes no other. */
static struct call draw_call(struct sb_rng *rng)
{
	struct call call = { .thread = sb_rng_below(rng, THREADS),
			     .target = sb_rng_below(rng, ACTORS) };
	const uint32_t actor = sb_rng_below(rng, ACTORS);

	call.what = (enum what)sb_rng_below(rng, WHATS);
	call.actor = call.what < TERMINATE ? ACTORS : actor;
	return call;
}

static void tell(const struct call *call)
{
	char target[24] = "";

	if (!what[call->what].alone)
		snprintf(target, sizeof(target), " process %" PRIu32, call->target);
	if (call->actor == ACTORS)
		fprintf(stderr, "thread %" PRIu32 " %s%s\n", call->thread, what[call->what].name,
			target);
	else
		fprintf(stderr, "thread %" PRIu32 " tells process %" PRIu32 " to %s%s\n",
			call->thread, call->actor, what[call->what].name, target);
}

static void draw_config(struct sb_config *config, struct sb_rng *rng)
{
	config->deque = sb_rng_below(rng, 2) ? SB_DEQUE_COUNTED : SB_DEQUE_CHASE_LEV;
	config->wake = (enum sb_wake)sb_rng_below(rng, SB_WAKE_GLOBAL + 1);
	config->continues = (enum sb_continue)sb_rng_below(rng, SB_CONTINUE_FRONT + 1);
	config->handover = sb_rng_below(rng, 2);
	config->record = sb_rng_below(rng, 2);
	config->batch = sb_rng_below(rng, 3);
	config->tick = 1 + sb_rng_below(rng, 8);
	fprintf(stderr,
		"deque %d, wake %d, continues %d, handover %d, record %d, batch %" PRIu32
		", tick %" PRIu32 "\n",
		config->deque, config->wake, config->continues, config->handover, config->record,
		config->batch, config->tick);
}

static void draw(struct sequence *q)
{
	const uint64_t calls = number_from("SB_CALLS", UINT64_MAX);
	struct sb_rng rng;

	sb_rng_seed(&rng, number_from("SB_SEQUENCE", sb_test_seed()));
	draw_config(&q->f.config, &rng);
	for (uint32_t i = 0; i < SEQUENCE_CALLS; i++) {
		struct call *call = &q->call[i];

		if (i % CALLS == 0) {
			q->stops_early[i / CALLS] = sb_rng_below(&rng, 2);
			fprintf(stderr, "before a stop%s:\n",
				q->stops_early[i / CALLS] ? ", or meanwhile" : "");
		}
		*call = draw_call(&rng);
		call->is_made = calls >> i & 1;
		if (call->is_made)
			tell(call);
	}
}

static void on_drop(void *hook, const struct sb_event *event)
{
	struct sequence *q = sb_container_of(hook, struct sequence, f);

	sb_add_rlx(&q->dropped, event->type == SB_EVENT_MESSAGE);
}

static void sequence(void)
{
	struct sequence q = { .phase = 0 };

	scenario_defaults(&q.f);
	draw(&q);
	q.f.config.on_drop = on_drop;
	fixture_create(&q.f, 2);
	for (uint32_t phase = 0; phase < PHASES; phase++)
		run_phase(&q, phase);
	sb_scheduler_destroy(q.f.s);
	/* Nobody is left, and no message; what was submitted after a stop was for the next start. */
	CHECK_EQ(sb_load_rlx(&q.f.completed), sb_load_rlx(&q.f.started));
	CHECK_EQ(sb_load_rlx(&q.read) + sb_load_rlx(&q.dropped), sb_load_rlx(&q.accepted));
}

const struct scenario sequence_scenarios[] = {
	{ "sequence", "any calls of threads and processes, and stops", sequence },
	{ NULL, NULL, NULL },
};
