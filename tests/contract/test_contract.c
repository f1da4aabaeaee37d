/*
 * The contract of the public functions: who may call each, in which state of a scheduler, and
 * what happens.
 *
 * Property: every cell of functions.def and callers.def holds: an allowed call returns one of its
 *   results, a refused one returns -EDEADLK, a forbidden one fails its assertion; and the
 *   scheduler can be stopped and destroyed afterwards.
 * Method: a child process plays the cells of one function, one after the other; what a cell does
 *   to it, a crash or a hang, ends that cell only. Public headers only.
 * Bound: one schedule of each cell.
 *
 * usage: test_contract [--man | --callers | --cells | FUNCTION...]
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/scene.h"

/* ---- the table ---- */

enum class { PURE, ANY, SETUP, WAITS, FREES, STEP_ONLY, OUTPUT_ONLY, ABORTS, CLASSES };

/* Results, as a set. */
enum {
	OK = 1,
	ALREADY = 2,
	DEADLK = 4,
	ROFS = 8,
	SHUTDOWN = 16,
	SRCH = 32,
	TIMEDOUT = 64,
	FORBIDDEN = 128, /* an assertion fails */
	UNCHECKED = 256, /* forbidden, but no assertion of this build sees it */
	NONE = 512,	 /* there is no such call */
};

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
	[STEP_ONLY] = { "step", "the step that it was given to." },
	[OUTPUT_ONLY] = { "step", "the step that it was given to." },
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

/* ---- one cell ---- */

struct cell {
	size_t function;
	enum caller caller;
	enum state state;
	int expected;
};

static struct cell cell_of(size_t function, uint32_t i)
{
	struct cell cell = { .function = function, .caller = i / STATES, .state = i % STATES };

	cell.expected = expected(&rows[function], cell.caller, cell.state);
	return cell;
}

#define CELLS ((uint32_t)CALLERS * STATES)

static int bit_of(int rc)
{
	for (size_t i = 0; i < RESULTS; i++) {
		if (results[i].error == -rc)
			return results[i].bit;
	}
	return 0;
}

static const char *names_of(int set)
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

/* ---- the child process: a part of a function's cells ---- */

struct report {
	uint32_t cell;
	int result;
};

static void play_cells(size_t function, uint32_t from, uint32_t end, int out)
{
	for (uint32_t i = from; i < end; i++) {
		const struct cell cell = cell_of(function, i);
		struct report report = { .cell = i };

		if (cell.expected & (NONE | UNCHECKED))
			continue;
		report.result = scene_play(&functions[function], cell.caller, cell.state);
		if (write(out, &report, sizeof(report)) != sizeof(report))
			_Exit(4);
	}
}

/* ---- the parent ---- */

/*
 * A cell that takes so long has hung: seconds, of a few milliseconds that it needs. Sanitizers
 * and emulators are slow; so may be a machine with other work.
 */
#if SB_DEBUG
#define LIMIT_S 120
#else
#define LIMIT_S 60
#endif

/* More hangs say nothing new, and take minutes. */
#define HANGS_MAX 5

struct tally {
	uint32_t cells;
	uint32_t tested;
	uint32_t forbidden;
	uint32_t unchecked;
	uint32_t none;
	uint32_t failed;
};

static uint32_t hangs;

static int limit_ms(void)
{
	const char *given = getenv("SB_CONTRACT_LIMIT_S");

	return 1000 * (given ? atoi(given) : LIMIT_S);
}

/* Prints what the child has written to standard error. */
static void print_errors(int file)
{
	char text[4096];
	ssize_t bytes;

	(void)lseek(file, 0, SEEK_SET);
	bytes = read(file, text, sizeof(text) - 1);
	text[bytes > 0 ? bytes : 0] = '\0';
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("#     %s\n", line);
}

static bool has_errors(int file, const char *text)
{
	char all[4096];
	ssize_t bytes;

	(void)lseek(file, 0, SEEK_SET);
	bytes = read(file, all, sizeof(all) - 1);
	all[bytes > 0 ? bytes : 0] = '\0';
	return strstr(all, text) != NULL;
}

static void fail(struct tally *tally, const struct cell *cell, const char *what, int errors)
{
	tally->failed++;
	printf("# %s, called by %s; the scheduler: %s: %s,", functions[cell->function].name,
	       callers[cell->caller].text, states[cell->state], what);
	printf(" expected %s\n", names_of(cell->expected));
	print_errors(errors);
	fflush(stdout);
}

struct child {
	pid_t pid;
	int reports;
	int errors; /* a file */
};

static struct child start_child(size_t function, uint32_t from, uint32_t end)
{
	struct child child;
	int pipes[2];

	fflush(stdout);
	child.errors = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (child.errors < 0)
		child.errors = fileno(tmpfile());
	if (pipe(pipes))
		abort();
	child.pid = fork();
	if (child.pid == 0) {
		const struct rlimit none = { 0, 0 };

		(void)setrlimit(RLIMIT_CORE, &none);
		dup2(child.errors, STDERR_FILENO);
		close(pipes[0]);
		play_cells(function, from, end, pipes[1]);
		exit(0);
	}
	close(pipes[1]);
	child.reports = pipes[0];
	return child;
}

/* Returns 1: a report; 0: the child has ended; -1: it has hung. */
static int next_report(const struct child *child, struct report *report)
{
	struct pollfd poll_reports = { .fd = child->reports, .events = POLLIN };

	if (poll(&poll_reports, 1, limit_ms()) <= 0)
		return -1;
	return read(child->reports, report, sizeof(*report)) == sizeof(*report);
}

/* Returns how the child ended, as waitpid does. */
static int end_child(struct child *child, bool by_force)
{
	int status = 0;

	if (by_force)
		kill(child->pid, SIGKILL);
	waitpid(child->pid, &status, 0);
	close(child->reports);
	return status;
}

static const char *text_of_result(int rc)
{
	static char text[64];

	if (rc == WRONG)
		return "a value that the headers exclude";
	if (bit_of(rc))
		return names_of(bit_of(rc));
	snprintf(text, sizeof(text), "%d", rc);
	return text;
}

static void check_result(struct tally *tally, const struct cell *cell, const struct report *report,
			 int errors)
{
	if (!(bit_of(report->result) & cell->expected))
		fail(tally, cell, text_of_result(report->result), errors);
}

static const char *text_of_end(int status)
{
	static char text[64];

	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, sizeof(text), "exit status %d", WEXITSTATUS(status));
	return text;
}

/* The assertion ends the child, and says so. */
static void play_forbidden(struct tally *tally, const struct cell *cell, uint32_t i)
{
	struct child child = start_child(cell->function, i, i + 1);
	struct report report;
	const int got = next_report(&child, &report);
	const int status = end_child(&child, got < 0);

	if (got < 0)
		hangs++;
	if (got)
		fail(tally, cell, got < 0 ? "hung" : text_of_result(report.result), child.errors);
	else if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT ||
		 !has_errors(child.errors, "broken invariant"))
		fail(tally, cell, text_of_end(status), child.errors);
	close(child.errors);
}

static uint32_t next_played(size_t function, uint32_t i)
{
	while (i < CELLS && cell_of(function, i).expected & (NONE | UNCHECKED))
		i++;
	return i;
}

/* Plays cells until one of them ends the child; returns the first that is left. */
static uint32_t play_some(struct tally *tally, size_t function, uint32_t from, uint32_t end)
{
	struct child child = start_child(function, from, end);
	struct report report;
	int got;
	int status;

	while ((got = next_report(&child, &report)) > 0) {
		const struct cell cell = cell_of(function, report.cell);

		check_result(tally, &cell, &report, child.errors);
		from = next_played(function, report.cell + 1);
	}
	status = end_child(&child, got < 0);
	if (got < 0 || status) {
		const struct cell cell = cell_of(function, from < end ? from : end - 1);

		hangs += got < 0;
		fail(tally, &cell, got < 0 ? "hung" : text_of_end(status), child.errors);
		from++;
	}
	close(child.errors);
	return next_played(function, from);
}

static void count(struct tally *tally, const struct cell *cell)
{
	tally->cells++;
	if (cell->expected & NONE)
		tally->none++;
	else if (cell->expected & UNCHECKED)
		tally->unchecked++;
	else if (cell->expected & FORBIDDEN)
		tally->forbidden++;
	else
		tally->tested++;
}

/* Forbidden cells have a child each; the others have one for as many as follow each other. */
static void play_function(struct tally *tally, size_t function)
{
	uint32_t i = next_played(function, 0);

	for (uint32_t n = 0; n < CELLS; n++) {
		const struct cell cell = cell_of(function, n);

		count(tally, &cell);
	}
	while (i < CELLS && hangs < HANGS_MAX) {
		const struct cell cell = cell_of(function, i);
		uint32_t end = i + 1;

		if (cell.expected & FORBIDDEN) {
			play_forbidden(tally, &cell, i);
			i = next_played(function, end);
			continue;
		}
		while (end < CELLS && !(cell_of(function, end).expected & FORBIDDEN))
			end++;
		i = play_some(tally, function, i, end);
	}
}

static void add(struct tally *sum, const struct tally *one)
{
	sum->cells += one->cells;
	sum->tested += one->tested;
	sum->forbidden += one->forbidden;
	sum->unchecked += one->unchecked;
	sum->none += one->none;
	sum->failed += one->failed;
}

static void print_tally(const char *name, const struct tally *tally)
{
	printf("%s: %u cells, %u tested, %u forbidden (an assertion), %u forbidden (not checked), "
	       "%u n/a\n",
	       name, tally->cells, tally->tested, tally->forbidden, tally->unchecked, tally->none);
}

static bool is_wanted(const char *name, char **names)
{
	for (char **wanted = names; *wanted; wanted++) {
		if (strcmp(*wanted, name) == 0)
			return true;
	}
	return !names[0];
}

static int run(char **names)
{
	struct tally sum = { .cells = 0 };
	int n = 0;

	for (size_t i = 0; i < FUNCTIONS; i++) {
		struct tally tally = { .cells = 0 };

		if (!is_wanted(functions[i].name, names))
			continue;
		play_function(&tally, i);
		printf("%sok %d - ", tally.failed || hangs >= HANGS_MAX ? "not " : "", ++n);
		print_tally(functions[i].name, &tally);
		fflush(stdout);
		add(&sum, &tally);
	}
	if (hangs >= HANGS_MAX)
		printf("# %u cells hung: those after them were not played\n", hangs);
	printf("1..%d\n# ", n);
	print_tally("in all", &sum);
	return sum.failed || hangs >= HANGS_MAX;
}

/* ---- the table for other readers ---- */

static void print_man(void)
{
	static const char *const order[COLUMNS] = { "created", "started", "stopping", "stopped",
						    "ended" };

	printf("%-27s %-8s", "function", "callers");
	for (int c = 0; c < COLUMNS; c++)
		printf(" %-10s", order[c]);
	printf("\n");
	for (size_t i = 0; i < FUNCTIONS; i++) {
		printf("%-27s %-8s", functions[i].name, classes[rows[i].class].name);
		for (int c = 0; c < COLUMNS; c++)
			printf(" %-10s", names_of(rows[i].result[c]));
		printf("\n");
	}
}

static void print_callers(void)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		printf("%s\t%s\n", functions[i].name, classes[rows[i].class].callers);
}

static void print_cells(void)
{
	for (size_t i = 0; i < FUNCTIONS; i++) {
		for (uint32_t n = 0; n < CELLS; n++) {
			const struct cell cell = cell_of(i, n);

			printf("%s\t%s\t%s\t%s\n", functions[i].name, callers[cell.caller].text,
			       states[cell.state], names_of(cell.expected));
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "--man") == 0)
		print_man();
	else if (strcmp(what, "--callers") == 0)
		print_callers();
	else if (strcmp(what, "--cells") == 0)
		print_cells();
	else
		return run(argv + 1);
	return 0;
}
