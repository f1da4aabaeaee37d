/* round.c - one round: schedulers are made and probed, threads make their calls, all comes to
 * rest, and all ends. */
#include <errno.h>
#include <string.h>

#include "tests/torture/driver.h"
#include "tests/torture/host.h"

static struct scheduler_model *model_of(uint32_t i)
{
	return &world->scheduler[i];
}

/* ---- making schedulers ---- */

void scheduler_create(uint32_t i)
{
	const struct scheduler_script *script = &world->script.scheduler[i];
	struct scheduler_model *s = model_of(i);
	struct sb_place place[WORKERS_MAX];
	const struct sb_placement placement = { .workers = script->is_plain ? 1 : script->workers,
						.place = place };
	int rc;

	for (int k = 0; k < WORKERS_MAX; k++)
		place[k] = (struct sb_place){ -1, k, k, 0, 0, 0 };
	memset(s, 0, sizeof(*s)); /* its PIDs begin anew */
	script_config(&world->script, i, &s->config);
	callbacks_config(s);
	rc = sb_scheduler_create(&s->scheduler, &s->config, &placement);
	expect(!rc, "a scheduler cannot be created: %d", rc);
	callbacks_register(s);
}

static void start(uint32_t i)
{
	const int rc = sb_scheduler_start(model_of(i)->scheduler, NULL);

	expect(!rc || rc == -EALREADY || (rc == -ENOMEM && get(&world->refuses_memory)),
	       "start returned %d", rc);
}

static void start_all(void)
{
	for (uint32_t i = 0; i < world->script.schedulers; i++)
		start(i);
}

/* ---- probes: without other threads, limits are exact ---- */

/* Larger limits than that are not probed. */
#define PROBED_MAX 100

static int submit_probe(uint32_t i, struct life **life)
{
	*life = life_new(i, PLAIN_TYPE, 0);
	expect(*life, "no life is left for a probe");
	put(&(*life)->is_probe, true);
	return sb_scheduler_submit(model_of(i)->scheduler, &world->ops[PLAIN_TYPE], "main",
				   sb_value_ptr(*life), NULL);
}

static void cancel_probe(struct life *life)
{
	const int rc = sb_scheduler_cancel(scheduler_of(life)->scheduler, get(&life->pid));

	expect(!rc, "cancel of a process that waits returned %d", rc);
}

/* Before the start no process reads, so of bound + 1 messages the last one is refused. */
static void probe_mailbox(uint32_t i)
{
	const struct context context = { .who = THREAD };
	const uint32_t bound = model_of(i)->config.mailbox_bound;
	struct life *life;
	int rc = 0;

	if (!bound || submit_probe(i, &life))
		return;
	for (uint32_t n = 0; n < bound; n++) {
		rc = call_send(life, &context, false);
		expect(!rc, "message %u to a mailbox for %u was refused: %d", n, bound, rc);
	}
	rc = call_send(life, &context, false);
	expect(rc == -EWOULDBLOCK, "a message to a full mailbox (%u): %d", bound, rc);
	cancel_probe(life);
}

/* Submits processes up to the limit; one more is refused. */
static void fill_up(uint32_t i, uint64_t most)
{
	struct life *life[PROBED_MAX + 1];
	uint64_t n;
	int rc = 0;

	for (n = 0; n < most; n++) {
		rc = submit_probe(i, &life[n]);
		if (rc == -ENOMEM && model_of(i)->config.dead_max_bytes < UINT64_C(1) << 28)
			break;
		expect(!rc, "%lu of at most %lu processes are alive, and one was refused: %d",
		       (unsigned long)n, (unsigned long)most, rc);
	}
	if (n == most)
		rc = submit_probe(i, &life[most]);
	expect(rc == -EAGAIN || n < most, "beyond the limit of %lu a process was accepted: %d",
	       (unsigned long)most, rc);
	for (uint64_t k = 0; k < n; k++)
		cancel_probe(life[k]);
	rc = sb_scheduler_wait_idle(model_of(i)->scheduler, host_patience_ns());
	expect(!rc, "processes that were cancelled did not end: %d", rc);
}

static void probe_limit(uint32_t i)
{
	const uint64_t most = model_of(i)->config.processes_max;
	struct sb_scheduler *s = model_of(i)->scheduler;
	int rc;

	if (most > PROBED_MAX || !world->script.feature[FEATURE_PROBE_LIMIT])
		return;
	rc = sb_scheduler_wait_idle(s, host_patience_ns());
	expect(!rc, "wait_idle before any work: %d", rc);
	fill_up(i, most);
	fill_up(i, most);
	for (int n = 0; n < 8; n++) {
		const uint32_t before = get(&world->lives);

		call_execute(i, PLAIN_TYPE, ENDGAME_PLAIN);
		expect(get(&world->life[before].starts) ||
			       model_of(i)->config.dead_max_bytes < UINT64_C(1) << 28,
		       "execute was refused although nobody is alive (at most %lu may be)",
		       (unsigned long)most);
	}
}

/* ---- threads ---- */

static void make_calls_once(uint32_t me, const struct context *context)
{
	for (uint32_t i = 0; i < world->script.ops; i++) {
		const struct action *op = &world->script.op[i];

		if (op->thread != me || op->off)
			continue;
		put(&world->at[me], i + 1);
		call(op, context);
		add(&own()->progress, 1);
	}
}

static void *make_calls(void *arg)
{
	const uint32_t me = (uint32_t)(uintptr_t)arg;
	const struct context context = { .who = THREAD,
					 .stream = 1 + me,
					 .sequence = &own()->sequence };

	for (uint32_t n = script_repeats(&world->script); n; n--)
		make_calls_once(me, &context);
	put(&world->at[me], 0);
	add(&world->threads_left, -1);
	return NULL;
}

/* Completes the yields that are kept for later, so that each process gets its completions. */
static void *pump(void *arg)
{
	struct own *mine = own();

	(void)arg;
	while (!get(&world->pump_ends)) {
		for (uint32_t i = 0; i < PENDING_MAX; i++) {
			if (rng_below(&mine->rng, 2))
				add(&mine->progress, call_complete(i, &mine->rng));
		}
		host_sleep_ns(10000 + rng_below(&mine->rng, 200000));
	}
	return NULL;
}

/* A thread may wait for a scheduler that another thread has stopped, or for processes that stay
 * until they are cancelled. A stop ends the second wait, and a start the first. */
static void help_threads(uint32_t round)
{
	for (uint32_t i = 0; i < world->script.schedulers && round % 16 == 15; i++)
		call_stop(model_of(i));
	start_all();
}

static void run_threads(void)
{
	const bool is_early = world->script.feature[FEATURE_EARLY_CALLS];
	struct host_thread thread[THREADS_MAX];

	world->phase = "threads make their calls";
	put(&world->threads_left, world->script.threads);
	for (uint32_t i = 0; i < world->script.threads; i++)
		host_start(&thread[i], make_calls, (void *)(uintptr_t)i);
	if (is_early)
		start_all();
	for (uint32_t round = 0; get(&world->threads_left); round++) {
		host_sleep_ns(host_is_virtual() ? 50000 : 1000000);
		help_threads(round);
	}
	for (uint32_t i = 0; i < world->script.threads; i++)
		host_join(&thread[i]);
}

/* ---- rest ---- */

/*
 * Nothing wakes the workers here: what was published must be found although workers sleep. A
 * script may make thousands of processes that block their only worker, so only a time without
 * any step or call counts.
 */
static void come_to_rest(void)
{
	uint64_t since_ns = host_now_ns();
	uint64_t progress = 0;

	world->phase = "coming to rest";
	start_all();
	while (!model_is_quiet()) {
		const uint64_t now_ns = host_now_ns();
		const uint64_t seen = progress;

		progress = model_progress();
		if (progress != seen)
			since_ns = now_ns;
		expect(now_ns - since_ns < host_patience_ns(),
		       "messages, completions or processes wait for ever");
		host_sleep_ns(20000);
	}
}

static void stop_all(void)
{
	world->phase = "stopping";
	for (uint32_t i = 0; i < world->script.schedulers; i++)
		call_stop(model_of(i));
}

void round_run(void)
{
	struct host_thread pump_thread;
	uint32_t i;

	world->start_ns = host_now_ns();
	world->phase = "making schedulers";
	for (i = 0; i < LIVES_MAX; i++)
		world->life[i].number = i;
	for (i = 0; i <= TYPES_MAX; i++)
		callbacks_ops(i, &world->ops[i]);
	for (i = 0; i < world->script.schedulers; i++)
		scheduler_create(i);
	world->phase = "probing limits";
	for (i = 0; i < world->script.schedulers && world->script.feature[FEATURE_PROBE_MAILBOX];
	     i++)
		probe_mailbox(i);
	for (i = 0; i < world->script.schedulers && !world->script.feature[FEATURE_EARLY_CALLS];
	     i++) {
		start(i);
		probe_limit(i);
	}
	host_start(&pump_thread, pump, NULL);
	run_threads();
	come_to_rest();
	stop_all();
	/* Processes of one scheduler may have submitted to another that had stopped: these wait for a
	 * start. From now on there are no more. */
	put(&world->is_calm, true);
	come_to_rest();
	stop_all();
	for (i = 0; i < world->script.schedulers; i++)
		model_check_ended(i);
	put(&world->pump_ends, true);
	host_join(&pump_thread);
	for (i = 0; i < world->script.schedulers; i++)
		endgame_run(i);
	for (i = 0; i < SPARES_MAX; i++)
		sb_scheduler_destroy(world->spare[i]);
	model_check_end();
}
