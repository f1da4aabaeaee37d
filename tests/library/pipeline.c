/*
 * pipeline.c - work that blocks, outside of the scheduler: each job yields a command, threads of a
 * pool serve and complete it, and the job sends what it got to a collector.
 *
 *     source --spawns--> jobs --command--> pool --completion--> jobs --message--> collector
 */
#include <pthread.h>
#include <schedbench.h>
#include <stdio.h>
#include <string.h>

#define JOBS	10000
#define THREADS 4
#define SQUARE	1 /* the command: its argument, squared */

/* ---- the pool ---- */

struct task {
	uint64_t number;
	struct sb_completer completer;
};

/* There is room for all jobs, so a handler never waits. */
static struct pool {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct task task[JOBS];
	unsigned int begin, end;
	bool closed;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER };

static bool take_task(struct task *task)
{
	bool any;

	pthread_mutex_lock(&pool.lock);
	while (pool.begin == pool.end && !pool.closed)
		pthread_cond_wait(&pool.filled, &pool.lock);
	any = pool.begin < pool.end;
	if (any)
		*task = pool.task[pool.begin++];
	pthread_mutex_unlock(&pool.lock);
	return any;
}

/* Stands for a call that blocks. */
static void *serve(void *unused)
{
	struct task task;

	while (take_task(&task))
		sb_complete(&task.completer, sb_value_u64(task.number * task.number), 0);
	return unused;
}

/* On a worker, which must not block: the task is noted, and completed later. */
static int handle(void *context, const struct sb_command *command,
		  const struct sb_completer *completer)
{
	(void)context;
	pthread_mutex_lock(&pool.lock);
	pool.task[pool.end++] = (struct task){ command->arg.u64, *completer };
	pthread_cond_signal(&pool.filled);
	pthread_mutex_unlock(&pool.lock);
	return 0;
}

static void close_pool(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.closed = true;
	pthread_cond_broadcast(&pool.filled);
	pthread_mutex_unlock(&pool.lock);
}

/* ---- a job ---- */

struct job {
	uint64_t number;
	sb_pid collector;
};

static struct job jobs[JOBS];

static int init_job(void *state, const char *method, union sb_value input)
{
	(void)method;
	memcpy(state, input.ptr, sizeof(struct job));
	return 0;
}

static int step_job(void *state, struct sb_step *step, const struct sb_event *events,
		    uint32_t count)
{
	const struct job *job = state;
	int rc;

	if (!count) {
		rc = sb_step_yield(step, SQUARE, sb_value_u64(job->number), 0);
		return rc ? rc : SB_YIELD;
	}
	if (events[0].error)
		return events[0].error;
	rc = sb_step_send(step, job->collector, events[0].data);
	return rc ? rc : SB_DONE;
}

static const struct sb_process_ops job_ops = { "job", sizeof(struct job), init_job, step_job,
					       NULL };

/* ---- source and collector in one ---- */

struct sum {
	uint64_t left;
	uint64_t total;
	bool started;
};

static int start_jobs(struct sum *sum, struct sb_step *step)
{
	sum->started = true;
	sum->left = JOBS;
	for (uint64_t i = 0; i < JOBS; i++) {
		int rc;

		jobs[i] = (struct job){ i + 1, sb_step_self(step) };
		rc = sb_step_spawn(step, &job_ops, "square", sb_value_ptr(&jobs[i]), NULL);
		if (rc)
			return rc;
	}
	return SB_IDLE;
}

static int init_sum(void *state, const char *method, union sb_value input)
{
	(void)state;
	(void)method;
	(void)input;
	return 0;
}

static int step_sum(void *state, struct sb_step *step, const struct sb_event *events,
		    uint32_t count)
{
	struct sum *sum = state;

	if (!sum->started)
		return start_jobs(sum, step);
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type != SB_EVENT_MESSAGE)
			continue;
		sum->total += events[i].data.u64;
		sum->left--;
	}
	if (sum->left)
		return SB_IDLE;
	sb_step_result(step, sb_value_u64(sum->total));
	return SB_DONE;
}

static const struct sb_process_ops sum_ops = { "sum", sizeof(struct sum), init_sum, step_sum,
					       NULL };

/* ---- all of it ---- */

static int run(struct sb_scheduler *s)
{
	struct sb_exit exit;
	int rc = sb_scheduler_register(s, SQUARE, handle, NULL);

	rc = rc ? rc : sb_scheduler_start(s, NULL);
	rc = rc ? rc : sb_scheduler_execute(s, &sum_ops, "sum", sb_value_u64(0), &exit);
	if (!rc)
		printf("pipeline: the squares of 1 to %d add up to %llu\n", JOBS,
		       (unsigned long long)exit.result.u64);
	sb_scheduler_stop(s, UINT64_MAX);
	return rc;
}

int main(void)
{
	struct sb_placement placement;
	struct sb_scheduler *s;
	struct sb_config config;
	pthread_t thread[THREADS];
	int rc;

	sb_config_init(&config);
	if (sb_placement_here(0, &placement) || sb_scheduler_create(&s, &config, &placement))
		return 1;
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread[i], NULL, serve, NULL))
			return 1;
	}
	rc = run(s);
	close_pool();
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	sb_scheduler_destroy(s);
	sb_placement_free(&placement);
	return rc != 0;
}
