/* processes.c - scenarios of processes: messages, timers, and ends. */
#include <errno.h>
#include <string.h>

#include "core/commands.h"
#include "tests/explore/explore.h"

/* ---- messages ---- */

#define SENDERS	 2
#define MESSAGES 3

struct post {
	struct fixture f;
	sb_pid sink;
	_Atomic(uint32_t) senders;
};

struct sink {
	uint64_t next[2 * SENDERS];
	uint64_t got;
};

static int sink_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct sink *sink = state;

	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t who = events[i].data.u64 / 100;

		CHECK_EQ(events[i].data.u64 % 100, sink->next[who]++);
		sink->got++;
	}
	return sink->got == 2 * SENDERS * MESSAGES ? SB_DONE : SB_IDLE;
}

static const struct sb_process_ops sink_ops = {
	.name = "sink", .state_bytes = sizeof(struct sink), .init = take_nothing, .step = sink_step
};

static void *send_from_outside(void *arg)
{
	struct post *post = arg;
	const uint64_t me = sb_add_acq_rel(&post->senders, 1);

	for (uint64_t i = 0; i < MESSAGES; i++)
		CHECK_EQ(sb_scheduler_send(post->f.s, post->sink, sb_value_u64(100 * me + i)), 0);
	return NULL;
}

struct sender {
	struct post *post;
	uint64_t me, sent;
};

static int sender_init(void *state, const char *method, union sb_value input)
{
	struct sender *s = state;

	(void)method;
	s->post = input.ptr;
	s->me = sb_add_acq_rel(&s->post->senders, 1);
	return 0;
}

static int sender_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct sender *s = state;

	(void)events;
	(void)count;
	CHECK_EQ(sb_step_send(step, s->post->sink, sb_value_u64(100 * s->me + s->sent)), 0);
	return ++s->sent == MESSAGES ? SB_DONE : SB_CONTINUE;
}

static const struct sb_process_ops sender_ops = { .name = "sender",
						  .state_bytes = sizeof(struct sender),
						  .init = sender_init,
						  .step = sender_step };

/* Threads and processes send to one process, which goes idle between their messages. */
static void messages(void)
{
	struct post post = { .senders = 0 };
	struct sb_thread thread[SENDERS];

	scenario_start(&post.f, 2);
	CHECK_EQ(sb_scheduler_submit(post.f.s, &sink_ops, "main", sb_value_u64(0), &post.sink), 0);
	for (int i = 0; i < SENDERS; i++) {
		CHECK_EQ(sb_thread_start(&thread[i], -1, send_from_outside, &post), 0);
		CHECK_EQ(sb_scheduler_submit(post.f.s, &sender_ops, "main", sb_value_ptr(&post),
					     NULL),
			 0);
	}
	scenario_wait(&post.f);
	for (int i = 0; i < SENDERS; i++)
		sb_thread_join(&thread[i]);
	scenario_end(&post.f);
}

/* ---- processes that end beneath others ---- */

struct mortal {
	struct fixture f;
	_Atomic(sb_pid) target;
	_Atomic(uint32_t) told;	   /* exit events */
	_Atomic(uint32_t) missing; /* monitors of what had ended */
	_Atomic(uint32_t) removed;
};

static int brief_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	return ++*(uint64_t *)state == 2 ? SB_DONE : SB_CONTINUE;
}

static const struct sb_process_ops brief_ops = {
	.name = "brief", .state_bytes = 8, .init = take_nothing, .step = brief_step
};

/* Asks, and perhaps takes it back; then waits for what it is still owed. */
struct mourner {
	struct mortal *mortal;
	bool takes_back, has_asked;
	int owed; /* completions and exit events */
};

static int mourner_init(void *state, const char *method, union sb_value input)
{
	struct mourner *m = state;

	m->mortal = input.ptr;
	m->takes_back = !strcmp(method, "takes back");
	return 0;
}

static void mourner_event(struct mourner *m, const struct sb_event *e)
{
	struct mortal *mortal = m->mortal;

	if (e->type == SB_EVENT_EXIT) {
		sb_add_rlx(&mortal->told, 1);
		m->owed--;
		return;
	}
	m->owed--;
	if (e->tag == 1 && e->error) {
		CHECK_EQ(e->error, -ESRCH);
		sb_add_rlx(&mortal->missing, 1);
		m->owed--; /* no exit will come */
	} else if (e->tag == 2 && !e->error) {
		sb_add_rlx(&mortal->removed, 1);
		m->owed--;
	}
}

static int mourner_step(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct mourner *m = state;
	const sb_pid pid = sb_load_rlx(&m->mortal->target);

	for (uint32_t i = 0; i < count; i++)
		mourner_event(m, &events[i]);
	if (!m->has_asked) {
		m->has_asked = true;
		m->owed = 2;
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_MONITOR, sb_value_u64(pid), 1), 0);
		if (m->takes_back) {
			m->owed++;
			CHECK_EQ(sb_step_yield(step, SB_COMMAND_UNMONITOR, sb_value_u64(pid), 2),
				 0);
		}
		return SB_IDLE;
	}
	return m->owed ? SB_IDLE : SB_DONE;
}

static const struct sb_process_ops mourner_ops = { .name = "mourner",
						   .state_bytes = sizeof(struct mourner),
						   .init = mourner_init,
						   .step = mourner_step };

/* Each monitor gives one exit event, says that it came too late, or is taken back. */
static void monitors(void)
{
	struct mortal m = { .target = 0 };
	sb_pid pid;

	scenario_start(&m.f, 3);
	CHECK_EQ(sb_scheduler_submit(m.f.s, &brief_ops, "main", sb_value_u64(0), &pid), 0);
	sb_store_rlx(&m.target, pid);
	CHECK_EQ(sb_scheduler_submit(m.f.s, &mourner_ops, "keeps", sb_value_ptr(&m), NULL), 0);
	CHECK_EQ(sb_scheduler_submit(m.f.s, &mourner_ops, "takes back", sb_value_ptr(&m), NULL), 0);
	scenario_wait(&m.f);
	CHECK_EQ(sb_load_rlx(&m.told) + sb_load_rlx(&m.missing) + sb_load_rlx(&m.removed), 2);
	scenario_end(&m.f);
}

static void *terminate(void *arg)
{
	struct mortal *m = arg;
	const int rc = sb_scheduler_terminate(m->f.s, sb_load_rlx(&m->target));

	if (rc)
		CHECK_EQ(rc, -ESRCH);
	return NULL;
}

/* Two threads terminate and send to a process that ends by itself. */
static void terminations(void)
{
	struct mortal m = { .target = 0 };
	struct sb_thread thread[2];
	sb_pid pid;
	int rc;

	scenario_start(&m.f, 2);
	for (int round = 0; round < 2; round++) {
		CHECK_EQ(sb_scheduler_submit(m.f.s, &brief_ops, "main", sb_value_u64(0), &pid), 0);
		sb_store_rlx(&m.target, pid);
		for (int i = 0; i < 2; i++)
			CHECK_EQ(sb_thread_start(&thread[i], -1, terminate, &m), 0);
		rc = sb_scheduler_send(m.f.s, pid, sb_value_u64(1));
		if (rc)
			CHECK_EQ(rc, -ESRCH);
		for (int i = 0; i < 2; i++)
			sb_thread_join(&thread[i]);
		scenario_wait(&m.f);
	}
	CHECK_EQ(sb_scheduler_stop(m.f.s, PATIENCE_NS), 0);
	CHECK_EQ(sb_load_rlx(&m.f.completed), sb_load_rlx(&m.f.started));
	sb_scheduler_destroy(m.f.s);
}

/* ---- timers ---- */

/* Starts a timer, and stops it about when it fires. */
struct alarm {
	bool was_stopped;
	int owed; /* completions, and the event unless it was stopped */
	int state;
};

static int alarm_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct alarm *a = state;
	uint64_t id = 0;

	for (uint32_t i = 0; i < count; i++) {
		a->owed--;
		if (events[i].type == SB_EVENT_COMPLETION && events[i].tag == 1) {
			CHECK_EQ(events[i].error, 0);
			id = events[i].data.u64;
		} else if (events[i].type == SB_EVENT_COMPLETION && !events[i].error) {
			a->owed--; /* its event will not come */
		}
		assert_true(a->owed >= 0);
	}
	if (a->state == 0) {
		a->state = 1;
		a->owed = 2;
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(2000), 1), 0);
	} else if (id) {
		a->owed++;
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_STOP, sb_value_u64(id), 2), 0);
	}
	return a->owed ? SB_IDLE : SB_DONE;
}

static const struct sb_process_ops alarm_ops = { .name = "alarm",
						 .state_bytes = sizeof(struct alarm),
						 .init = take_nothing,
						 .step = alarm_step };

/* Sleeps once, while all workers may be asleep. */
static int sleeper_step(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	(void)events;
	if (count)
		return SB_DONE;
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(3000 + *(uint64_t *)state), 1),
		 0);
	return SB_YIELD;
}

static const struct sb_process_ops sleeper_ops = {
	.name = "sleeper", .state_bytes = 8, .init = take_input, .step = sleeper_step
};

static void timers(void)
{
	struct fixture f;

	scenario_start(&f, 3);
	for (uint64_t i = 0; i < 3; i++) {
		CHECK_EQ(sb_scheduler_submit(f.s, &sleeper_ops, "main", sb_value_u64(2000 * i),
					     NULL),
			 0);
		CHECK_EQ(sb_scheduler_submit(f.s, &alarm_ops, "main", sb_value_u64(0), NULL), 0);
	}
	scenario_wait(&f);
	scenario_end(&f);
}

/* Sleeps for a moment, and another one works for long: a worker that sleeps has to come. */
struct nap {
	_Atomic(uint64_t) due_ns, woke_ns;
};

static int nap_step(void *state, struct sb_step *step, const struct sb_event *events,
		    uint32_t count)
{
	struct nap *nap = (*(union sb_value *)state).ptr;

	(void)events;
	if (count) {
		sb_store_rlx(&nap->woke_ns, sb_clock_ns());
		return SB_DONE;
	}
	sb_store_rlx(&nap->due_ns, sb_clock_ns() + 5000);
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(5000), 1), 0);
	return SB_YIELD;
}

static const struct sb_process_ops nap_ops = {
	.name = "nap", .state_bytes = sizeof(union sb_value), .init = take_input, .step = nap_step
};

#define BUSY_NS	 UINT64_C(5000000)
#define TOO_LATE (BUSY_NS / 2)

static int busy_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	const uint64_t end_ns = sb_clock_ns() + BUSY_NS;

	(void)state;
	(void)step;
	(void)events;
	(void)count;
	while (sb_clock_ns() < end_ns)
		sb_thread_sleep(20000);
	return SB_DONE;
}

static const struct sb_process_ops busy_ops = {
	.name = "busy", .state_bytes = 8, .init = take_nothing, .step = busy_step
};

static void naps(void)
{
	struct nap nap[2] = { { .due_ns = 0 }, { .due_ns = 0 } };
	struct fixture f;

	scenario_start(&f, 3);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sb_scheduler_submit(f.s, &nap_ops, "main", sb_value_ptr(&nap[i]), NULL),
			 0);
		CHECK_EQ(sb_scheduler_submit(f.s, &busy_ops, "main", sb_value_u64(0), NULL), 0);
	}
	scenario_wait(&f);
	for (int i = 0; i < 2; i++)
		assert_true(sb_load_rlx(&nap[i].woke_ns) < sb_load_rlx(&nap[i].due_ns) + TOO_LATE);
	scenario_end(&f);
}

const struct scenario process_scenarios[] = {
	{ "messages", "threads and processes send to one that goes idle in between", messages },
	{ "monitors", "monitors, and their removal, against the end of their target", monitors },
	{ "terminations", "terminations and messages against an end", terminations },
	{ "timers", "timers that fire, are stopped, and wake sleeping workers", timers },
	{ "naps", "timers that are due while other workers are busy", naps },
	{ NULL, NULL, NULL },
};
