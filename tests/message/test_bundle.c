/*
 * Bundles: several messages of one step to one process, in one object.
 *
 * Property: each message that was accepted is stepped once, in the order in which it
 *   was sent, or dropped aloud, however many of them a step sends, however few a step
 *   gets, and whoever takes them; a dead letter is counted for each.
 * Method: numbered messages in every number up to several bundles, with budgets that
 *   cut a bundle; random runs to several receivers with some messages timed; a
 *   receiver that ends with messages unread; a sender that goes on until the watcher
 *   has shown what it holds; senders without memory.
 * Bound: 500 messages a step, 3 workers.
 */
#include "core/counters.h"
#include "core/memory/arena.h"
#include "core/word.h"
#include "core/state.h"
#include "tests/script.h"

/* The receiver's: the number of the next message, and how many there will be. */
struct reader {
	struct script script;
	uint64_t next;
	uint64_t last;
};

static int read_in_order(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct reader *reader = sb_container_of(script, struct reader, script);

	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		CHECK_EQ(events[i].type, SB_EVENT_MESSAGE);
		CHECK_EQ(events[i].error, 0);
		CHECK_EQ(events[i].tag, 0);
		CHECK_EQ(events[i].data.u64, reader->next++);
	}
	sb_store_rel(&script->flag, (uint32_t)reader->next);
	return reader->next < reader->last ? SB_IDLE : SB_DONE;
}

static void send_numbers(struct sb_step *step, sb_pid to, uint64_t from, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		CHECK_EQ(sb_step_send(step, to, sb_value_u64(from + i)), 0);
}

/* ---- any number, any budget ---- */

static int send_seen(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	(void)events;
	(void)count;
	send_numbers(step, script->other, 0, script->seen);
	return SB_DONE;
}

static void deliver(uint32_t budget, uint32_t workers, uint64_t messages)
{
	struct fixture f;
	struct reader reader = { { .f = &f, .step = read_in_order }, .last = messages };
	struct script sender = { .f = &f, .step = send_seen, .seen = messages };

	fixture_defaults(&f);
	f.config.event_budget = budget;
	fixture_create(&f, workers);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sender.other = fixture_submit(&f, &scripted, &reader.script);
	fixture_submit(&f, &scripted, &sender);
	fixture_wait(&f);
	CHECK_EQ(reader.next, messages);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_messages), messages);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_events), messages);
	fixture_end(&f);
}

static void each_comes_once_and_in_order(void **state)
{
	const uint32_t budgets[] = { 1, 5, 64, 1000 };

	(void)state;
	for (size_t b = 0; b < SB_ARRAY_SIZE(budgets); b++) {
		for (uint64_t n = 1; n < 3 * SB_BUNDLE_MESSAGES; n++)
			deliver(budgets[b], 1, n);
		deliver(budgets[b], 1, 500);
		deliver(budgets[b], 2, 500);
	}
}

/* ---- several receivers, some messages timed ---- */

enum { READERS = 3, EACH = SB_SCALE(4000) };

struct mixer {
	struct script script;
	sb_pid to[READERS];
	uint64_t sent[READERS];
	struct sb_rng rng;
};

static int send_mixed(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct mixer *mixer = sb_container_of(script, struct mixer, script);
	bool is_over = true;

	(void)events;
	(void)count;
	for (int run = 0; run < 8; run++) {
		const uint64_t i = sb_rng_next(&mixer->rng) % READERS;
		uint64_t n = 1 + sb_rng_next(&mixer->rng) % 30;

		if (n > EACH - mixer->sent[i])
			n = EACH - mixer->sent[i];
		send_numbers(step, mixer->to[i], mixer->sent[i], n);
		mixer->sent[i] += n;
	}
	for (int i = 0; i < READERS; i++)
		is_over &= mixer->sent[i] == EACH;
	return is_over ? SB_DONE : SB_CONTINUE;
}

static void mix(uint32_t workers, uint32_t one_in)
{
	struct fixture f;
	struct reader reader[READERS];
	struct mixer mixer = { .script = { .f = &f, .step = send_mixed } };

	fixture_defaults(&f);
	f.config.sample_every = one_in;
	fixture_create(&f, workers);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sb_rng_seed(&mixer.rng, sb_test_seed());
	for (int i = 0; i < READERS; i++) {
		reader[i] = (struct reader){ { .f = &f, .step = read_in_order }, .last = EACH };
		mixer.to[i] = fixture_submit(&f, &scripted, &reader[i].script);
	}
	fixture_submit(&f, &scripted, &mixer.script);
	fixture_wait(&f);
	for (int i = 0; i < READERS; i++)
		CHECK_EQ(reader[i].next, EACH);
	if (one_in == 1)
		CHECK_EQ(fixture_hist(&f, SB_HIST_send_to_step)->count, READERS * EACH);
	fixture_end(&f);
}

static void runs_to_several_receivers_keep_their_order(void **state)
{
	(void)state;
	for (uint32_t workers = 1; workers <= 3; workers++) {
		mix(workers, 1);
		mix(workers, 3);
		mix(workers, 64);
	}
}

/* ---- messages that nobody reads ---- */

static _Atomic(uint64_t) dropped_sum;

static void sum_dropped(void *hook, const struct sb_event *event)
{
	CHECK_EQ(event->type, SB_EVENT_MESSAGE);
	sb_add_rlx(&dropped_sum, event->data.u64);
	fixture_on_drop(hook, event);
}

/* Ends after its first batch, and sums what it got. */
static int read_one_batch(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	(void)step;
	for (uint32_t i = 0; i < count; i++)
		script->seen += events[i].data.u64;
	return count ? SB_DONE : SB_IDLE;
}

static void each_unread_one_is_dropped(void **state)
{
	enum { BUDGET = 5, MESSAGES = 100 };
	struct fixture f;
	struct script reader = { .f = &f, .step = read_one_batch };
	struct script sender = { .f = &f, .step = send_seen, .seen = MESSAGES };

	(void)state;
	fixture_defaults(&f);
	f.config.event_budget = BUDGET;
	f.config.on_drop = sum_dropped;
	sb_store_rlx(&dropped_sum, 0);
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sender.other = fixture_submit(&f, &scripted, &reader);
	fixture_submit(&f, &scripted, &sender);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.dropped), MESSAGES - BUDGET);
	CHECK_EQ(reader.seen, BUDGET * (BUDGET - 1) / 2);
	CHECK_EQ(sb_load_rlx(&dropped_sum) + reader.seen, MESSAGES * (MESSAGES - 1) / 2);
	fixture_end(&f);
}

/* The sender's and the receiver's script, each with a worker of its own. */
struct pair {
	struct script sender;
	struct script receiver;
};

/* Holds its messages until the receiver, which runs meanwhile, has ended. */
static int send_to_one_that_ends(struct script *script, struct sb_step *step,
				 const struct sb_event *events, uint32_t count)
{
	struct pair *pair = sb_container_of(script, struct pair, sender);

	(void)events;
	(void)count;
	await_flag(&pair->receiver);
	send_numbers(step, script->other, 0, script->seen);
	sb_store_rel(&pair->receiver.flag, 2);
	while (!sb_load_acq(&script->f->completed))
		sb_thread_yield();
	return SB_DONE;
}

/* Then, until the watcher has taken them to free the receiver's memory. */
static int send_and_await_the_watcher(struct script *script, struct sb_step *step,
				      const struct sb_event *events, uint32_t count)
{
	(void)send_to_one_that_ends(script, step, events, count);
	while (sb_load_acq(&script->f->dropped) < script->seen)
		sb_thread_yield();
	return SB_DONE;
}

static void send_dead_letters(int (*step)(struct script *, struct sb_step *,
					  const struct sb_event *, uint32_t))
{
	enum { MESSAGES = 30 };
	struct fixture f;
	struct pair pair = {
		.sender = { .f = &f, .step = step, .seen = MESSAGES },
		.receiver = { .f = &f, .step = hold_until_told },
	};

	fixture_defaults(&f);
	f.config.hold_ns = UINT64_MAX; /* only the wait for memory makes the watcher take them */
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	pair.sender.other = fixture_submit(&f, &scripted, &pair.receiver);
	await_flag(&pair.receiver);
	fixture_submit(&f, &scripted, &pair.sender);
	fixture_wait(&f);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_dead_letters), MESSAGES);
	fixture_end(&f); /* until then the watcher may be dropping them */
	CHECK_EQ(sb_load_rlx(&f.dropped), MESSAGES);
}

static void a_dead_letter_is_counted_for_each(void **state)
{
	(void)state;
	send_dead_letters(send_to_one_that_ends);
}

static void a_dead_letter_of_the_watcher_is_counted_too(void **state)
{
	(void)state;
	send_dead_letters(send_and_await_the_watcher);
}

/* ---- who drops them ---- */

/* A callback may look processes up, so a worker that calls it is online. */
static void drop_online(void *hook, const struct sb_event *event)
{
	const struct sb_worker *w = sb_thread_own()->worker;

	if (w)
		assert_true(sb_load_rlx(&w->reader->seen) != SB_READER_OFFLINE);
	fixture_on_drop(hook, event);
}

static int send_two_and_wait(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	struct pair *pair = sb_container_of(script, struct pair, sender);

	(void)events;
	(void)count;
	send_numbers(step, script->other, 0, 2);
	sb_store_rel(&pair->receiver.flag, 2);
	while (sb_load_acq(&script->f->dropped) < script->seen)
		sb_thread_yield();
	return SB_DONE;
}

/* One worker parks all the time, while the step of another one holds messages to one that has ended. */
static void a_worker_that_parks_drops_nothing(void **state)
{
	struct fixture f;
	struct pair pair = {
		.sender = { .f = &f, .step = send_two_and_wait },
		.receiver = { .f = &f, .step = hold_until_told },
	};
	struct script idle = { .f = &f, .step = done_at_once };

	(void)state;
	fixture_defaults(&f);
	f.config.on_drop = drop_online;
	fixture_create(&f, 3);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (int i = 0; i < 200; i++) {
		pair.sender.seen += 2;
		sb_store_rlx(&pair.receiver.flag, 0);
		pair.sender.other = fixture_submit(&f, &scripted, &pair.receiver);
		await_flag(&pair.receiver);
		fixture_submit(&f, &scripted, &pair.sender);
		while (sb_load_acq(&f.dropped) < pair.sender.seen) {
			fixture_submit(&f, &scripted, &idle);
			sb_thread_sleep(20000);
		}
		fixture_wait(&f);
	}
	fixture_end(&f);
}

/* ---- the watcher ---- */

enum { SHOWN = 3 * SB_BUNDLE_MESSAGES / 2, TIMES = 20 };

struct shown {
	struct script sender;
	struct reader reader;
};

/* Waits in its step until all that it has sent has been read. */
static int send_and_wait(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct shown *shown = sb_container_of(script, struct shown, sender);

	(void)events;
	(void)count;
	for (uint32_t i = 0; i < TIMES; i++) {
		send_numbers(step, script->other, (uint64_t)i * SHOWN, SHOWN);
		while (sb_load_acq(&shown->reader.script.flag) < (i + 1) * SHOWN)
			sb_thread_yield();
	}
	return SB_DONE;
}

static void the_watcher_shows_whole_bundles(void **state)
{
	struct fixture f;
	struct shown shown = {
		.sender = { .f = &f, .step = send_and_wait },
		.reader = { { .f = &f, .step = read_in_order }, .last = (uint64_t)TIMES * SHOWN },
	};

	(void)state;
	fixture_start(&f, 2);
	shown.sender.other = fixture_submit(&f, &scripted, &shown.reader.script);
	fixture_submit(&f, &scripted, &shown.sender);
	fixture_wait(&f);
	CHECK_EQ(shown.reader.next, TIMES * SHOWN);
	fixture_end(&f);
}

#ifdef SB_TEST_DELAYS

/* ---- without memory ---- */

/* Sends until it is refused; more is accepted once there is memory. */
static int send_until_refused(struct script *script, struct sb_step *step,
			      const struct sb_event *events, uint32_t count)
{
	int rc = 0;

	(void)events;
	(void)count;
	sb_store_rlx(&sb_test_allocations, 0);
	while (!rc) {
		rc = sb_step_send(step, script->other, sb_value_u64(script->seen));
		script->seen += !rc;
	}
	sb_store_rlx(&sb_test_allocations, -1);
	CHECK_EQ(rc, -ENOMEM);
	send_numbers(step, script->other, script->seen, 2 * SB_BUNDLE_MESSAGES);
	script->seen += 2 * SB_BUNDLE_MESSAGES;
	sb_store_rel(&script->flag, 1);
	return SB_DONE;
}

static void what_was_accepted_without_memory_comes(void **state)
{
	struct fixture f;
	struct reader reader = { { .f = &f, .step = read_in_order }, .last = UINT64_MAX };
	struct script sender = { .f = &f, .step = send_until_refused };

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sender.other = fixture_submit(&f, &scripted, &reader.script);
	await_steps(&reader.script, 1);
	fixture_submit(&f, &scripted, &sender);
	await_flag(&sender);
	while (sb_load_acq(&reader.script.flag) < (uint32_t)sender.seen)
		sb_thread_yield();
	CHECK_EQ(sb_scheduler_terminate(f.s, sender.other), 0);
	fixture_end(&f);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_comes_once_and_in_order),
		cmocka_unit_test(runs_to_several_receivers_keep_their_order),
		cmocka_unit_test(each_unread_one_is_dropped),
		cmocka_unit_test(a_dead_letter_is_counted_for_each),
		cmocka_unit_test(a_dead_letter_of_the_watcher_is_counted_too),
		cmocka_unit_test(a_worker_that_parks_drops_nothing),
		cmocka_unit_test(the_watcher_shows_whole_bundles),
#ifdef SB_TEST_DELAYS
		cmocka_unit_test(what_was_accepted_without_memory_comes),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
