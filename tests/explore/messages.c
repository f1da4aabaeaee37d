/* messages.c - scenarios of messages that are held, refused, or meet who has ended. */
#include <errno.h>

#include "core/commands.h"
#include "tests/explore/explore.h"

/* ---- what a step holds ---- */

#define HELD 6

struct reader {
	struct fixture f;
	sb_pid pid;
	_Atomic(uint32_t) got;
};

static int reader_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct reader **)state = input.ptr;
	return 0;
}

/* In order, whatever way they have taken. */
static int reader_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct reader *r = *(struct reader **)state;

	(void)step;
	for (uint32_t i = 0; i < count; i++)
		CHECK_EQ(events[i].data.u64, sb_add_rlx(&r->got, 1));
	return sb_load_rlx(&r->got) == HELD ? SB_DONE : SB_IDLE;
}

static const struct sb_process_ops reader_ops = {
	.name = "reader", .state_bytes = sizeof(void *), .init = reader_init, .step = reader_step
};

/* "Of a step that goes on for long it is made visible within config.hold_ns and two
 * milliseconds", of which schedules that are not the kernel's may need more. */
static void await(struct reader *r, uint32_t messages)
{
	const uint64_t end_ns = sb_clock_ns() + PATIENCE_NS;

	while (sb_load_acq(&r->got) < messages) {
		assert_true(sb_clock_ns() < end_ns);
		sb_thread_sleep(1000);
	}
}

/* By the step, and directly, and then it goes on until all have been read. */
static int writer_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct reader *r = *(struct reader **)state;
	const uint64_t sent = sb_load_rlx(&r->got);

	(void)events;
	(void)count;
	CHECK_EQ(sb_step_send(step, r->pid, sb_value_u64(sent)), 0);
	CHECK_EQ(sb_scheduler_send(r->f.s, r->pid, sb_value_u64(sent + 1)), 0);
	CHECK_EQ(sb_step_send(step, r->pid, sb_value_u64(sent + 2)), 0);
	await(r, (uint32_t)sent + 3);
	return sent + 3 == HELD ? SB_DONE : SB_CONTINUE;
}

static const struct sb_process_ops writer_ops = {
	.name = "writer", .state_bytes = sizeof(void *), .init = reader_init, .step = writer_step
};

static void held(void)
{
	struct reader r = { .got = 0 };

	scenario_start(&r.f, 2);
	CHECK_EQ(sb_scheduler_submit(r.f.s, &reader_ops, "main", sb_value_ptr(&r), &r.pid), 0);
	CHECK_EQ(sb_scheduler_submit(r.f.s, &writer_ops, "main", sb_value_ptr(&r), NULL), 0);
	scenario_wait(&r.f);
	scenario_end(&r.f);
}

/* ---- a bound on what is unread ---- */

#define BOUND 2

struct box {
	struct fixture f;
	sb_pid pid;
	_Atomic(uint32_t) go, accepted, read;
};

static int box_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct box **)state = input.ptr;
	return 0;
}

/* Its first step lasts until all have been sent. */
static int box_step(void *state, struct sb_step *step, const struct sb_event *events,
		    uint32_t count)
{
	struct box *box = *(struct box **)state;

	(void)step;
	(void)events;
	assert_uint_in_range(count, 0, BOUND);
	sb_add_rlx(&box->read, count);
	while (!sb_load_acq(&box->go))
		sb_thread_sleep(1000);
	return sb_load_acq(&box->read) == sb_load_rlx(&box->accepted) ? SB_DONE : SB_IDLE;
}

static const struct sb_process_ops box_ops = {
	.name = "box", .state_bytes = sizeof(void *), .init = box_init, .step = box_step
};

static void *fill(void *arg)
{
	struct box *box = arg;

	for (int i = 0; i < BOUND; i++) {
		const int rc = sb_scheduler_send(box->f.s, box->pid, sb_value_u64(0));

		if (rc)
			CHECK_EQ(rc, -EWOULDBLOCK);
		else
			sb_add_acq_rel(&box->accepted, 1);
	}
	return NULL;
}

static void bounded(void)
{
	struct box box = { .go = 0 };
	struct sb_thread thread[3];

	fixture_defaults(&box.f);
	box.f.config.mailbox_bound = BOUND;
	fixture_create(&box.f, 1);
	CHECK_EQ(sb_scheduler_start(box.f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_submit(box.f.s, &box_ops, "main", sb_value_ptr(&box), &box.pid), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sb_thread_start(&thread[i], -1, fill, &box), 0);
	for (int i = 0; i < 3; i++)
		sb_thread_join(&thread[i]);
	/* It has read none, or all that were there before its first step. */
	assert_uint_in_range(sb_load_rlx(&box.accepted), BOUND, 2 * BOUND);
	sb_store_rel(&box.go, 1);
	scenario_wait(&box.f);
	CHECK_EQ(sb_load_rlx(&box.read), sb_load_rlx(&box.accepted));
	scenario_end(&box.f);
}

/* ---- who has ended ---- */

#define LETTERS	 6
#define PAUSE_NS UINT64_C(10000000)

struct mortals {
	struct fixture f;
	sb_pid mortal;
	_Atomic(uint64_t) lost; /* the sender was told */
	_Atomic(uint64_t) read;
};

static int mortal_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct mortals **)state = input.ptr;
	return 0;
}

/* Ends with its first message. */
static int mortal_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct mortals *m = *(struct mortals **)state;

	(void)step;
	(void)events;
	sb_add_rlx(&m->read, count);
	return count ? SB_DONE : SB_IDLE;
}

static const struct sb_process_ops mortal_ops = {
	.name = "mortal", .state_bytes = sizeof(void *), .init = mortal_init, .step = mortal_step
};

struct writing {
	struct mortals *mortals;
	int sent;
};

static int writing_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	((struct writing *)state)->mortals = input.ptr;
	return 0;
}

/* Two at a time, over several steps; each is read, told of, or dropped. In between it sleeps for so
 * long that the memory of who has ended is free. */
static int writing_step(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct writing *w = state;

	(void)events;
	(void)count;
	for (int i = 0; i < 2; i++) {
		const int rc = sb_step_send(step, w->mortals->mortal, sb_value_u64(1));

		if (rc)
			CHECK_EQ(rc, -ESRCH);
		sb_add_rlx(&w->mortals->lost, rc != 0);
	}
	w->sent += 2;
	if (w->sent == LETTERS)
		return SB_DONE;
	CHECK_EQ(
		sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(w->sent == 2 ? 0 : PAUSE_NS), 1),
		0);
	return SB_YIELD;
}

static const struct sb_process_ops writing_ops = { .name = "writing",
						   .state_bytes = sizeof(struct writing),
						   .init = writing_init,
						   .step = writing_step };

static void *write_from_outside(void *arg)
{
	struct mortals *m = arg;

	for (int i = 0; i < LETTERS; i++) {
		const int rc = sb_scheduler_send(m->f.s, m->mortal, sb_value_u64(1));

		if (rc)
			CHECK_EQ(rc, -ESRCH);
		sb_add_rlx(&m->lost, rc != 0);
	}
	return NULL;
}

/* Two processes and a thread write to one that ends, and whose memory is used again. */
static void letters(void)
{
	struct mortals m = { .lost = 0 };
	struct sb_thread thread;

	scenario_start(&m.f, 2);
	for (int round = 0; round < 2; round++) {
		CHECK_EQ(sb_scheduler_submit(m.f.s, &mortal_ops, "main", sb_value_ptr(&m),
					     &m.mortal),
			 0);
		for (int i = 0; i < 2; i++)
			CHECK_EQ(sb_scheduler_submit(m.f.s, &writing_ops, "main", sb_value_ptr(&m),
						     NULL),
				 0);
		CHECK_EQ(sb_thread_start(&thread, -1, write_from_outside, &m), 0);
		sb_thread_join(&thread);
		scenario_wait(&m.f);
	}
	scenario_end(&m.f);
	CHECK_EQ(sb_load_rlx(&m.read) + sb_load_rlx(&m.lost) + sb_load_rlx(&m.f.dropped),
		 2 * 3 * LETTERS);
}

const struct scenario message_scenarios[] = {
	{ "held", "what a step sends by several ways, and holds while it goes on", held },
	{ "bounded", "threads fill a mailbox that has a bound", bounded },
	{ "letters", "threads and processes write to one that ends", letters },
	{ NULL, NULL, NULL },
};
