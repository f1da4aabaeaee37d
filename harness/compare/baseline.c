#include "harness/compare/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/output/output.h"
#include "harness/terminal/progress.h"
#include "harness/terminal/status.h"
#include "results/files/file.h"

/* ---- other programs ---- */

/* Variables that git and make must not have from this one: the repository that a hook of
 * git's runs in, and a surrounding make's options. */
static void clear_environment(void)
{
	static const char *const names[] = { "GIT_DIR",	  "GIT_WORK_TREE", "GIT_INDEX_FILE",
					     "MAKEFLAGS", "MFLAGS",	   "MAKELEVEL" };

	for (size_t i = 0; i < SB_ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
}

#define NOT_FOUND 127 /* as a shell's status; it cannot be run */
#define NOT_BEGUN 126 /* for want of processes, files or memory */

/* Both streams go to out, or to nowhere if it is -1. */
static void become(char *const *argv, int out, bool with_errors)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(out < 0 ? null : out, STDOUT_FILENO) < 0 ||
	    dup2(with_errors ? out : null, STDERR_FILENO) < 0)
		_exit(NOT_BEGUN);
	clear_environment();
	execvp(argv[0], argv);
	_exit(NOT_FOUND);
}

/* Its exit status, NOT_FOUND or NOT_BEGUN; -1: it was killed. */
static int run(char *const *argv, int out, bool with_errors)
{
	const pid_t pid = fork();
	int status;

	if (!pid)
		become(argv, out, with_errors);
	if (pid < 0)
		return NOT_BEGUN;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The first line that it prints. Returns its exit status. */
static int ask(char *const *argv, char *line, size_t bytes)
{
	FILE *out = tmpfile();
	int status;

	line[0] = '\0';
	if (!out)
		return NOT_BEGUN;
	status = run(argv, fileno(out), false);
	rewind(out);
	if (!fgets(line, (int)bytes, out))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(out);
	return status;
}

#define WORDS(...) ((char *[]){ __VA_ARGS__, NULL })
#define WORD(text) ((char *)(uintptr_t)(text))

/* ---- programs ---- */

int sb_program_check(const char *path, const char *option)
{
	static const char expected[] = "sched-bench ";
	char line[80];
	char *real = realpath(path, NULL);
	int status = -1;

	if (real)
		status = ask(WORDS(real, WORD("--version")), line, sizeof(line));
	free(real);
	if (!status && !strncmp(line, expected, strlen(expected)))
		return 0;
	if (status == NOT_BEGUN)
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "--%s: '%s' cannot be started: no processes, files or memory left",
			       option, path);
	return sb_fail(SB_EXIT_USAGE, "--%s: '%s' is no sched-bench that runs here", option, path);
}

/* ---- revisions ---- */

#define HASH_BYTES 80
#define TOP_BYTES  4096

struct revision {
	const char *text;
	char hash[HASH_BYTES];
	char top[TOP_BYTES]; /* of the repository */
	char *directory;     /* in the cache */
	char *program;
	char *tree;
	char *log;
};

static bool has_file(const struct revision *r, const char *file)
{
	char object[HASH_BYTES + 40];
	char line[2];

	snprintf(object, sizeof(object), "%s:%s", r->hash, file);
	return !ask(WORDS(WORD("git"), WORD("cat-file"), WORD("-e"), object), line, sizeof(line));
}

static int find_revision(struct revision *r)
{
	const int status = ask(WORDS(WORD("git"), WORD("rev-parse"), WORD("--show-toplevel")),
			       r->top, sizeof(r->top));
	char commit[300];

	if (status)
		return sb_fail(SB_EXIT_USAGE,
			       "--baseline: '%s' is no file, and git %s; expected a sched-bench, a "
			       "result, or a revision of the repository that the command is "
			       "started in",
			       r->text,
			       status == NOT_FOUND ? "is not installed"
						   : "finds no repository here");
	snprintf(commit, sizeof(commit), "%s^{commit}", r->text);
	if (*r->text == '-' || strlen(r->text) > 200 ||
	    ask(WORDS(WORD("git"), WORD("rev-parse"), WORD("--verify"), WORD("--quiet"), commit),
		r->hash, sizeof(r->hash)))
		return sb_fail(SB_EXIT_USAGE,
			       "--baseline: '%s' is neither a file nor a revision of the git "
			       "repository %s",
			       r->text, r->top);
	if (!has_file(r, "Makefile") || !has_file(r, "harness/main.c") ||
	    !has_file(r, "core/scheduler.h"))
		return sb_fail(SB_EXIT_USAGE,
			       "--baseline: revision '%s' of %s is not sched-bench's", r->text,
			       r->top);
	return 0;
}

static int name_places(struct revision *r)
{
	char name[HASH_BYTES + 40];

	snprintf(name, sizeof(name), "builds/%s-" SB_BUILD_MODE, r->hash);
	r->directory = sb_cache_path(name);
	if (!r->directory || sb_directory_make(r->directory))
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "--baseline: no cache for what is built; expected XDG_CACHE_HOME or "
			       "HOME to be a directory that can be written");
	r->program = sb_path_join(r->directory, "sched-bench");
	r->tree = sb_path_join(r->directory, "tree");
	r->log = sb_path_join(r->directory, "build.log");
	return r->program && r->tree && r->log ? 0 : sb_fail_memory();
}

/* The log's last lines, as one. */
static void last_lines(const char *path, char *out, size_t bytes)
{
	FILE *in = fopen(path, "re");
	size_t n;

	out[0] = '\0';
	if (!in)
		return;
	if (fseek(in, -(long)(bytes - 1), SEEK_END))
		rewind(in);
	n = fread(out, 1, bytes - 1, in);
	fclose(in);
	while (n && out[n - 1] == '\n')
		n--;
	out[n] = '\0';
	for (char *c = out; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
}

static int fail_build(const struct revision *r, const char *what)
{
	char lines[400];

	last_lines(r->log, lines, sizeof(lines));
	return sb_fail(SB_EXIT_ENVIRONMENT,
		       "--baseline: %s of revision '%s' (%.12s) failed: ... %s (all of it: %s)",
		       what, r->text, r->hash, lines, r->log);
}

static void remove_tree(const struct revision *r)
{
	char *top = WORD(r->top);

	(void)run(WORDS(WORD("git"), WORD("-C"), top, WORD("worktree"), WORD("remove"),
			WORD("--force"), r->tree),
		  -1, false);
	/* If git does not know it, of a build that was killed. */
	sb_directory_remove(r->tree);
	(void)run(WORDS(WORD("git"), WORD("-C"), top, WORD("worktree"), WORD("prune")), -1, false);
}

static int make_tree(const struct revision *r, int log)
{
	remove_tree(r);
	return run(WORDS(WORD("git"), WORD("-C"), WORD(r->top), WORD("worktree"), WORD("add"),
			 WORD("--detach"), WORD("--force"), r->tree, WORD(r->hash)),
		   log, true)
		       ? fail_build(r, "the worktree")
		       : 0;
}

static int make_program(const struct revision *r, int log)
{
	char jobs[24];
	char *made = sb_path_join(r->tree, "build/" SB_BUILD_MODE "/sched-bench");
	int rc;

	if (!made)
		return sb_fail_memory();
	snprintf(jobs, sizeof(jobs), "-j%ld", sysconf(_SC_NPROCESSORS_ONLN));
	if (run(WORDS(WORD("make"), WORD("-C"), r->tree, jobs, WORD("MODE=" SB_BUILD_MODE),
		      WORD("all")),
		log, true))
		rc = fail_build(r, "the build");
	else
		rc = rename(made, r->program) ? fail_build(r, "the build") : 0;
	free(made);
	return rc;
}

static int build(const struct revision *r)
{
	const int log = open(r->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int rc;

	if (log < 0)
		return sb_fail(SB_EXIT_ENVIRONMENT, "%s cannot be written: %s", r->log,
			       strerror(errno));
	rc = make_tree(r, log);
	if (!rc)
		rc = make_program(r, log);
	remove_tree(r);
	close(log);
	return rc;
}

/* One of those that want it builds it, the others wait for that. */
static int build_once(const struct revision *r, bool is_quiet)
{
	struct sb_progress progress;
	const int lock = open(r->directory, O_RDONLY | O_CLOEXEC);
	int rc = 0;

	if (lock < 0 || flock(lock, LOCK_EX)) {
		rc = sb_fail(SB_EXIT_ENVIRONMENT, "%s cannot be locked: %s", r->directory,
			     strerror(errno));
	} else if (access(r->program, X_OK)) {
		if (!is_quiet)
			sb_note("building the baseline, revision %.12s", r->hash);
		sb_progress_open(&progress, stderr, is_quiet);
		sb_progress_phase(&progress, "baseline", "make");
		rc = build(r);
		sb_progress_close(&progress);
	}
	if (lock >= 0)
		close(lock);
	return rc;
}

static int take_revision(struct sb_baseline *out, const char *text, bool is_quiet)
{
	static struct revision r;
	int rc;

	r = (struct revision){ .text = text };
	rc = find_revision(&r);
	rc = rc ? rc : name_places(&r);
	rc = rc ? rc : build_once(&r, is_quiet);
	rc = rc ? rc : sb_program_check(r.program, "baseline");
	if (!rc && asprintf(&out->description, "revision %s (%.12s)", text, r.hash) < 0)
		rc = sb_fail_memory();
	if (rc)
		free(r.program);
	else
		out->path = r.program;
	free(r.directory);
	free(r.tree);
	free(r.log);
	return rc;
}

/* ---- which it is ---- */

static int take_file(struct sb_baseline *out, const char *text, enum sb_baseline_kind kind)
{
	out->kind = kind;
	out->path = realpath(text, NULL);
	out->description = strdup(text);
	if (!out->path || !out->description)
		return sb_fail_memory();
	return kind == SB_BASELINE_PROGRAM ? sb_program_check(text, "baseline") : 0;
}

static bool is_result(const char *text, const struct stat *info)
{
	const size_t length = strlen(text);

	return S_ISDIR(info->st_mode) || (length > 5 && !strcmp(text + length - 5, ".json"));
}

bool sb_is_values_file(const char *text)
{
	const size_t length = strlen(text);

	return length > 4 && !strcmp(text + length - 4, ".csv");
}

int sb_baseline_find(struct sb_baseline *out, const char *text, bool is_quiet)
{
	struct stat info;

	*out = (struct sb_baseline){ .path = NULL };
	if (stat(text, &info))
		return *text == '/'
			       ? sb_fail(SB_EXIT_USAGE, "--baseline: '%s' does not exist", text)
			       : take_revision(out, text, is_quiet);
	if (is_result(text, &info))
		return take_file(out, text, SB_BASELINE_RESULT);
	if (sb_is_values_file(text))
		return take_file(out, text, SB_BASELINE_VALUES);
	if (!access(text, X_OK))
		return take_file(out, text, SB_BASELINE_PROGRAM);
	return sb_fail(SB_EXIT_USAGE,
		       "--baseline: '%s' cannot be run, and is no result; expected a sched-bench, "
		       "a result directory, or a git revision",
		       text);
}

void sb_baseline_free(struct sb_baseline *baseline)
{
	free(baseline->path);
	free(baseline->description);
	*baseline = (struct sb_baseline){ .path = NULL };
}
