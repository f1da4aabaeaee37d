/*
 * The program that runs the targets: on files, or under AFL++.
 * usage: fuzz                   lists the targets
 *        fuzz TARGET FILE...    one after the other
 *        fuzz TARGET            what AFL++ sends; built by afl-clang-fast
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/terminal/status.h"
#include "tests/fuzz/fuzz.h"

static const struct target {
	const char *name;
	const char *doc;
	void (*run)(const struct fuzz_input *input);
} targets[] = {
#define TARGET(name, doc) { #name, doc, fuzz_##name },
#include "tests/fuzz/targets.def"
#undef TARGET
};

/* ---- standard error, which is looked at ---- */

static FILE *own_stderr;
static char *said;
static size_t said_bytes;

/* Sanitizers write to the descriptor. */
static void listen(void)
{
	own_stderr = stderr;
	stderr = open_memstream(&said, &said_bytes);
	stdout = fopen("/dev/null", "we");
	FUZZ_CHECK(stderr && stdout);
}

static void forget_said(void)
{
	rewind(stderr);
	fflush(stderr);
}

static uint32_t count_lines(void)
{
	uint32_t lines = 0;

	fflush(stderr);
	for (size_t i = 0; i < said_bytes; i++)
		lines += said[i] == '\n';
	return lines;
}

_Noreturn void fuzz_failed(const char *file, int line, const char *text)
{
	FILE *out = own_stderr ? own_stderr : stderr;

	if (own_stderr)
		fflush(stderr);
	fprintf(out, "%s:%d: does not hold: %s\n%s", file, line, text, said ? said : "");
	fflush(out);
	abort();
}

void fuzz_check_status(int status)
{
	FUZZ_CHECK(status == 0 || status == SB_EXIT_USAGE);
	FUZZ_CHECK(!status || count_lines() == 1);
	forget_said();
}

void fuzz_check_why(const char *why)
{
	FUZZ_CHECK(*why);
}

/* ---- where outputs go ---- */

static char directory[200];

static void remove_directory(void)
{
	char command[sizeof(directory) + 20];

	snprintf(command, sizeof(command), "/bin/rm -rf '%s'", directory);
	if (system(command))
		return;
}

const char *fuzz_directory(void)
{
	const char *parent = getenv("TMPDIR");

	if (*directory)
		return directory;
	snprintf(directory, sizeof(directory), "%s/sched-bench-fuzz-XXXXXX",
		 parent ? parent : "/tmp");
	FUZZ_CHECK(mkdtemp(directory));
	(void)atexit(remove_directory);
	return directory;
}

FILE *fuzz_sink(void)
{
	return stdout;
}

/* ---- inputs ---- */

/* In memory: the fuzzer makes thousands of them in a second. */
static int make_file(const void *bytes, size_t n)
{
	const int fd = memfd_create("input", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0);
	for (size_t at = 0; at < n;) {
		const ssize_t written = write(fd, (const char *)bytes + at, n - at);

		FUZZ_CHECK(written > 0);
		at += (size_t)written;
	}
	return fd;
}

static void run(const struct target *target, const void *bytes, size_t n)
{
	const int fd = make_file(bytes, n);
	char *text = malloc(n + 1);
	char path[40];

	FUZZ_CHECK(text);
	if (n)
		memcpy(text, bytes, n);
	text[n] = '\0';
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	forget_said();
	target->run(&(struct fuzz_input){ text, n, path });
	free(text);
	close(fd);
}

static int run_file(const struct target *target, const char *path)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t bytes = 0;
	FILE *copy = open_memstream(&text, &bytes);
	int c;

	if (!in || !copy) {
		fprintf(own_stderr, "fuzz: %s: %s\n", path, strerror(errno));
		return SB_EXIT_USAGE;
	}
	while ((c = fgetc(in)) != EOF)
		fputc(c, copy);
	fclose(in);
	fclose(copy);
	run(target, text, bytes);
	free(text);
	return 0;
}

#ifdef __AFL_FUZZ_TESTCASE_LEN
/* AFL++'s macros.
 * NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl*) */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wcast-qual"
#pragma clang diagnostic ignored "-Wshorten-64-to-32"
__AFL_FUZZ_INIT();

static int run_under_afl(const struct target *target)
{
	const unsigned char *bytes;

	__AFL_INIT();
	bytes = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(2000))
		run(target, bytes, (size_t)__AFL_FUZZ_TESTCASE_LEN);
	return 0;
}
#pragma clang diagnostic pop
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl*) */
#else
static int run_under_afl(const struct target *target)
{
	(void)target;
	fprintf(own_stderr, "fuzz: a file is missing; expected TARGET FILE... (without one, only "
			    "as built by make fuzz)\n");
	return SB_EXIT_USAGE;
}
#endif

static const struct target *find(const char *name)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(targets); i++) {
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	}
	return NULL;
}

static int list(void)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(targets); i++)
		printf("%-10s %s\n", targets[i].name, targets[i].doc);
	return 0;
}

int main(int argc, char **argv)
{
	const struct target *target = argc > 1 ? find(argv[1]) : NULL;
	int rc = 0;

	if (argc < 2)
		return list();
	if (!target) {
		fprintf(stderr,
			"fuzz: '%s' is no target; expected one that fuzz without arguments lists\n",
			argv[1]);
		return SB_EXIT_USAGE;
	}
	/* Pictures end with their scripts: there is no gnuplot. */
	setenv("PATH", "/nowhere", 1);
	listen();
	if (argc == 2)
		return run_under_afl(target);
	for (int i = 2; i < argc && !rc; i++)
		rc = run_file(target, argv[i]);
	return rc;
}
