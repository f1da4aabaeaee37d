#include "harness/micro/callgrind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <regex.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/system/program.h"
#include "harness/terminal/status.h"
#include "results/files/file.h"
#include "results/json/json_out.h"
#include "results/text/escape.h"

/* ---- which kinds ---- */

struct filter {
	regex_t regex;
	bool is_set;
	bool excludes;
};

/* False: it is no regular expression. */
static bool filter_init(struct filter *filter, const char *text)
{
	filter->is_set = text && *text;
	filter->excludes = filter->is_set && *text == '-';
	return !filter->is_set ||
	       !regcomp(&filter->regex, text + filter->excludes, REG_EXTENDED | REG_NOSUB);
}

static void filter_fini(struct filter *filter)
{
	if (filter->is_set)
		regfree(&filter->regex);
}

static bool filter_takes(const struct filter *filter, const char *name)
{
	return !filter->is_set || !regexec(&filter->regex, name, 0, NULL, 0) != filter->excludes;
}

bool sb_filter_is_valid(const char *text)
{
	struct filter filter;
	const bool ok = *text && filter_init(&filter, text);

	if (ok)
		filter_fini(&filter);
	return ok;
}

static bool is_counted(const struct sb_micro_kind *kind)
{
	return !kind->uncounted && kind->threads[0] <= 1;
}

/* ---- within callgrind ---- */

/* Of a window; more for a kind that does so many at a time. */
#define OPERATIONS	     4096
/* Where a worker is woken and goes to sleep around them, never in quite so many
 * instructions: enough operations for that not to matter. */
#define OPERATIONS_ELSEWHERE 32768

/* Not inlined, not cloned, and left by a return, whatever the compiler thinks. */
#ifdef __clang__
__attribute__((noinline))
#else
__attribute__((noipa))
#endif
void sb_counts_window(struct sb_micro *m, uint64_t n)
{
	m->kind->run(m, 0, n);
	sb_micro_keep(n);
}

/* Once first, by which memory is there and addresses are bound; that window is
 * not looked at. It is one because callgrind puts not quite all to zero at a
 * window's beginning: what set_up has called through the linker's table would
 * be in the first. */
static int count_one(struct sb_micro *m, FILE *windows)
{
	const uint64_t n = sb_max_u64(m->kind->elsewhere ? OPERATIONS_ELSEWHERE : OPERATIONS,
				      (uint64_t)m->arg);
	char name[SB_MICRO_NAME_BYTES];
	const char *wrong = "it cannot be set up";

	sb_micro_name(name, m->kind, m->arg);
	if (!sb_micro_begin(m)) {
		sb_counts_window(m, n);
		sb_counts_window(m, n);
		sb_counts_window(m, 2 * n);
		wrong = m->kind->check(m, 4 * n);
	}
	sb_micro_end(m);
	if (wrong)
		fprintf(stderr, "%s: %s\n", name, sb_terminal_text(wrong));
	else
		fprintf(windows, "%s %" PRIu64 "\n", name, n);
	return wrong != NULL;
}

static int count_kind(const struct sb_micro_kind *kind, const struct filter *filter, FILE *windows)
{
	int failures = 0;

	for (uint32_t i = 0; i < sb_micro_args(kind); i++) {
		struct sb_micro m = { .kind = kind, .arg = kind->arg[i], .threads = 1 };
		char name[SB_MICRO_NAME_BYTES];

		sb_micro_name(name, kind, m.arg);
		if (filter_takes(filter, name))
			failures += count_one(&m, windows);
	}
	return failures;
}

int sb_counts_run(const char *text, FILE *windows)
{
	struct filter filter;
	int failures = 0;

	if (!filter_init(&filter, text))
		return 1;
	SB_FOR_EACH_KIND (kind) {
		if (is_counted(kind))
			failures += count_kind(kind, &filter, windows);
	}
	filter_fini(&filter);
	return failures;
}

/* ---- around it ---- */

/* The files of one call, in a directory of its own. */
struct files {
	char directory[64];
	char callgrind[96]; /* what was counted, a part for each window */
	char windows[96];   /* what the program says that they were */
	char log[96];	    /* its complaints, and valgrind's */
};

static int files_make(struct files *files)
{
	const char *root = getenv("TMPDIR");

	if (snprintf(files->directory, sizeof(files->directory), "%s/sched-bench-XXXXXX",
		     root && *root ? root : "/tmp") >= (int)sizeof(files->directory))
		return -ENAMETOOLONG;
	if (!mkdtemp(files->directory))
		return -errno;
	snprintf(files->callgrind, sizeof(files->callgrind), "%s/callgrind", files->directory);
	snprintf(files->windows, sizeof(files->windows), "%s/windows", files->directory);
	snprintf(files->log, sizeof(files->log), "%s/log", files->directory);
	return 0;
}

static void files_remove(const struct files *files)
{
	unlink(files->callgrind);
	unlink(files->windows);
	unlink(files->log);
	rmdir(files->directory);
}

/* Starts it with its output in the files; 0 or -errno. */
static int start(pid_t *pid, const struct files *files, char **argv)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return -rc;
	rc = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, files->windows,
					      O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, files->log,
						      O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (!rc)
		rc = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

/* The last line of the log that is not valgrind's. */
static void last_words(const struct files *files, char *out, size_t bytes)
{
	FILE *log = fopen(files->log, "re");
	char line[200];

	snprintf(out, bytes, "no reason was given");
	while (log && fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && strncmp(line, "==", 2) != 0)
			snprintf(out, bytes, "%s", line);
	}
	if (log)
		fclose(log);
}

static int run_callgrind(const struct files *files, const char *program, const char *filter,
			 char *why, size_t bytes)
{
	char out[128];
	char regex[512];
	char *argv[] = {
		(char[]){ "valgrind" },
		(char[]){ "--tool=callgrind" },
		(char[]){ "--fair-sched=yes" },
		(char[]){ "--combine-dumps=yes" },
		(char[]){ "--zero-before=sb_counts_window" },
		(char[]){ "--dump-after=sb_counts_window" },
		out,
		(char *)(uintptr_t)program,
		(char[]){ "micro" },
		(char[]){ "--counted" },
		filter ? regex : NULL,
		NULL,
	};
	char said[200];
	pid_t pid = -1;
	int rc;

	snprintf(out, sizeof(out), "--callgrind-out-file=%s", files->callgrind);
	if (filter &&
	    snprintf(regex, sizeof(regex), "--benchmark_filter=%s", filter) >= (int)sizeof(regex)) {
		snprintf(why, bytes, "the filter is too long");
		return -EINVAL;
	}
	rc = start(&pid, files, argv);
	if (rc) {
		snprintf(why, bytes,
			 "valgrind cannot be run: %s; expected Debian's package valgrind",
			 strerror(-rc));
		return rc;
	}
	rc = wait_for(pid);
	if (!rc)
		return 0;
	last_words(files, said, sizeof(said));
	snprintf(why, bytes, "%s, under valgrind: %s", program, said);
	return rc == SB_EXIT_INVALID ? -EBADMSG : -EPROTO;
}

/* ---- what came back ---- */

/* The next part's total; 0: there is none. */
static uint64_t next_total(FILE *callgrind)
{
	char line[512];

	while (fgets(line, sizeof(line), callgrind)) {
		if (!strncmp(line, "totals: ", 8))
			return strtoull(line + 8, NULL, 10);
	}
	return 0;
}

static int add(struct sb_counts *counts, const char *name, double instructions)
{
	struct sb_count *more =
		realloc(counts->count, (counts->counts + 1) * sizeof(*counts->count));

	if (!more)
		return -ENOMEM;
	counts->count = more;
	more += counts->counts++;
	more->instructions = instructions;
	return snprintf(more->name, sizeof(more->name), "%s", name) < (int)sizeof(more->name)
		       ? 0
		       : -EPROTO;
}

/* Each line of windows is three parts of callgrind's file. */
static int read_both(struct sb_counts *counts, FILE *windows, FILE *callgrind)
{
	char line[SB_MICRO_NAME_BYTES + 32];
	int rc = 0;

	while (!rc && fgets(line, sizeof(line), windows)) {
		char *space = strrchr(line, ' ');
		const uint64_t n = space ? strtoull(space, NULL, 10) : 0;
		const uint64_t first = n ? next_total(callgrind) : 0;
		const uint64_t once = first ? next_total(callgrind) : 0;
		const uint64_t twice = once ? next_total(callgrind) : 0;

		if (twice <= once)
			return -EPROTO;
		*space = '\0';
		rc = add(counts, line, (double)(twice - once) / (double)n);
	}
	return rc;
}

static int read_files(struct sb_counts *counts, const struct files *files)
{
	FILE *windows = fopen(files->windows, "re");
	FILE *callgrind = fopen(files->callgrind, "re");
	int rc = -EPROTO;

	if (windows && callgrind)
		rc = read_both(counts, windows, callgrind);
	if (windows)
		fclose(windows);
	if (callgrind)
		fclose(callgrind);
	return rc;
}

/* ---- all of it ---- */

/* Sanitizers' memory and valgrind's get into each other's way. */
#ifdef SB_ALLOC_LIBC
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

static int measure(struct sb_counts *out, const struct files *files, const char *program,
		   const char *filter, char *why, size_t bytes)
{
	int rc = run_callgrind(files, program, filter, why, bytes);

	if (rc)
		return rc;
	rc = read_files(out, files);
	if (rc)
		snprintf(why, bytes,
			 "callgrind's file is not as expected (is the program stripped?)");
	if (!rc && !out->counts) {
		snprintf(why, bytes, "nothing that can be counted matches '%s'",
			 filter ? filter : "");
		rc = -EINVAL;
	}
	return rc;
}

int sb_counts_measure(struct sb_counts *out, const char *program, const char *filter, char *why,
		      size_t bytes)
{
	struct files files;
	char self[4096];
	int rc = 0;

	*out = (struct sb_counts){ .count = NULL };
	if (!program && IS_SANITIZED) {
		snprintf(why, bytes,
			 "a build with sanitizers cannot run under valgrind; expected MODE=release "
			 "or debug");
		return -ENOTSUP;
	}
	if (!program)
		rc = sb_program_own_path(self, sizeof(self));
	if (!rc)
		rc = files_make(&files);
	if (rc) {
		snprintf(why, bytes, "%s", strerror(-rc));
		return rc;
	}
	rc = measure(out, &files, program ? program : self, filter, why, bytes);
	files_remove(&files);
	if (rc)
		sb_counts_free(out);
	return rc;
}

void sb_counts_free(struct sb_counts *counts)
{
	free(counts->count);
	*counts = (struct sb_counts){ .count = NULL };
}

/* ---- output ---- */

void sb_counts_print(const struct sb_counts *counts, FILE *out)
{
	fprintf(out, "%-36s %s\n", "", "instructions per operation");
	for (uint32_t i = 0; i < counts->counts; i++)
		fprintf(out, "%-36s %26.3f\n", counts->count[i].name,
			counts->count[i].instructions);
}

json_t *sb_counts_to_rows(const struct sb_counts *counts)
{
	json_t *rows = json_array();

	for (uint32_t i = 0; i < counts->counts; i++)
		json_array_append_new(rows, json_pack("{sssf}", "name", counts->count[i].name,
						      "instructions_per_op",
						      counts->count[i].instructions));
	return rows;
}

static json_t *to_json(const struct sb_counts *counts)
{
	json_t *names = json_object();

	for (uint32_t i = 0; i < counts->counts; i++)
		json_object_set_new(names, counts->count[i].name,
				    json_real(counts->count[i].instructions));
	return json_pack("{sssfso}", "unit", "instructions per operation", "error", SB_COUNTS_ERROR,
			 "instructions", names);
}

int sb_counts_write(const void *counts, FILE *out)
{
	const int rc = sb_json_put(to_json(counts), out, JSON_INDENT(1));

	return !rc && fputc('\n', out) == EOF ? -EIO : rc;
}
