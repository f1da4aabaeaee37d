/*
 * The contract of the public functions: who may call each, in which state of a scheduler, and
 * what happens.
 *
 * Property: every cell of functions.def and callers.def holds: an allowed call returns one of its
 *   results, a refused one returns -EDEADLK, a forbidden one fails its assertion; and the
 *   scheduler can be stopped and destroyed afterwards.
 * Method: a child process plays the cells of one function, one after the other; what a cell does
 *   to it, a crash or a hang, ends that cell only. Public headers only.
 * Bound: one schedule of each cell; with a sanitizer, of every second function.
 *
 * usage: test_contract [--man | --callers | --cells | FUNCTION...]
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/table.h"

/* ---- the child process: a part of a function's cells ---- */

struct report {
	uint32_t cell;
	int result;
};

static void play_cells(size_t function, uint32_t from, uint32_t end, int out)
{
	for (uint32_t i = from; i < end; i++) {
		const struct cell cell = table_cell(function, i);
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
 * A cell that takes longer has hung: seconds. It needs a few milliseconds, but sanitizers and
 * other programs on the machine make it slower.
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

	return 1000 * (given ? (int)strtol(given, NULL, 10) : LIMIT_S);
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
	       table_caller(cell->caller), table_state(cell->state), what);
	printf(" expected %s\n", table_names(cell->expected));
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
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a cell that hangs ends with the test */
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
	if (table_result(rc))
		return table_names(table_result(rc));
	snprintf(text, sizeof(text), "%d", rc);
	return text;
}

static void check_result(struct tally *tally, const struct cell *cell, const struct report *report,
			 int errors)
{
	if (!(table_result(report->result) & cell->expected))
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
		 !has_errors(child.errors, "broken invariant") ||
		 !has_errors(child.errors, cell->assertion))
		fail(tally, cell, text_of_end(status), child.errors);
	close(child.errors);
}

static uint32_t next_played(size_t function, uint32_t i)
{
	while (i < CELLS && table_cell(function, i).expected & (NONE | UNCHECKED))
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
		const struct cell cell = table_cell(function, report.cell);

		check_result(tally, &cell, &report, child.errors);
		from = next_played(function, report.cell + 1);
	}
	status = end_child(&child, got < 0);
	if (got < 0 || status) {
		const struct cell cell = table_cell(function, from < end ? from : end - 1);

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

/* Each forbidden cell has a child of its own; cells between two of them share one. */
static void play_function(struct tally *tally, size_t function)
{
	uint32_t i = next_played(function, 0);

	for (uint32_t n = 0; n < CELLS; n++) {
		const struct cell cell = table_cell(function, n);

		count(tally, &cell);
	}
	while (i < CELLS && hangs < HANGS_MAX) {
		const struct cell cell = table_cell(function, i);
		uint32_t end = i + 1;

		if (cell.expected & FORBIDDEN) {
			play_forbidden(tally, &cell, i);
			i = next_played(function, end);
			continue;
		}
		while (end < CELLS && !(table_cell(function, end).expected & FORBIDDEN))
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

/* A sanitizer makes a cell ten times as long: then every second function is played. */
#ifdef SB_ALLOC_LIBC
#define PART 2
#else
#define PART 1
#endif

static unsigned first_played(void)
{
	const char *given = getenv("SB_SEED");
	const unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)getpid();

	if (PART > 1)
		fprintf(stderr, "# SB_SEED=%u chooses the functions: 1 of %d is played\n", seed,
			PART);
	return seed % PART;
}

static bool is_wanted(size_t function, char **names, unsigned first)
{
	for (char **wanted = names; *wanted; wanted++) {
		if (strcmp(*wanted, functions[function].name) == 0)
			return true;
	}
	return !names[0] && function % PART == first;
}

static int run(char **names)
{
	const unsigned first = first_played();
	struct tally sum = { .cells = 0 };
	int n = 0;

	for (size_t i = 0; i < table_functions(); i++) {
		struct tally tally = { .cells = 0 };

		if (!is_wanted(i, names, first))
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

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "--man") == 0)
		table_print_man();
	else if (strcmp(what, "--callers") == 0)
		table_print_callers();
	else if (strcmp(what, "--cells") == 0)
		table_print_cells();
	else
		return run(argv + 1);
	return 0;
}
