/*
 * table.c - the contract: what happens in each cell.
 */
#include "tests/contract/table.h"

#include <stdio.h>
#include <string.h>

enum class { PURE, ANY, SETUP, WAITS, FREES, STEP_ONLY, OUTPUT_ONLY, ABORTS, CLASSES };

static const struct {
	int bit;
	int error;
	const char *name;
} results[] = {
	{ OK, 0, "0" },
	{ ALREADY, EALREADY, "EALREADY" },
	{ DEADLK, EDEADLK, "EDEADLK" },
	{ ROFS, EROFS, "EROFS" },
	{ SHUTDOWN, ESHUTDOWN, "ESHUTDOWN" },
	{ SRCH, ESRCH, "ESRCH" },
	{ TIMEDOUT, ETIMEDOUT, "ETIMEDOUT" },
	{ FORBIDDEN, -1, "forbidden" },
	{ UNCHECKED, -1, "forbidden (not checked)" },
	{ NONE, -1, "-" },
};

#define RESULTS (sizeof(results) / sizeof(results[0]))

static const struct {
	const char *name;
	const char *callers; /* the sentence of the headers */
} classes[CLASSES] = {
	[PURE] = { "any", "any thread." },
	[ANY] = { "any", "any thread." },
	[SETUP] = { "any", "any thread, one at a time, and not beside a start." },
	[WAITS] = { "foreign",
		    "foreign threads; workers, callbacks and the helper thread get -EDEADLK." },
	[FREES] = { "foreign", "foreign threads; for workers, callbacks and the helper thread an "
			       "assertion fails." },
	[STEP_ONLY] = { "step", "the step, and an init, on_start or visitor that it calls." },
	[OUTPUT_ONLY] = { "step", "the step, and an init, on_start or visitor that it calls." },
	[ABORTS] = { "any", "any thread." },
};

/* The columns of functions.def. */
enum column { IN_CREATED, IN_STARTED, IN_STOPPING, IN_STOPPED, IN_ENDED, COLUMNS };

struct row {
	enum class class;
	int result[COLUMNS];
};

/* Two classes have the names of callers. */
#define CLASS_PURE   PURE
#define CLASS_ANY    ANY
#define CLASS_SETUP  SETUP
#define CLASS_WAITS  WAITS
#define CLASS_FREES  FREES
#define CLASS_STEP   STEP_ONLY
#define CLASS_OUTPUT OUTPUT_ONLY
#define CLASS_ABORTS ABORTS

static const struct row rows[] = {
#define FUNCTION(name, class, ...) { CLASS_##class, { __VA_ARGS__ } },
#include "tests/contract/functions.def"
#undef FUNCTION
};

#define FUNCTIONS (sizeof(rows) / sizeof(rows[0]))

enum thread { WORKER, FOREIGN, HELPER_THREAD };
enum place { FREE, CALLBACK, IN_STEP };
enum { NO, YES };

static const struct {
	const char *text;
	enum thread thread;
	enum place place;
	bool exists[COLUMNS];
} callers[CALLERS] = {
#define THREAD_WORKER  WORKER
#define THREAD_FOREIGN FOREIGN
#define THREAD_HELPER  HELPER_THREAD
#define CALLER(NAME, text, thread, place, ...)                                                     \
	[NAME] = { text, THREAD_##thread, place, { __VA_ARGS__ } },
#include "tests/contract/callers.def"
#undef CALLER
};

static const char *const states[STATES] = {
	[CREATED] = "created",
	[STARTED] = "started",
	[STOPPING] = "stopping",
	[STOPPED] = "stopped",
	[FORCED] = "ended by force in a stop",
	[DESTROYED] = "ended by force in a destroy",
	[FAR_CREATED] = "another scheduler, created",
	[FAR_STARTED] = "another scheduler, started",
	[FAR_STOPPING] = "another scheduler, stopping",
	[FAR_STOPPED] = "another scheduler, stopped",
};

static enum column column_of(enum state state)
{
	switch (scene_state(state)) {
	case CREATED:
		return IN_CREATED;
	case STARTED:
		return IN_STARTED;
	case STOPPING:
		return IN_STOPPING;
	case STOPPED:
		return IN_STOPPED;
	default:
		return IN_ENDED;
	}
}

static bool exists(enum caller caller, enum state state)
{
	if (scene_is_far(state))
		return caller != FOREIGN_THREAD && callers[caller].exists[IN_STARTED];
	return callers[caller].exists[column_of(state)];
}

/* Of a step output that is not the caller's: on its own thread nothing shows that the step is over. */
static int misuse(enum class class, enum caller caller, enum state state)
{
	const bool is_elsewhere = callers[caller].thread != WORKER || scene_is_far(state);

	return class == STEP_ONLY && is_elsewhere && SB_DEBUG ? FORBIDDEN : UNCHECKED;
}

static int expected(const struct row *row, enum caller caller, enum state state)
{
	const int result = row->result[column_of(state)];
	const bool may_wait = callers[caller].place == FREE;
	const bool is_within = callers[caller].place == IN_STEP && !scene_is_far(state);

	if (!exists(caller, state))
		return NONE;
	switch (row->class) {
	case WAITS:
		return may_wait ? result : DEADLK;
	case FREES:
		return may_wait ? result : FORBIDDEN;
	case STEP_ONLY:
	case OUTPUT_ONLY:
		return is_within || result == NONE ? result : misuse(row->class, caller, state);
	default:
		return result;
	}
}

/* A destroy checks its caller before the state. */
static const char *assertion(enum class class, enum caller caller)
{
	switch (class) {
	case FREES:
		return callers[caller].place == FREE ? "sb_phase_is_at_rest("
						     : "sb_caller_may_wait()";
	case STEP_ONLY:
		return "sb_worker_current()";
	default:
		return "a check";
	}
}

struct cell table_cell(size_t function, uint32_t i)
{
	struct cell cell = { .function = function, .caller = i / STATES, .state = i % STATES };

	cell.expected = expected(&rows[function], cell.caller, cell.state);
	cell.assertion = assertion(rows[function].class, cell.caller);
	return cell;
}

int table_result(int rc)
{
	for (size_t i = 0; i < RESULTS; i++) {
		if (results[i].error == -rc)
			return results[i].bit;
	}
	return 0;
}

const char *table_names(int set)
{
	static char text[200];

	text[0] = '\0';
	for (size_t i = 0; i < RESULTS; i++) {
		if (!(set & results[i].bit))
			continue;
		if (text[0])
			strcat(text, " or ");
		if (results[i].error > 0)
			strcat(text, "-");
		strcat(text, results[i].name);
	}
	return text;
}

const char *table_caller(enum caller caller)
{
	return callers[caller].text;
}

const char *table_state(enum state state)
{
	return states[state];
}

size_t table_functions(void)
{
	return FUNCTIONS;
}

/* ---- the table for other readers ---- */

/* Errors without their -E: the lines of a man page are short. */
static void print_short(int set, int width)
{
	char text[40] = "";

	for (size_t i = 0; i < RESULTS; i++) {
		if (!(set & results[i].bit))
			continue;
		if (text[0])
			strcat(text, "/");
		strcat(text, results[i].bit == FORBIDDEN
				     ? "forbidden"
				     : results[i].name + (results[i].error > 0));
	}
	printf(" %-*s", width, text);
}

void table_print_man(void)
{
	static const char *const order[COLUMNS] = { "created", "started", "stopping", "stopped",
						    "ended" };

	printf("%-27s%-8s", "function", "callers");
	for (int c = 0; c < COLUMNS; c++)
		printf(" %-10s", order[c]);
	printf("\n");
	for (size_t i = 0; i < FUNCTIONS; i++) {
		printf("%-27s%-8s", functions[i].name, classes[rows[i].class].name);
		for (int c = 0; c < COLUMNS; c++)
			print_short(rows[i].result[c], 10);
		printf("\n");
	}
}

void table_print_callers(void)
{
	for (size_t i = 0; i < FUNCTIONS; i++) {
		printf("%s\t%s\t", functions[i].name, classes[rows[i].class].callers);
		for (size_t k = 0; k < RESULTS; k++) {
			bool has = false;

			for (int c = 0; c < COLUMNS; c++)
				has |= rows[i].result[c] & results[k].bit;
			if (has && results[k].error > 0)
				printf(" -%s", results[k].name);
		}
		printf("\n");
	}
}

void table_print_cells(void)
{
	for (size_t i = 0; i < FUNCTIONS; i++) {
		for (uint32_t n = 0; n < CELLS; n++) {
			const struct cell cell = table_cell(i, n);

			printf("%s\t%s\t%s\t%s\n", functions[i].name, callers[cell.caller].text,
			       states[cell.state], table_names(cell.expected));
		}
	}
}
