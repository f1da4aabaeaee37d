/*
 * The slowest timed events, and what is kept of them.
 *
 * Property: with everything timed, exactly the slowest N of each kind are kept, whatever their
 *   order; none with exemplars 0 or without latencies, and none after they were forgotten. Of a
 *   message that waited for a step, that step is known: its process, and all of the wait. A trace
 *   with a bound ends when an event goes beyond it.
 * Method: steps that take longer and shorter, against the histogram of the same steps; a step
 *   that works on after its send, beside no other worker.
 * Bound: one worker, 200 steps.
 */
#include "core/hist.h"
#include "tests/script.h"

#define KEEP 5

/* ---- the slowest of many ---- */

enum { STEPS = 200 };

static void work(uint64_t ns)
{
	const uint64_t end = sb_clock_ns() + ns;

	while (sb_clock_ns() < end)
		sb_cpu_pause();
}

static int work_and_continue(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	const uint64_t n = sb_load_rlx(&script->steps);

	(void)step;
	(void)events;
	(void)count;
	/* In an order that is neither rising nor falling. */
	work(100 * (n * 77 % STEPS));
	return n < STEPS ? SB_CONTINUE : SB_DONE;
}

static void start_recording(struct fixture *f, uint32_t sample_every, uint32_t exemplars)
{
	fixture_defaults(f);
	f->config.sample_every = sample_every;
	f->config.exemplars = exemplars;
	fixture_create(f, 1);
}

static uint32_t kept(struct fixture *f, enum sb_exemplar_kind kind)
{
	uint32_t n;

	(void)sb_scheduler_read_exemplars(f->s, 0, kind, &n);
	return n;
}

static void run_steps(struct fixture *f)
{
	struct script script = { .f = f, .step = work_and_continue };

	fixture_submit(f, &scripted, &script);
	fixture_wait(f);
}

static void the_slowest_are_kept(void **state)
{
	struct fixture f;
	const struct sb_exemplar *exemplar;
	struct sb_hist_counts *hist;
	uint64_t least = UINT64_MAX;
	uint64_t above = 0;
	uint32_t n;

	(void)state;
	start_recording(&f, 1, KEEP);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	run_steps(&f);
	exemplar = sb_scheduler_read_exemplars(f.s, 0, SB_EXEMPLAR_step_time, &n);
	CHECK_EQ(n, KEEP);
	for (uint32_t i = 0; i < n; i++) {
		least = sb_min_u64(least, exemplar[i].took_ns);
		assert_string_equal(exemplar[i].name, "scripted");
		CHECK_EQ(exemplar[i].wait_ns, 0);
		CHECK_EQ(exemplar[i].worker, 0);
	}
	hist = fixture_hist(&f, SB_HIST_step_time);
	CHECK_EQ(hist->count, STEPS);
	for (uint32_t i = sb_hist_index(least) + 1; i < SB_HIST_BUCKETS; i++)
		above += hist->bucket[i];
	/* All those that were slower, and with those as slow as the least at least as many. */
	assert_true(above <= KEEP - 1);
	assert_true(above + hist->bucket[sb_hist_index(least)] >= KEEP);
	sb_scheduler_forget_exemplars(f.s);
	CHECK_EQ(kept(&f, SB_EXEMPLAR_step_time), 0);
	run_steps(&f);
	CHECK_EQ(kept(&f, SB_EXEMPLAR_step_time), KEEP);
	CHECK_EQ(kept(&f, SB_EXEMPLAR_submit_to_step), 1);
	CHECK_EQ(kept(&f, SB_EXEMPLAR_sojourn), 0);
	fixture_end(&f);
}

static void none_are_kept(void **state)
{
	static const uint32_t without[][2] = { { 0, KEEP }, { 1, 0 } };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(without); i++) {
		struct fixture f;

		start_recording(&f, without[i][0], without[i][1]);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		run_steps(&f);
		for (int kind = 0; kind < SB_EXEMPLAR_KINDS; kind++)
			CHECK_EQ(kept(&f, (enum sb_exemplar_kind)kind), 0);
		fixture_end(&f);
	}
}

/* ---- a step in front ---- */

#define LONG_NS UINT64_C(5000000)

static int receive(struct script *script, struct sb_step *step, const struct sb_event *events,
		   uint32_t count)
{
	(void)script;
	(void)step;
	(void)events;
	return count ? SB_DONE : SB_IDLE;
}

static int send_and_work_on(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	(void)events;
	(void)count;
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(1)), 0);
	work(LONG_NS);
	return SB_DONE;
}

static sb_pid run_long_step(struct fixture *f)
{
	struct script receiver = { .f = f, .step = receive };
	struct script sender = { .f = f, .step = send_and_work_on };
	sb_pid pid;

	sender.other = fixture_submit(f, &scripted, &receiver);
	pid = fixture_submit(f, &scripted, &sender);
	fixture_wait(f);
	return pid;
}

static void the_step_in_front_is_known(void **state)
{
	struct fixture f;
	const struct sb_exemplar *exemplar;
	uint32_t n;
	sb_pid sender;

	(void)state;
	start_recording(&f, 1, KEEP);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sender = run_long_step(&f);
	exemplar = sb_scheduler_read_exemplars(f.s, 0, SB_EXEMPLAR_send_to_step, &n);
	CHECK_EQ(n, 1);
	assert_true(exemplar->took_ns >= LONG_NS);
	CHECK_EQ(exemplar->wait_ns, exemplar->took_ns);
	CHECK_EQ(exemplar->front_steps, 1);
	CHECK_EQ(exemplar->front_pid, sender);
	assert_true(exemplar->front_ns >= LONG_NS);
	CHECK_EQ(exemplar->idle_ns, 0);
	CHECK_EQ(exemplar->last_worker, 0);
	CHECK_EQ(exemplar->has_sleeper, 0);
	assert_true(exemplar->looked_ns >= LONG_NS);
	fixture_end(&f);
}

/* ---- a trace with a bound ---- */

static void trace_until(struct fixture *f, uint64_t ns)
{
	const struct sb_trace_bound bound = { SB_EXEMPLAR_send_to_step, ns };

	CHECK_EQ(sb_scheduler_trace(f->s, 10000), 0);
	CHECK_EQ(sb_scheduler_trace_until(f->s, &bound), 0);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
	CHECK_EQ(sb_scheduler_trace_until(f->s, NULL), -EBUSY);
	run_long_step(f);
}

static void a_slow_event_ends_the_trace(void **state)
{
	struct fixture f;
	const struct sb_trace *trace;
	uint32_t late = 0;
	uint64_t end;

	(void)state;
	start_recording(&f, 1, KEEP);
	trace_until(&f, LONG_NS / 2);
	assert_true(sb_scheduler_trace_has_ended(f.s));
	trace = sb_scheduler_read_trace(f.s, 0);
	end = sb_load_rlx(trace->end_ns);
	while (sb_clock_ns() <= end)
		sb_cpu_pause();
	run_steps(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	assert_true(sb_trace_kept(trace) > 0);
	for (uint32_t i = 0; i < sb_trace_kept(trace); i++)
		late += sb_trace_at(trace, i)->at_ns > end;
	CHECK_EQ(late, 0);
	/* Two events for each of those steps, at least. */
	assert_true(sb_trace_dropped(trace) >= 2 * STEPS);
	sb_scheduler_destroy(f.s);
}

static void a_fast_one_does_not(void **state)
{
	struct fixture f;

	(void)state;
	start_recording(&f, 1, KEEP);
	trace_until(&f, FIXTURE_TIMEOUT_NS);
	assert_false(sb_scheduler_trace_has_ended(f.s));
	run_steps(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	CHECK_EQ(sb_trace_dropped(sb_scheduler_read_trace(f.s, 0)), 0);
	sb_scheduler_destroy(f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slowest_are_kept),
		cmocka_unit_test(none_are_kept),
		cmocka_unit_test(the_step_in_front_is_known),
		cmocka_unit_test(a_slow_event_ends_the_trace),
		cmocka_unit_test(a_fast_one_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
