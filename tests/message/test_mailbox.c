/*
 * Bounded mailboxes.
 *
 * Property: a process never has more unread messages than the bound; a send is
 *   refused if and only if there is no place; a refused value stays the caller's, an
 *   accepted one is stepped or dropped aloud; the step that gets a message gives its
 *   place back.
 * Method: exact counts with the receiver's worker held; senders on several workers
 *   and a foreign thread that try all the time, looked at from within a step of the
 *   receiver, during which it reads nothing.
 * Bound: mailboxes of 1 to 5, 7 senders.
 */
#include "tests/script.h"

static void start_bounded(struct fixture *f, uint32_t workers, uint32_t bound, uint32_t budget)
{
	fixture_defaults(f);
	f->config.mailbox_bound = bound;
	f->config.event_budget = budget;
	fixture_create(f, workers);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
}

/* ---- one sender ---- */

enum { BOUND = 5 };

static void hold(struct script *holder)
{
	sb_store_rlx(&holder->flag, 0);
	fixture_submit(holder->f, &scripted, holder);
	await_flag(holder);
}

/* Checks that messages are 0, 1, 2, ... */
static int read_in_order(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
		CHECK_EQ(events[i].data.u64, script->seen);
		script->seen++;
	}
	return SB_IDLE;
}

static int send_number(struct fixture *f, sb_pid pid, uint64_t number)
{
	return sb_scheduler_send(f->s, pid, sb_value_u64(number));
}

static void the_bound_is_exact(void **state)
{
	struct fixture f;
	struct script holder = { .f = &f, .step = hold_until_told };
	struct script reader = { .f = &f, .step = read_in_order };
	uint64_t sent = 0;
	sb_pid pid;

	(void)state;
	start_bounded(&f, 1, BOUND, 64);
	pid = fixture_submit(&f, &scripted, &reader);
	await_steps(&reader, 1);
	for (int round = 0; round < 100; round++) {
		const uint64_t steps = sb_load_rlx(&reader.steps);

		hold(&holder);
		for (int i = 0; i < BOUND; i++)
			CHECK_EQ(send_number(&f, pid, sent++), 0);
		for (int i = 0; i < 3; i++)
			CHECK_EQ(send_number(&f, pid, 999), -EWOULDBLOCK);
		sb_store_rel(&holder.flag, 2);
		await_steps(&reader, steps + 1);
	}
	fixture_end(&f);
	CHECK_EQ(reader.seen, sent);
	CHECK_EQ(sb_load_rlx(&f.dropped), 0);
}

/* A full mailbox keeps nobody from cancelling or terminating; what was in it
 * is dropped aloud, and what was refused is not. */
static void only_messages_are_bounded(void **state)
{
	struct fixture f;
	struct script holder = { .f = &f, .step = hold_until_told };
	struct script first = { .f = &f, .step = read_in_order };
	struct script second = { .f = &f, .step = read_in_order };
	sb_pid pid[2];

	(void)state;
	start_bounded(&f, 1, BOUND, 64);
	pid[0] = fixture_submit(&f, &scripted, &first);
	pid[1] = fixture_submit(&f, &scripted, &second);
	await_steps(&first, 1);
	await_steps(&second, 1);
	hold(&holder);
	for (uint64_t i = 0; i < BOUND; i++) {
		CHECK_EQ(send_number(&f, pid[0], i), 0);
		CHECK_EQ(send_number(&f, pid[1], i), 0);
	}
	CHECK_EQ(send_number(&f, pid[0], BOUND), -EWOULDBLOCK);
	CHECK_EQ(send_number(&f, pid[1], BOUND), -EWOULDBLOCK);
	CHECK_EQ(sb_scheduler_cancel(f.s, pid[0]), 0);
	CHECK_EQ(sb_scheduler_terminate(f.s, pid[1]), 0);
	sb_store_rel(&holder.flag, 2);
	fixture_wait(&f);
	CHECK_EQ(first.seen, BOUND);
	CHECK_EQ(second.seen, 0);
	CHECK_EQ(sb_load_rlx(&f.dropped), BOUND);
	CHECK_EQ(send_number(&f, pid[0], 0), -ESRCH);
	CHECK_EQ(send_number(&f, pid[1], 0), -ESRCH);
	fixture_end(&f);
}

/* Gets two at a time. In a step, so many places are free as it has got. */
static int fill_own_mailbox(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	const uint64_t room = script->steps == 1 ? BOUND : count;

	for (uint32_t i = 0; i < count; i++)
		CHECK_EQ(events[i].data.u64, script->seen++);
	if (script->seen >= 100)
		return SB_DONE;
	for (uint64_t i = 0; i < room; i++)
		CHECK_EQ(sb_step_send(step, step->self, sb_value_u64(script->other++)), 0);
	CHECK_EQ(sb_step_send(step, step->self, sb_value_u64(999)), -EWOULDBLOCK);
	return SB_IDLE;
}

static void a_step_gives_its_places_back(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = fill_own_mailbox };

	(void)state;
	start_bounded(&f, 1, BOUND, 2);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.last_error), 0);
	CHECK_EQ(script.seen, 100);
	/* It ended with the others unread. */
	CHECK_EQ(sb_load_rlx(&f.dropped), BOUND - 2);
	fixture_end(&f);
}

/* ---- many senders ---- */

enum { SENDERS = 6, FOREIGN = 1, TRIERS = SENDERS + FOREIGN };

struct crowd {
	struct fixture f;
	struct script receiver;
	struct script sender[TRIERS]; /* the last ones are foreign threads */
	sb_pid pid;
	uint32_t bound;
	uint64_t wanted; /* the receiver ends when it has got so many */
	uint32_t tries;	 /* of a sender, before it lets others run */
	struct sb_rng rng;
	uint64_t got;
	uint64_t next_from[TRIERS];
	_Atomic(uint64_t) accepted;
	_Atomic(uint64_t) refused;
	_Atomic(uint32_t) shut;	  /* nobody is to begin an attempt */
	_Atomic(uint32_t) trying; /* attempts under way */
	bool full;		  /* our own send was refused, while shut */
	uint64_t verdicts;	  /* such refusals that have been checked */
};

/* seen: how many of its messages were accepted; other: the crowd. */
static int send_next(struct crowd *crowd, struct script *sender, struct sb_step *step)
{
	const uint64_t who = (uint64_t)(sender - crowd->sender);
	const union sb_value message = sb_value_u64(who << 32 | sender->seen);

	return step ? sb_step_send(step, crowd->pid, message)
		    : sb_scheduler_send(crowd->f.s, crowd->pid, message);
}

static void count_attempt(struct crowd *crowd, struct script *sender, int rc)
{
	if (!rc) {
		sender->seen++;
		sb_add_acq_rel(&crowd->accepted, 1);
	} else if (rc == -EWOULDBLOCK) {
		sb_add_acq_rel(&crowd->refused, 1);
	} else {
		CHECK_EQ(rc, -ESRCH); /* it has ended */
	}
}

/* Tries a few times, if it may. False: there is nobody to send to any more. */
static bool try_some(struct crowd *crowd, struct script *sender, struct sb_step *step)
{
	int rc = 0;

	for (uint32_t i = 0; i < crowd->tries && rc != -ESRCH; i++) {
		sb_add_acq_rel(&crowd->trying, 1);
		sb_fence_store_load(&crowd->trying);
		if (!sb_load_acq(&crowd->shut)) {
			rc = send_next(crowd, sender, step);
			count_attempt(crowd, sender, rc);
		}
		sb_sub_acq_rel(&crowd->trying, 1);
	}
	sb_thread_yield(); /* there are more threads than cores */
	return rc != -ESRCH;
}

static int keep_trying(struct script *script, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct crowd *crowd = (struct crowd *)(uintptr_t)script->other;

	(void)events;
	(void)count;
	return try_some(crowd, script, step) ? SB_CONTINUE : SB_DONE;
}

static void *keep_trying_outside(void *arg)
{
	struct script *script = arg;
	struct crowd *crowd = (struct crowd *)(uintptr_t)script->other;

	while (try_some(crowd, script, NULL))
		;
	return NULL;
}

#define OWN UINT64_MAX

static void receive(struct crowd *crowd, const struct sb_event *events, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t message = events[i].data.u64;

		crowd->got++;
		if (message != OWN)
			CHECK_EQ(message & UINT32_MAX, crowd->next_from[message >> 32]++);
	}
}

/* What is accepted now, and was not got yet, lies in the mailbox. */
static void check_level(struct crowd *crowd)
{
	const uint64_t accepted = sb_load_acq(&crowd->accepted);

	if (accepted > crowd->got)
		assert_uint_in_range(accepted - crowd->got, 1, crowd->bound);
}

static int drain_slowly(struct script *script, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct crowd *crowd = (struct crowd *)(uintptr_t)script->other;

	(void)step;
	receive(crowd, events, count);
	check_level(crowd);
	/* Until the mailbox is full, every other time. */
	if (sb_load_rlx(&script->steps) % 2) {
		const uint64_t before = sb_load_acq(&crowd->refused);

		while (sb_load_acq(&crowd->refused) < before + 3)
			sb_thread_yield();
	}
	check_level(crowd);
	return crowd->got >= crowd->wanted ? SB_DONE : SB_IDLE;
}

static void run_crowd(const struct script *receiver, uint32_t bound, uint32_t budget,
		      uint64_t wanted, uint32_t tries)
{
	static struct crowd crowds;
	struct crowd *crowd = &crowds;
	struct sb_thread threads[FOREIGN];

	*crowd = (struct crowd){ .bound = bound, .wanted = wanted, .tries = tries };
	sb_rng_seed(&crowd->rng, sb_test_seed());
	crowd->receiver.step = receiver->step;
	start_bounded(&crowd->f, 4, bound, budget);
	for (int i = 0; i < TRIERS; i++)
		crowd->sender[i] = (struct script){ .f = &crowd->f,
						    .step = keep_trying,
						    .other = (uintptr_t)crowd };
	crowd->receiver.f = &crowd->f;
	crowd->receiver.other = (uintptr_t)crowd;
	crowd->pid = fixture_submit(&crowd->f, &scripted, &crowd->receiver);
	for (int i = 0; i < SENDERS; i++)
		fixture_submit(&crowd->f, &scripted, &crowd->sender[i]);
	for (int i = 0; i < FOREIGN; i++)
		CHECK_EQ(sb_thread_start(&threads[i], -1, keep_trying_outside,
					 &crowd->sender[SENDERS + i]),
			 0);
	for (int i = 0; i < FOREIGN; i++)
		sb_thread_join(&threads[i]);
	fixture_wait(&crowd->f);
	CHECK_EQ(sb_load_rlx(&crowd->accepted), crowd->got + sb_load_rlx(&crowd->f.dropped));
	fixture_end(&crowd->f);
}

static void many_senders_never_exceed_the_bound(void **state)
{
	const struct script receiver = { .step = drain_slowly };

	(void)state;
	run_crowd(&receiver, 1, 1, SB_SCALE(2000), 8);
	run_crowd(&receiver, 1, 8, SB_SCALE(2000), 8);
	run_crowd(&receiver, 4, 1, SB_SCALE(2000), 8);
	run_crowd(&receiver, 4, 8, SB_SCALE(2000), 8);
}

/*
 * A refused sender leaves no trace that could refuse another one. In every
 * other step the receiver shuts the others out and tries itself at once, while
 * some of their attempts are still under way; if it is refused, the mailbox was
 * full then, so the next step gets exactly as many as the bound.
 */
enum { VERDICTS = 3 };

/* Then the mailbox is full, for as long as its owner reads nothing. */
static void await_refusal(struct crowd *crowd)
{
	const uint64_t before = sb_load_acq(&crowd->refused);

	/* One may have been counted late, of before this step. */
	while (sb_load_acq(&crowd->refused) <= before + TRIERS)
		sb_thread_yield();
}

static int try_while_shut(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	struct crowd *crowd = (struct crowd *)(uintptr_t)script->other;

	if (sb_load_rlx(&script->steps) % 2) {
		if (crowd->full)
			CHECK_EQ(count, crowd->bound);
		crowd->verdicts += crowd->full;
		receive(crowd, events, count);
		if (crowd->got >= crowd->wanted && crowd->verdicts >= VERDICTS) {
			sb_store_rel(&crowd->shut, 0);
			return SB_DONE;
		}
		sb_store_rel(&crowd->shut, 0);
		await_refusal(crowd);
		return SB_CONTINUE;
	}
	if (sb_load_rlx(&script->steps) % 8 == 0)
		await_refusal(crowd);
	else
		for (uint32_t n = sb_rng_below(&crowd->rng, 128); n; n--)
			sb_cpu_pause();
	sb_store_rel(&crowd->shut, 1);
	crowd->full = sb_step_send(step, step->self, sb_value_u64(OWN)) != 0;
	if (!crowd->full)
		sb_add_acq_rel(&crowd->accepted, 1);
	receive(crowd, events, count);
	sb_fence_store_load(&crowd->trying);
	while (sb_load_acq(&crowd->trying))
		sb_thread_yield();
	return SB_CONTINUE;
}

static void a_refusal_is_never_false(void **state)
{
	const struct script receiver = { .step = try_while_shut };

	(void)state;
	run_crowd(&receiver, 1, 8, SB_SCALE(800), 16);
	run_crowd(&receiver, 3, 8, SB_SCALE(800), 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bound_is_exact),
		cmocka_unit_test(only_messages_are_bounded),
		cmocka_unit_test(a_step_gives_its_places_back),
		cmocka_unit_test(many_senders_never_exceed_the_bound),
		cmocka_unit_test(a_refusal_is_never_false),
	};

	return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
