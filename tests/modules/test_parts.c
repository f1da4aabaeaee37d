/*
 * The smaller parts of core/: histogram, state word, run queue, pools,
 * dispatch registry, parker, random numbers.
 *
 * Property: each as its header says.
 * Method: against a model or by exhausting the cases, one thread; the parker
 *   and the pools also with two.
 */
#include <errno.h>
#include <string.h>

#include "core/hist.h"
#include "core/memory/arena.h"
#include "core/memory/pool.h"
#include "core/process/registry.h"
#include "core/queue/runq.h"
#include "core/word.h"
#include "tests/test.h"

/* ---- histogram ---- */

static void hist_buckets_tile_the_range(void **state)
{
	uint64_t next = 0;

	(void)state;
	for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++) {
		const uint64_t low = sb_hist_bucket_low(i);
		const uint64_t width = sb_hist_bucket_width(i);

		CHECK_EQ(low, next);
		CHECK_EQ(sb_hist_index(low), i);
		CHECK_EQ(sb_hist_index(low + width - 1), i);
		next = low + width;
	}
	CHECK_EQ(next, UINT64_C(1) << SB_HIST_VALUE_BITS);
	CHECK_EQ(sb_hist_index(UINT64_MAX), SB_HIST_BUCKETS - 1);
}

/* Of equal values, whose mean is exact: the largest is, too, and no percentile is above it. Where it is
 * not known, it is not below the mean, nor more than 1.6 % above. */
static void check_max(uint64_t value)
{
	struct sb_hist_counts counts = { .count = 3, .sum = 3 * value, .max = value };

	counts.bucket[sb_hist_index(value)] = 3;
	CHECK_EQ(sb_hist_max(&counts), value);
	assert_true(sb_hist_quantile(&counts, 0.5) <= value);
	counts.max = 0;
	assert_true((double)sb_hist_max(&counts) >= sb_hist_mean(&counts));
	assert_true((double)sb_hist_max(&counts) <= 1.016 * (double)value);
}

/* What was recorded before is not in the maximum, whatever the owner does at that moment. */
static void the_maximum_is_that_of_a_repetition(void **state)
{
	static struct sb_hist hist;
	static struct sb_hist_counts before, after;

	(void)state;
	sb_hist_record(&hist, 70007);
	sb_hist_forget_max(&hist);
	sb_hist_read(&hist, &before);
	sb_hist_record(&hist, 9001);
	sb_hist_record(&hist, 10003);
	sb_hist_record(&hist, 5000);
	sb_hist_read(&hist, &after);
	sb_hist_subtract(&after, &before);
	CHECK_EQ(sb_hist_max(&after), 10003);
	CHECK_EQ(sb_hist_quantile(&after, 1), 10003); /* the middle of its bucket is 10047 */
	/* A value that is in no bucket yet, and one that the maximum lacks. */
	after.max = 70007;
	assert_in_range(sb_hist_max(&after), 10003, 10003 * 1.016);
	after.max = 9001;
	assert_in_range(sb_hist_max(&after), 10003, 10003 * 1.016);
	/* Beyond the range it is known all the same. */
	sb_hist_record(&hist, UINT64_C(1) << 50);
	sb_hist_read(&hist, &after);
	CHECK_EQ(sb_hist_max(&after), UINT64_C(1) << 50);
}

/* For any value, the middle of its bucket is within the promised 1 %. */
static void hist_error_is_below_one_percent(void **state)
{
	static struct sb_hist hist;
	static struct sb_hist_counts counts;
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < SB_SCALE(20000); i++) {
		const uint64_t value =
			sb_rng_next(&rng) >>
			(64 - SB_HIST_VALUE_BITS + sb_rng_below(&rng, SB_HIST_VALUE_BITS - 1));
		const uint32_t b = sb_hist_index(value);
		const uint64_t middle = sb_hist_bucket_low(b) + (sb_hist_bucket_width(b) - 1) / 2;
		const uint64_t error = middle > value ? middle - value : value - middle;

		assert_in_range(100 * error, 0, value);
		check_max(value);
	}
	sb_hist_record(&hist, 1000000);
	sb_hist_read(&hist, &counts);
	assert_in_range(sb_hist_quantile(&counts, 0.5), 990000, 1010000);
}

static void hist_quantiles_and_differences(void **state)
{
	static struct sb_hist hist;
	static struct sb_hist_counts before, after;

	(void)state;
	memset(&hist, 0, sizeof(hist));
	sb_hist_record(&hist, 5);
	sb_hist_read(&hist, &before);
	for (uint64_t v = 1; v <= 100; v++)
		sb_hist_record(&hist, v);
	memset(&after, 0, sizeof(after));
	sb_hist_read(&hist, &after);
	sb_hist_subtract(&after, &before);
	CHECK_EQ(after.count, 100);
	CHECK_EQ(sb_hist_quantile(&after, 0.5), 50);
	CHECK_EQ(sb_hist_quantile(&after, 0.99), 99);
	CHECK_EQ(sb_hist_quantile(&after, 0), 1);
	CHECK_EQ(sb_hist_max(&after), 100);
	assert_true(sb_hist_mean(&after) == 50.5);
	sb_hist_merge(&after, &before);
	CHECK_EQ(after.count, 101);
	sb_hist_subtract(&after, &after);
	CHECK_EQ(sb_hist_quantile(&after, 0.5), 0);
	CHECK_EQ(sb_hist_max(&after), 0);
}

/* ---- state word: every transition of the table in core/process.h ---- */

static struct sb_event_node *node_at(int i)
{
	static struct sb_event_node nodes[4];

	return &nodes[i];
}

static uint64_t word_of(struct sb_process *p)
{
	return sb_load_rlx(&p->word);
}

static void word_follows_its_table(void **state)
{
	static struct sb_process p;
	static const enum sb_state waiting[] = { SB_STATE_IDLE, SB_STATE_BLOCKED };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(waiting); i++) {
		sb_store_rlx(&p.word, (uint64_t)SB_STATE_READY);
		/* Ready: an event changes nothing else. */
		CHECK_EQ(sb_word_post(&p, node_at(0)), SB_POST_QUIET);
		CHECK_EQ(sb_word_state(word_of(&p)), SB_STATE_READY);
		CHECK_EQ(sb_word_post(&p, node_at(1)), SB_POST_QUIET);
		/* Taken newest first, all of them. */
		assert_ptr_equal(sb_word_take(&p), node_at(1));
		assert_ptr_equal(node_at(1)->next, node_at(0));
		assert_null(node_at(0)->next);
		CHECK_EQ(word_of(&p), SB_STATE_RUNNING);
		/* Nothing came: it may wait. */
		assert_true(sb_word_release(&p, waiting[i]));
		CHECK_EQ(word_of(&p), waiting[i]);
		/* The waker, and only the first one, must queue it. */
		CHECK_EQ(sb_word_post(&p, node_at(0)), SB_POST_WAKE);
		CHECK_EQ(sb_word_post(&p, node_at(1)), SB_POST_QUIET);
		CHECK_EQ(sb_word_state(word_of(&p)), SB_STATE_READY);
		sb_word_take(&p);
		/* Something came while Running: it may not wait. */
		CHECK_EQ(sb_word_post(&p, node_at(2)), SB_POST_QUIET);
		assert_true(word_of(&p) & SB_WORD_WAKEUP);
		assert_false(sb_word_release(&p, waiting[i]));
		sb_word_requeue(&p);
		CHECK_EQ(word_of(&p) & SB_WORD_FLAGS, SB_STATE_READY);
		assert_ptr_equal(sb_word_take(&p), node_at(2));
		/* Complete takes what is left and lets nothing in. */
		CHECK_EQ(sb_word_post(&p, node_at(3)), SB_POST_QUIET);
		assert_ptr_equal(sb_word_complete(&p), node_at(3));
		CHECK_EQ(sb_word_post(&p, node_at(0)), SB_POST_GONE);
		CHECK_EQ(word_of(&p), SB_STATE_COMPLETE);
	}
}

/* ---- run queue ---- */

enum { QUEUED = 1000 };

static void runq_is_a_fair_fifo(void **state)
{
	static struct sb_process processes[QUEUED];
	struct sb_process *out[16];
	struct sb_runq queue;
	uint32_t taken = 0;
	uint32_t n;

	(void)state;
	sb_runq_init(&queue, SB_HEAP);
	CHECK_EQ(sb_runq_take(&queue, 8, 4, out), 0);
	for (uint32_t i = 0; i < QUEUED; i++)
		CHECK_EQ(sb_runq_push(&queue, &processes[i]), i + 1);
	for (uint32_t left = QUEUED; left; left -= n) {
		/* 16, but never more than the share of one of four. */
		const uint32_t fair = left / 4 + 1;

		n = sb_runq_take(&queue, 16, 4, out);
		CHECK_EQ(n, fair < 16 ? fair : 16);
		for (uint32_t i = 0; i < n; i++)
			assert_ptr_equal(out[i], &processes[taken++]);
		CHECK_EQ(sb_runq_length(&queue), left - n);
	}
	sb_runq_push(&queue, &processes[0]);
	CHECK_EQ(sb_runq_take(&queue, 1, 4, out), 1);
	assert_ptr_equal(out[0], &processes[0]);
	sb_runq_clear(&queue);
}

/*
 * Two threads push and two take, up to four at a time, so that now the latest are
 * taken, now those in the parts; a fifth frees the parts that are empty. Each of what was pushed comes out once, and what one
 * has pushed comes to one who takes in order.
 */
enum { ENDS = 2, TAKEN_MOST = 4 };

struct traffic {
	struct sb_runq queue;
	struct sb_process *process; /* [2 * each]; pid is the number + 1 */
	uint64_t each;
	_Atomic(uint64_t) left;
	_Atomic(uint32_t) pushers;
	uint8_t *came; /* [2 * each] how often */
};

static void *push_half(void *arg)
{
	struct traffic *t = arg;
	const uint64_t from = sb_add_rlx(&t->pushers, 1) * t->each;

	for (uint64_t i = from; i < from + t->each; i++)
		sb_runq_push(&t->queue, &t->process[i]);
	return NULL;
}

static void *take_some(void *arg)
{
	struct traffic *t = arg;
	struct sb_process *out[TAKEN_MOST];
	uint64_t latest[ENDS] = { 0 };
	uint32_t turn = 0;

	while (sb_load_rlx(&t->left)) {
		const uint32_t n =
			sb_runq_take(&t->queue, 1 + turn % TAKEN_MOST, 1 + turn % 3, out);

		for (uint32_t i = 0; i < n; i++) {
			const uint64_t number = out[i]->pid - 1;
			const uint64_t end = number / t->each;

			CHECK_EQ(out[i]->pid > latest[end], true);
			latest[end] = out[i]->pid;
			t->came[number]++;
		}
		turn++;
		if (n)
			sb_sub_acq_rel(&t->left, n);
		else
			sb_thread_yield();
	}
	return NULL;
}

static void *trim_always(void *arg)
{
	struct traffic *t = arg;

	while (sb_load_rlx(&t->left)) {
		sb_runq_trim(&t->queue);
		sb_thread_yield();
	}
	return NULL;
}

static void runq_with_two_at_each_end(void **state)
{
	struct traffic t = { .each = SB_SCALE(100000) };
	struct sb_thread thread[2 * ENDS];
	struct sb_thread trimmer;

	(void)state;
	t.process = sb_mem_zalloc(SB_HEAP, ENDS * t.each * sizeof(*t.process), SB_LINE);
	t.came = sb_mem_zalloc(SB_HEAP, ENDS * t.each, SB_LINE);
	for (uint64_t i = 0; i < ENDS * t.each; i++)
		t.process[i].pid = i + 1;
	sb_store_rlx(&t.left, ENDS * t.each);
	sb_runq_init(&t.queue, SB_HEAP);
	for (int i = 0; i < 2 * ENDS; i++)
		CHECK_EQ(sb_thread_start(&thread[i], -1, i % 2 ? push_half : take_some, &t), 0);
	CHECK_EQ(sb_thread_start(&trimmer, -1, trim_always, &t), 0);
	for (int i = 0; i < 2 * ENDS; i++)
		sb_thread_join(&thread[i]);
	sb_thread_join(&trimmer);
	for (uint64_t i = 0; i < ENDS * t.each; i++)
		CHECK_EQ(t.came[i], 1);
	CHECK_EQ(sb_runq_length(&t.queue), 0);
	sb_runq_clear(&t.queue);
	sb_mem_free(t.came);
	sb_mem_free(t.process);
}

/* ---- dispatch ---- */

static int handler(void *context, const struct sb_command *command,
		   const struct sb_completer *completer)
{
	(void)context;
	(void)command;
	(void)completer;
	return 0;
}

static void dispatch_finds_what_was_registered(void **state)
{
	struct sb_dispatch dispatch;

	(void)state;
	sb_dispatch_init(&dispatch);
	for (uint32_t id = 0; id < 1000; id += 3)
		CHECK_EQ(sb_dispatch_register(&dispatch, 999 - id, handler, (void *)(uintptr_t)id),
			 0);
	CHECK_EQ(sb_dispatch_register(&dispatch, 0, handler, NULL), -EEXIST);
	CHECK_EQ(sb_dispatch_register(&dispatch, 999, handler, NULL), -EEXIST);
	sb_dispatch_freeze(&dispatch);
	sb_dispatch_freeze(&dispatch);
	CHECK_EQ(sb_dispatch_register(&dispatch, 1, handler, NULL), -EROFS);
	for (uint32_t id = 0; id < 1000; id++) {
		const struct sb_dispatch_entry *entry = sb_dispatch_lookup(&dispatch, id);

		if (id % 3)
			assert_null(entry);
		else
			CHECK_EQ((uintptr_t)entry->context, 999 - id);
	}
	sb_dispatch_fini(&dispatch);
}

/* ---- parker ---- */

struct ball {
	struct sb_parker side[2];
	uint64_t value; /* plain: park and unpark order it */
	uint64_t rounds;
};

static void *other_side(void *arg)
{
	struct ball *ball = arg;

	for (uint64_t i = 0; i < ball->rounds; i++) {
		do {
			sb_park(&ball->side[1], UINT64_MAX);
		} while (ball->value % 2 == 0);
		ball->value++;
		sb_unpark(&ball->side[0]);
	}
	return NULL;
}

static void check_parker(enum sb_parking parking)
{
	struct ball ball = { .rounds = SB_SCALE(20000) };
	struct sb_thread thread;

	sb_parker_init(&ball.side[0], parking);
	sb_parker_init(&ball.side[1], parking);
	/* A token before the park, and two that count as one. */
	sb_unpark(&ball.side[0]);
	sb_unpark(&ball.side[0]);
	sb_park(&ball.side[0], UINT64_MAX);
	CHECK_EQ(sb_thread_start(&thread, -1, other_side, &ball), 0);
	for (uint64_t i = 0; i < ball.rounds; i++) {
		ball.value++;
		sb_unpark(&ball.side[1]);
		do {
			sb_park(&ball.side[0], UINT64_MAX);
		} while (ball.value % 2);
	}
	sb_thread_join(&thread);
	CHECK_EQ(ball.value, 2 * ball.rounds);
	sb_parker_fini(&ball.side[0]);
	sb_parker_fini(&ball.side[1]);
}

static void condvar_parker_loses_no_token(void **state)
{
	(void)state;
	check_parker(SB_PARKING_CONDVAR);
}

static void futex_parker_loses_no_token(void **state)
{
	(void)state;
	check_parker(SB_PARKING_FUTEX);
}

/* ---- random numbers ---- */

/* 100 000 draws from 10: each within 5 sigma (95) of 10 000. */
static void rng_is_uniform(void **state)
{
	uint32_t count[10] = { 0 };
	struct sb_rng a, b;

	(void)state;
	sb_rng_seed(&a, 12345);
	sb_rng_seed(&b, 12345);
	for (int i = 0; i < 100000; i++) {
		const uint32_t n = sb_rng_below(&a, 10);

		CHECK_EQ(n, sb_rng_below(&b, 10));
		count[n]++;
	}
	for (int i = 0; i < 10; i++)
		assert_in_range(count[i], 9525, 10475);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hist_buckets_tile_the_range),
		cmocka_unit_test(hist_error_is_below_one_percent),
		cmocka_unit_test(the_maximum_is_that_of_a_repetition),
		cmocka_unit_test(hist_quantiles_and_differences),
		cmocka_unit_test(word_follows_its_table),
		cmocka_unit_test(runq_is_a_fair_fifo),
		cmocka_unit_test(runq_with_two_at_each_end),
		cmocka_unit_test(dispatch_finds_what_was_registered),
		cmocka_unit_test(condvar_parker_loses_no_token),
		cmocka_unit_test(futex_parker_loses_no_token),
		cmocka_unit_test(rng_is_uniform),
	};

	return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
