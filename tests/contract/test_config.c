/*
 * The limits of every field of a configuration and of a placement.
 *
 * Property: for each value of limits.def that is allowed, 1000 processes run that message each
 *   other, sleep and spawn, every one ends once, and no message is lost; a value beyond the limits
 *   is refused with -EINVAL.
 * Method: of each field 0, 1, both limits, what is beyond them, and the largest of its type, each
 *   in a child process, so that a crash or a hang names its value. Public headers only.
 * Bound: one field at a time; the others have their defaults.
 *
 * usage: test_config [FIELD...]
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/config_load.h"

enum { WORKERS = 2 };

/* ---- one run, in a child process ---- */

/* Whether the field's limits, or a lack of memory, explain the error. */
static bool is_explained(int rc, int failure)
{
	return rc == -ENOMEM || (failure && rc == failure);
}

static void run(const struct sb_config *config, const struct sb_placement *placement, bool refuses,
		int failure)
{
	struct sb_scheduler *scheduler;
	int rc = sb_scheduler_create(&scheduler, config, placement);

	if (refuses || rc) {
		if (rc != -EINVAL)
			fprintf(stderr, "create returned %d\n", rc);
		load_require(refuses ? rc == -EINVAL : is_explained(rc, failure),
			     refuses ? "create refuses with -EINVAL" : "create accepts it");
		if (!rc)
			sb_scheduler_destroy(scheduler);
		return;
	}
	/* Thousands of threads are no part of this test. */
	if (placement->workers <= 64) {
		rc = sb_scheduler_start(scheduler, NULL);
		if (rc)
			fprintf(stderr, "start returned %d\n", rc);
		load_require(!rc || is_explained(rc, failure), "start");
		if (!rc) {
			load_submit(scheduler);
			load_require(!sb_scheduler_wait_idle(scheduler, UINT64_MAX), "all end");
			load_require(!sb_scheduler_stop(scheduler, UINT64_MAX), "stop");
			load_check(config);
		}
	}
	sb_scheduler_destroy(scheduler);
}

/* ---- the table ---- */

/* Of the same fields in the same order; one too few is a missing initializer. */
static const struct sb_config complete = {
#define NUMBER(field, ...)  0,
#define CHOICE(field, ...)  (__typeof__(((struct sb_config *)0)->field))0,
#define SWITCH(field)	    false,
#define POINTER(field, ...) NULL,
#include "tests/contract/limits.def"
};
static const struct sb_placement complete_placement = {
#define PLACEMENT(field, ...) 0,
#include "tests/contract/limits.def"
};
static const struct sb_place complete_place = {
#define PLACE(field, ...) 0,
#include "tests/contract/limits.def"
};

struct order {
#define NUMBER(field, ...)  __typeof__(((struct sb_config *)0)->field) field;
#define CHOICE(field, ...)  __typeof__(((struct sb_config *)0)->field) field;
#define SWITCH(field)	    __typeof__(((struct sb_config *)0)->field) field;
#define POINTER(field, ...) __typeof__(((struct sb_config *)0)->field) field;
#include "tests/contract/limits.def"
};
#define IN_ORDER(field)                                                                            \
	static_assert(offsetof(struct order, field) == offsetof(struct sb_config, field),          \
		      "limits.def has the fields of struct sb_config in their order");
#define NUMBER(field, ...)  IN_ORDER(field)
#define CHOICE(field, ...)  IN_ORDER(field)
#define SWITCH(field)	    IN_ORDER(field)
#define POINTER(field, ...) IN_ORDER(field)
#include "tests/contract/limits.def"
static_assert(sizeof(struct order) == sizeof(struct sb_config), "limits.def is complete");

/* Values are 64-bit patterns; a negative one is that of an int. */
struct limits {
	const char *name;
	int64_t low;
	uint64_t high;
	uint64_t type_max;
	int failure;
	bool is_signed;
	void (*set)(struct sb_config *config, struct sb_placement *placement, uint64_t value);
};

#define SETTER(field)                                                                              \
	static void set_##field(struct sb_config *config, struct sb_placement *placement,          \
				uint64_t value)                                                    \
	{                                                                                          \
		(void)placement;                                                                   \
		config->field = (__typeof__(config->field))value;                                  \
	}
#define NUMBER(field, ...) SETTER(field)
#define CHOICE(field, ...) SETTER(field)
#define SWITCH(field)	   SETTER(field)
#define POINTER(field, given)                                                                      \
	static void set_##field(struct sb_config *config, struct sb_placement *placement,          \
				uint64_t value)                                                    \
	{                                                                                          \
		(void)placement;                                                                   \
		config->field = value ? given : NULL;                                              \
	}
#define PLACE(field, ...)                                                                          \
	static void set_place_##field(struct sb_config *config, struct sb_placement *placement,    \
				      uint64_t value)                                              \
	{                                                                                          \
		(void)config;                                                                      \
		placement->place[0].field = (int)value;                                            \
	}
#include "tests/contract/limits.def"

static void set_placement_workers(struct sb_config *config, struct sb_placement *placement,
				  uint64_t value)
{
	static struct sb_place place[SB_WORKERS_MAX];
	const uint32_t workers = (uint32_t)value;

	(void)config;
	for (uint32_t i = 0; i < SB_WORKERS_MAX; i++)
		place[i] = placement->place[0];
	placement->workers = workers;
	placement->place = place;
}

static void set_placement_place(struct sb_config *config, struct sb_placement *placement,
				uint64_t value)
{
	(void)config;
	if (!value)
		placement->place = NULL;
}

/* There may be nodes that no worker is on. */
static void set_placement_nodes(struct sb_config *config, struct sb_placement *placement,
				uint64_t value)
{
	(void)config;
	placement->nodes = (uint32_t)value;
}

static int os_nodes[2] = { 0, INT_MAX };

static void set_placement_os_node(struct sb_config *config, struct sb_placement *placement,
				  uint64_t value)
{
	(void)config;
	placement->os_node = value ? os_nodes : NULL;
}

static uint32_t distances[4] = { 0, UINT32_MAX, 1, 10 };

static void set_placement_node_distance(struct sb_config *config, struct sb_placement *placement,
					uint64_t value)
{
	(void)config;
	placement->node_distance = value ? distances : NULL;
}

#define TYPE_MAX(s, field) (UINT64_MAX >> (64 - 8 * sizeof(((s *)0)->field)))

static const struct limits all_limits[] = {
#define NUMBER(field, low, high, failure)                                                          \
	{ #field, low, high, TYPE_MAX(struct sb_config, field), failure, false, set_##field },
#define CHOICE(field, high)                                                                        \
	{ #field, 0, high, TYPE_MAX(struct sb_config, field), 0, false, set_##field },
#define SWITCH(field)	      { #field, 0, 1, 1, 0, false, set_##field },
#define POINTER(field, given) { #field, 0, 1, 1, 0, false, set_##field },
#define PLACEMENT(field, low, high, failure)                                                       \
	{ "placement." #field,                                                                     \
	  low,                                                                                     \
	  high,                                                                                    \
	  sizeof(((struct sb_placement *)0)->field) == 4 ? UINT32_MAX : 1,                         \
	  failure,                                                                                 \
	  false,                                                                                   \
	  set_placement_##field },
#define PLACE(field, low, high, failure)                                                           \
	{ "place." #field, low, high, INT_MAX, failure, true, set_place_##field },
#include "tests/contract/limits.def"
};

/* ---- all values of all fields ---- */

static bool is_allowed(const struct limits *limits, uint64_t value)
{
	if (limits->is_signed)
		return (int64_t)value >= limits->low && (int64_t)value <= (int64_t)limits->high;
	return value >= (uint64_t)limits->low && value <= limits->high;
}

/* There is no memory for a state of that size. */
static void run_state(struct sb_scheduler *s, size_t bytes)
{
	struct sb_process_ops large = load_ops;

	large.state_bytes = bytes;
	load_require(sb_scheduler_submit(s, &large, "main", sb_value_u64(0), NULL) == -ENOMEM,
		     "a state without memory is refused");
}

static void run_states(const struct sb_config *config, const struct sb_placement *placement)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 255, SIZE_MAX / 2 };
	struct sb_scheduler *scheduler;

	load_require(!sb_scheduler_create(&scheduler, config, placement), "create");
	for (size_t i = 0; i < SB_ARRAY_SIZE(sizes); i++)
		run_state(scheduler, sizes[i]);
	sb_scheduler_destroy(scheduler);
}

/* No limits: the sizes of a process's state. */
static void run_value(const struct limits *limits, uint64_t value)
{
	struct sb_place places[WORKERS];
	struct sb_placement placement = { .workers = WORKERS, .place = places, .nodes = 2 };
	struct sb_config config;

	for (int i = 0; i < WORKERS; i++)
		places[i] = (struct sb_place){ -1, i, i, 0, 0, 0 };
	sb_config_init(&config);
	config.on_start = load_on_start;
	config.on_complete = load_on_complete;
	config.on_drop = load_on_drop;
	if (!limits) {
		run_states(&config, &placement);
		return;
	}
	limits->set(&config, &placement, value);
	run(&config, &placement, !is_allowed(limits, value), limits->failure);
}

/* A run takes milliseconds. After this time, in seconds, it counts as hung. */
#define LIMIT_S 120

/* Fields of sizes may ask for more memory than there is: a refusal, and no machine that swaps. */
#if SB_DEBUG
#define MEMORY_MAX RLIM_INFINITY
#else
#define MEMORY_MAX ((rlim_t)4 << 30)
#endif

/* A size that no allocator can serve is no mistake here. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void limit_child(void)
{
	const struct rlimit memory = { MEMORY_MAX, MEMORY_MAX };
	const struct rlimit none = { 0, 0 };

	(void)setrlimit(RLIMIT_AS, &memory);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Returns how the child ended, as waitpid does; -1: it has hung. */
static int play(const struct limits *limits, uint64_t value)
{
	const char *given = getenv("SB_CONTRACT_LIMIT_S");
	struct pollfd end = { .events = POLLIN };
	int pipes[2];
	int status = 0;
	bool has_ended;
	pid_t pid;

	fflush(stdout);
	load_require(!pipe(pipes), "a pipe");
	pid = fork();
	if (pid == 0) {
		limit_child();
		run_value(limits, value);
		exit(0);
	}
	close(pipes[1]);
	end.fd = pipes[0];
	has_ended = poll(&end, 1, 1000 * (given ? (int)strtol(given, NULL, 10) : LIMIT_S)) > 0;
	if (!has_ended)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(pipes[0]);
	return has_ended ? status : -1;
}

static bool check_value(const struct limits *limits, uint64_t value)
{
	const int status = play(limits, value);

	if (!status)
		return true;
	if (limits)
		printf("# %s = %lld (%s): ", limits->name, (long long)value,
		       is_allowed(limits, value) ? "allowed" : "to be refused");
	if (status < 0)
		printf("hung\n");
	else if (WIFSIGNALED(status))
		printf("%s\n", strsignal(WTERMSIG(status)));
	else
		printf("exit status %d\n", WEXITSTATUS(status));
	return false;
}

static bool check_field(const struct limits *limits, uint32_t *runs)
{
	const uint64_t values[] = { 0,
				    1,
				    (uint64_t)limits->low - 1,
				    (uint64_t)limits->low,
				    limits->high,
				    limits->high + 1,
				    limits->type_max };
	const int n = SB_ARRAY_SIZE(values);
	bool is_right = true;

	for (int i = 0; i < n; i++) {
		bool is_new = limits->is_signed ? (int64_t)values[i] >= INT_MIN &&
							  (int64_t)values[i] <= INT_MAX
						: values[i] <= limits->type_max;

		for (int j = 0; j < i; j++)
			is_new &= values[i] != values[j];
		if (is_new) {
			is_right &= check_value(limits, values[i]);
			++*runs;
		}
	}
	return is_right;
}

static bool is_wanted(const char *name, char **names)
{
	for (char **wanted = names; *wanted; wanted++) {
		if (strcmp(*wanted, name) == 0)
			return true;
	}
	return !names[0];
}

int main(int argc, char **argv)
{
	bool is_right = true;
	int n = 0;

	(void)argc;
	(void)complete;
	(void)complete_placement;
	(void)complete_place;
	for (size_t i = 0; i < SB_ARRAY_SIZE(all_limits); i++) {
		uint32_t runs = 0;
		bool is_field_right;

		if (!is_wanted(all_limits[i].name, argv + 1))
			continue;
		is_field_right = check_field(&all_limits[i], &runs);
		printf("%sok %d - %s, %u values\n", is_field_right ? "" : "not ", ++n,
		       all_limits[i].name, runs);
		is_right &= is_field_right;
	}
	if (is_wanted("state_bytes", argv + 1)) {
		const bool is_refused = check_value(NULL, 0);

		printf("%sok %d - state_bytes, near SIZE_MAX\n", is_refused ? "" : "not ", ++n);
		is_right &= is_refused;
	}
	printf("1..%d\n", n);
	return !is_right;
}
