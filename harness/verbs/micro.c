/*
 * micro.c - the verb `micro`: every kind of harness/micro/ under Google
 * Benchmark, with Google's own flags; or, with --counts, its instructions.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/platform/clock.h"
#include "harness/cli/help.h"
#include "harness/cli/options.h"
#include "harness/cli/version.h"
#include "harness/micro/callgrind.h"
#include "harness/micro/kind.h"
#include "harness/micro/shim.h"
#include "harness/output/output.h"
#include "harness/output/rows.h"
#include "harness/system/clock_choice.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/verbs/verbs.h"

/* ---- Google's flags ---- */

#define PREFIX "--benchmark_"

/* Their forms are checked here: the library would end the program for a wrong
 * one, and with status 0. */
enum form { BOOLEAN, COUNT, SECONDS, REGEX, FILE_NAME, PAIRS, WORD };

static const struct flag {
	const char *name; /* NULL: the end */
	enum form form;
	const char *value;
	const char *help;
} flags[] = {
	{ "list_tests", BOOLEAN, "true|false", "print their names alone" },
	{ "filter", REGEX, "REGEX", "which; -REGEX: all but these" },
	{ "min_time", SECONDS, "SECONDS", "least time of a repetition [0.5]" },
	{ "min_warmup_time", SECONDS, "SECONDS", "time to run before" },
	{ "repetitions", COUNT, "N", "so often, with statistics" },
	{ "enable_random_interleaving", BOOLEAN, "true|false",
	  "repetitions of all in random order" },
	{ "report_aggregates_only", BOOLEAN, "true|false", "statistics alone" },
	{ "display_aggregates_only", BOOLEAN, "true|false", "the same, but for the file" },
	{ "format", WORD, "console|json|csv", "on standard output" },
	{ "out", FILE_NAME, "FILE", "write it into this file, too" },
	{ "out_format", WORD, "json|console|csv", "form of that [json]" },
	{ "color", WORD, "auto|true|false|yes|no", "colours [auto]" },
	{ "counters_tabular", BOOLEAN, "true|false", "counters in columns" },
	{ "context", PAIRS, "KEY=VALUE,...", "into the output's context" },
	{ "time_unit", WORD, "ns|us|ms|s", "unit of times [ns]" },
	{ NULL, WORD, NULL, NULL },
};

static bool is_google(const char *word)
{
	return !strncmp(word, PREFIX, strlen(PREFIX));
}

/* One of the words between the bars. */
static bool is_word(const char *value, const char *words)
{
	const size_t length = strlen(value);

	while (words) {
		if (!strncmp(words, value, length) && (words[length] == '|' || !words[length]))
			return length;
		words = strchr(words, '|');
		words = words ? words + 1 : NULL;
	}
	return false;
}

static bool is_seconds(const char *value)
{
	char *end;
	const double seconds = strtod(value, &end);

	return end != value && !*end && seconds >= 0 && seconds <= 3600;
}

static bool is_count(const char *value)
{
	uint64_t n;

	return sb_parse_count(value, &n) && n >= 1 && n <= 100000;
}

/* Tried now: the library would end the program at once. */
static bool is_writable(const char *value)
{
	const int fd = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	return fd >= 0 && !close(fd);
}

static bool fits(const struct flag *flag, const char *value)
{
	switch (flag->form) {
	case BOOLEAN:
		return is_word(value, "true|false|yes|no|on|off|1|0");
	case COUNT:
		return is_count(value);
	case SECONDS:
		return is_seconds(value);
	case REGEX:
		return sb_filter_is_valid(value);
	case FILE_NAME:
		return is_writable(value);
	case PAIRS:
		return strchr(value, '=');
	case WORD:
	default:
		return is_word(value, flag->value);
	}
}

static const char *flag_name(const void *unused, size_t i)
{
	(void)unused;
	return flags[i].name;
}

static int unknown_flag(const char *word, const char *name)
{
	const char *like = sb_most_like(name, flag_name, NULL);

	if (like)
		return sb_fail(SB_EXIT_USAGE, "unknown option '%s'; did you mean " PREFIX "%s?",
			       word, like);
	return sb_fail(SB_EXIT_USAGE,
		       "unknown option '%s'; sched-bench micro --help lists Google Benchmark's",
		       word);
}

/* That of the system, if it was asked. */
static enum sb_status_code misfit_status(enum form form)
{
	const bool asks = form == FILE_NAME || form == REGEX;

	return asks && errno ? sb_status_of(-errno) : SB_EXIT_USAGE;
}

/* --benchmark_NAME=VALUE; a boolean's value may be left out. */
static int check_flag(const char *word)
{
	const char *value = strchr(word, '=');
	char name[64];

	snprintf(name, sizeof(name), "%s", word + strlen(PREFIX));
	name[strcspn(name, "=")] = '\0';
	for (const struct flag *f = flags; f->name; f++) {
		if (strcmp(f->name, name))
			continue;
		if (!value && f->form == BOOLEAN)
			return 0;
		if (!value)
			return sb_fail(SB_EXIT_USAGE, "%s: a value is missing; expected %s=%s",
				       word, word, f->value);
		errno = 0;
		if (fits(f, value + 1))
			return 0;
		return sb_fail(misfit_status(f->form),
			       PREFIX "%s: '%s' is not valid%s%s; expected %s", name, value + 1,
			       f->form == FILE_NAME ? ": " : "",
			       f->form == FILE_NAME ? strerror(errno) : "",
			       f->form == FILE_NAME ? "a file that can be written"
			       : f->form == SECONDS ? "seconds without their unit, as 0.5"
						    : f->value);
	}
	return unknown_flag(word, name);
}

/* The value of a flag on the command line, or NULL; the last one counts. */
static const char *google_value(int argc, char **argv, const char *name)
{
	const size_t length = strlen(name);
	const char *value = NULL;

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i] + strlen(PREFIX);

		if (!strncmp(word, name, length) && word[length] == '=')
			value = word + length + 1;
	}
	return value;
}

void sb_micro_help(void)
{
	SB_FOR_EACH_KIND (kind)
		printf("  %-26s %s\n", kind->name, kind->doc);
	puts("\nGoogle Benchmark's, each with " PREFIX " before it:");
	for (const struct flag *f = flags; f->name; f++)
		printf("  %s=%-*s %s\n", f->name, (int)(42 - strlen(f->name)), f->value, f->help);
}

/* ---- under Google Benchmark ---- */

#ifdef SB_NO_GBENCH
static int time_kinds(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return sb_fail(SB_EXIT_ENVIRONMENT, "this program was built on another machine, without "
					    "Google Benchmark; expected one that was built here");
}
#else
/* One benchmark runs at a time; thread 0 sets it up before the others begin. */
static struct sb_micro running;
static const char *broken; /* why it does not run */
static uint32_t failures;

static void fail(struct sb_gbench_run *run, const char *why)
{
	sb_gbench_fail(run, why);
	failures++;
}

static void begin(struct sb_gbench_run *run, const struct sb_micro_kind *kind)
{
	int rc;

	running = (struct sb_micro){
		.kind = kind,
		.arg = kind->arg_name ? sb_gbench_arg(run) : 0,
		.threads = sb_gbench_threads(run),
	};
	rc = sb_micro_begin(&running);
	broken = rc ? strerror(-rc) : NULL;
	if (rc)
		fail(run, broken);
}

static void end(struct sb_gbench_run *run, uint64_t n)
{
	const char *wrong = broken ? NULL : running.kind->check(&running, n * running.threads);

	if (wrong)
		fail(run, wrong);
	for (int i = 0; i < SB_MICRO_COUNTERS; i++) {
		if (running.counter[i].name)
			sb_gbench_counter(run, running.counter[i].name, running.counter[i].value);
	}
	sb_gbench_items(run, running.items ? running.items : n * running.threads);
	sb_micro_end(&running);
}

static void body(struct sb_gbench_run *run, const void *data)
{
	const uint32_t thread = sb_gbench_thread(run);
	const uint64_t n = sb_gbench_iterations(run);

	if (!thread)
		begin(run, data);
	while (sb_gbench_next(run, n)) {
		if (!broken)
			running.kind->run(&running, thread, n);
	}
	if (!thread)
		end(run, n);
}

/* In any thread, while the others go on. NULL: the library has said why. */
static void give_up(const char *why)
{
	if (why)
		sb_fail(SB_EXIT_ENVIRONMENT, "%s", why);
	_exit(SB_EXIT_ENVIRONMENT);
}

static void register_kinds(void)
{
	static const uint32_t alone = 1;

	SB_FOR_EACH_KIND (kind) {
		const bool several = kind->threads[0];
		const struct sb_gbench benchmark = {
			.name = kind->name,
			.arg_name = kind->arg_name,
			.arg = kind->arg,
			.args = sb_micro_args(kind),
			.threads = several ? kind->threads : &alone,
			.thread_counts = several ? sb_micro_thread_counts(kind) : 1,
			.wall_time = kind->elsewhere,
			.fit = (enum sb_gbench_fit)kind->fit,
			.body = body,
			.data = kind,
		};

		sb_gbench_register(&benchmark);
	}
}

/* The clock that a run would choose; without it, the kernel's is measured. */
static int choose_clock(void)
{
	struct sb_clock_info clock;
	uint32_t cpus;
	int *cpu;
	int rc = sb_timing_cpus(&cpu, &cpus);

	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "the CPUs that may be used cannot be read: %s",
			       strerror(-rc));
	(void)!sb_clock_calibrate(cpu, cpus, &clock);
	free(cpu);
	sb_gbench_context("sched_bench_clock", clock.source);
	return 0;
}

static int time_kinds(int argc, char **argv)
{
	int rc;

	sb_gbench_begin(give_up);
	sb_gbench_context("sched_bench_version", SB_VERSION);
	sb_gbench_context("sched_bench_build", SB_BUILD_MODE);
	rc = choose_clock();
	if (rc)
		return rc;
	register_kinds();
	/* Then it has said that nothing matches the filter. */
	if (!sb_gbench_main(argc, argv))
		return SB_EXIT_USAGE;
	if (failures)
		return sb_fail(SB_EXIT_INVALID, "%u benchmarks are invalid, as is said there",
			       failures);
	return 0;
}

#endif /* SB_NO_GBENCH */

/* ---- instructions ---- */

static int write_counts(const struct sb_counts *counts, const char *path)
{
	const int rc = *path ? sb_output(path, sb_counts_write, counts) : 0;

	return rc ? sb_output_failed(path, rc) : 0;
}

static int print_counts(const struct sb_counts *counts, enum sb_format format)
{
	if (format == SB_FORMAT_PRETTY)
		sb_counts_print(counts, stdout);
	else if (format == SB_FORMAT_CSV)
		return sb_rows_put(sb_counts_to_rows(counts), format);
	else
		return write_counts(counts, "-");
	return 0;
}

static enum sb_status_code status_of(int rc)
{
	switch (rc) {
	case -ENOENT:
	case -ENOTSUP:
		return SB_EXIT_ENVIRONMENT;
	case -EINVAL:
		return SB_EXIT_USAGE;
	case -EBADMSG:
		return SB_EXIT_INVALID;
	default:
		return SB_EXIT_BUG;
	}
}

static int count_kinds(const struct sb_options *options, const char *filter)
{
	const char *path = options->value[SB_OPT_counts_out].text;
	struct sb_counts counts;
	char why[256];
	int rc = sb_counts_measure(&counts, NULL, filter, why, sizeof(why));

	if (rc)
		return sb_fail(status_of(rc), "--counts: %s", why);
	if (strcmp(path, "-"))
		rc = print_counts(&counts, options->value[SB_OPT_format].alternative);
	rc = rc ? rc : write_counts(&counts, path);
	sb_counts_free(&counts);
	return rc;
}

/* Of Google's flags, these have no times to speak of. */
static int refuse_others(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], PREFIX "filter=", strlen(PREFIX "filter=")))
			return sb_fail(SB_EXIT_USAGE,
				       "--counts: '%s' is not expected; only " PREFIX
				       "filter=REGEX",
				       argv[i]);
	}
	return 0;
}

/* ---- the verb ---- */

/* Google's flags go behind google[0], which is the program's name; the others
 * stay, behind the verb. Returns an exit status. */
static int split(int *argc, char **argv, int *googles, char **google)
{
	int n = 1;

	for (int i = 1; i < *argc; i++) {
		const int rc = is_google(argv[i]) ? check_flag(argv[i]) : 0;

		if (rc)
			return rc;
		if (is_google(argv[i]))
			google[(*googles)++] = argv[i];
		else
			argv[n++] = argv[i];
	}
	google[*googles] = NULL;
	*argc = n;
	return 0;
}

/* --format, as Google's flag says it; that flag itself goes first. */
static void add_format(const struct sb_options *options, int *googles, char **google)
{
	static char json[] = PREFIX "format=json";
	static char csv[] = PREFIX "format=csv";
	const unsigned int format = options->value[SB_OPT_format].alternative;

	if (format == SB_FORMAT_PRETTY || sb_opt(options, SB_OPT_counts) ||
	    google_value(*googles, google, "format"))
		return;
	google[(*googles)++] = format == SB_FORMAT_CSV ? csv : json;
	google[*googles] = NULL;
}

static int micro(const struct sb_options *options, int argc, char **argv)
{
	const char *filter = google_value(argc, argv, "filter");
	const bool counted = sb_opt(options, SB_OPT_counted);
	const bool counts = sb_opt(options, SB_OPT_counts);
	int rc;

	if (!counts && !counted)
		return time_kinds(argc, argv);
	rc = sb_outputs_try(options, SB_VERB_MICRO);
	rc = rc ? rc : refuse_others(argc, argv);
	if (rc)
		return rc;
	if (!counted)
		return count_kinds(options, filter);
	return sb_counts_run(filter, stdout) ? SB_EXIT_INVALID : 0;
}

int sb_command_micro(int argc, char **argv)
{
	static struct sb_options options;
	char **google = calloc((size_t)argc + 2, sizeof(*google));
	int googles = 1;
	int words = argc - 1;
	int rc;

	if (!google)
		return sb_fail_memory();
	google[0] = argv[0];
	rc = split(&words, argv + 1, &googles, google);
	if (!rc)
		rc = sb_options_parse_for(&options, SB_VERB_MICRO, words, argv + 1);
	if (!rc && sb_opt(&options, SB_OPT_help)) {
		sb_help_verb(SB_VERB_MICRO);
	} else if (!rc) {
		add_format(&options, &googles, google);
		rc = micro(&options, googles, google);
	}
	sb_options_free(&options);
	free(google);
	return rc;
}
