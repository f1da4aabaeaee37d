/*
 * Job files, and the text that they are made of.
 *
 * Property: a job file says what a command line says: whatever options are set,
 *   running what --show-job prints sets the same; the command line comes before
 *   the environment before the job before [global] before the default; every
 *   mistake is refused with file, line and column.
 * Method: command lines of random options with random values and texts of any
 *   bytes, from one seed; tables of texts with what is wrong in them, and where.
 */
#include "tests/harness/job.h"

static char said[4096]; /* on standard error, by the last parse_jobs */

static void write_file(const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	CHECK_EQ(fclose(out), 0);
}

static int parse_jobs(struct sb_jobs *jobs, enum sb_verb verb, int argc, char **argv)
{
	FILE *caught = tmpfile();
	const int err = dup(STDERR_FILENO);
	size_t n;
	int rc;

	assert_non_null(caught);
	dup2(fileno(caught), STDERR_FILENO);
	rc = sb_jobs_parse(jobs, verb, argc, argv);
	dup2(err, STDERR_FILENO);
	close(err);
	rewind(caught);
	n = fread(said, 1, sizeof(said) - 1, caught);
	said[n] = '\0';
	fclose(caught);
	return rc;
}

/* "run FILE" and what else there is. */
static int parse_file(struct sb_jobs *jobs, enum sb_verb verb, char *also)
{
	char *argv[] = { (char[]){ "run" }, path, also, NULL };

	return parse_jobs(jobs, verb, also ? 3 : 2, argv);
}

static void jobs_that_are_wrong(void **state)
{
	static const struct {
		const char *text;
		const char *where; /* ":LINE:COLUMN: " */
		const char *why;
	} wrong[] = {
		{ "x", ":1:1: ", "before any section" },
		{ "", "", "no job" },
		{ "[global]\nbatch=3", "", "no job" },
		{ "[a]\nbatch=3", ":1:1: ", "no workload" },
		{ "[a]\nworkload=pingpog", ":2:10: ", "'pingpong'" },
		{ "[a]\nworkload=yield\n spin-yeld=3", ":3:2: ", "'spin-yield'" },
		{ "[a]\nworkload=yield\nspin_yield=3", ":3:1: ", "'spin-yield'" },
		{ "[a]\nworkload=yield\n--batch=3", ":3:1: ", "'batch'" },
		{ "[a]\nworkload=yield\nxyzzyxyzzy=3", ":3:1: ", "list options" },
		{ "[a]\nworkload=yield\nbatch = x", ":3:9: ", "from 0 to 65535" },
		{ "[a]\nworkload=yield\nbatch=70000", ":3:7: ", "65535" },
		{ "[a]\nworkload=yield\nduration=5", ":3:10: ", "its unit" },
		{ "[a]\nworkload=yield\nbatch", ":3:1: ", "value is missing" },
		{ "[a]\nworkload=yield\npolicy=spce", ":3:8: ", "'spec'" },
		{ "[a]\nworkload=yield\nno-smt=2", ":3:8: ", "yes or no" },
		{ "[a]\nworkload=yield\npairs=1", ":3:7: ", "none of the chosen" },
		{ "[a]\nworkload=pingpong\npairs=0", ":3:7: ", "from 1" },
		{ "[a]\nworkload=pingpong\npairs", ":3:1: ", "value is missing" },
		{ "[a]\nworkload=yield\noutput=x", ":3:1: ", "[global]" },
		{ "[a]\nworkload=yield\nhelp", ":3:1: ", "command line" },
		{ "[a]\nworkload=yield\nshow-job=1", ":3:1: ", "command line" },
		{ "[a]\nworkload=yield\nbatch=1,4", ":3:7: ", "sweep" },
		{ "[a]\nworkload=yield\nbatch=0..8:log2", ":3:7: ", "sweep" },
		{ "[a]\nworkload=yield\nrate=1k/s,2k/s", ":3:6: ", "sweep" },
		{ "[global]\nbatch=x\n[a]\nworkload=yield\n", ":2:7: ", "65535" },
	};
	struct sb_jobs jobs;

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++) {
		char where[100];

		write_file(wrong[i].text);
		CHECK_EQ(parse_file(&jobs, SB_VERB_RUN, NULL), SB_EXIT_USAGE);
		snprintf(where, sizeof(where), "sched-bench: %s%s", path, wrong[i].where);
		if (strncmp(said, where, strlen(where)) != 0 || !strstr(said, wrong[i].why))
			fail_msg("%s said for %s", said, wrong[i].text);
		sb_jobs_free(&jobs);
	}
}

static const struct sb_option_value *value_of(const struct sb_jobs *jobs, uint32_t job,
					      enum sb_option_id id)
{
	return &jobs->job[job].options.value[id];
}

/* Each source is there or not, in all combinations; the first of them counts. */
static void sources_in_their_order(void **state)
{
	static const char *const sources[] = { "command line", "environment", "job", "global",
					       "default" };
	static const uint64_t numbers[] = { 4, 3, 2, 1, 16 };

	(void)state;
	for (unsigned int there = 0; there < 16; there++) {
		const size_t first = there ? (size_t)__builtin_ctz(there) : 4;
		char flag[] = "--batch=4";
		struct sb_jobs jobs;
		char text[100];

		snprintf(text, sizeof(text), "[a]\nworkload=yield\n%s[global]\n%s",
			 there & 4 ? "batch=2\n" : "", there & 8 ? "batch=1\n" : "");
		write_file(text);
		unsetenv("SCHED_BENCH_BATCH");
		if (there & 2)
			setenv("SCHED_BENCH_BATCH", "3", 1);
		CHECK_EQ(parse_file(&jobs, SB_VERB_RUN, there & 1 ? flag : NULL), 0);
		CHECK_EQ(value_of(&jobs, 0, SB_OPT_batch)->number, numbers[first]);
		assert_string_equal(value_of(&jobs, 0, SB_OPT_batch)->source, sources[first]);
		sb_jobs_free(&jobs);
	}
	unsetenv("SCHED_BENCH_BATCH");
}

/* The policy from one source and a value from another, in all combinations: the
 * value counts, though it is the default; the policy has the rest. */
static void what_is_given_comes_before_a_policy(void **state)
{
	(void)state;
	for (int both = 0; both < 16; both++) {
		const int policy = both & 3;
		const int wake = both >> 2;
		char policy_word[] = "--policy=spec";
		char wake_word[] = "--wake=local";
		char *argv[] = { (char[]){ "run" }, path, NULL, NULL, NULL };
		struct sb_jobs jobs;
		char text[100];
		int argc = 2;

		snprintf(text, sizeof(text), "[a]\nworkload=yield\n%s%s[global]\n%s%s",
			 policy == 2 ? "policy=spec\n" : "", wake == 2 ? "wake=local\n" : "",
			 policy == 3 ? "policy=spec\n" : "", wake == 3 ? "wake=local\n" : "");
		write_file(text);
		if (!policy)
			argv[argc++] = policy_word;
		if (!wake)
			argv[argc++] = wake_word;
		if (policy == 1)
			setenv("SCHED_BENCH_POLICY", "spec", 1);
		if (wake == 1)
			setenv("SCHED_BENCH_WAKE", "local", 1);
		CHECK_EQ(parse_jobs(&jobs, SB_VERB_RUN, argc, argv), 0);
		assert_string_equal(value_of(&jobs, 0, SB_OPT_wake)->text, "local");
		assert_string_equal(value_of(&jobs, 0, SB_OPT_handover)->text, "queue");
		assert_string_equal(value_of(&jobs, 0, SB_OPT_handover)->source, "policy");
		sb_jobs_free(&jobs);
		unsetenv("SCHED_BENCH_POLICY");
		unsetenv("SCHED_BENCH_WAKE");
	}
}

/* Parameters have the same order, but for the environment, which has none. */
static void parameters_in_their_order(void **state)
{
	char flag[] = "--pairs=4";
	struct sb_jobs jobs;

	(void)state;
	write_file("[global]\npairs=2\nleaves=10\n[a]\nworkload=pingpong\n"
		   "[b]\nworkload=pingpong\npairs=3\n[c]\nworkload=yield\n");
	CHECK_EQ(parse_file(&jobs, SB_VERB_RUN, NULL), 0);
	CHECK_EQ(jobs.jobs, 3);
	CHECK_EQ(jobs.job[0].options.chosen[0].param[0], 2);
	CHECK_EQ(jobs.job[1].options.chosen[0].param[0], 3);
	assert_string_equal(jobs.job[2].name, "c");
	sb_jobs_free(&jobs);
	CHECK_EQ(parse_file(&jobs, SB_VERB_RUN, flag), 0);
	CHECK_EQ(jobs.job[0].options.chosen[0].param[0], 4);
	CHECK_EQ(jobs.job[1].options.chosen[0].param[0], 4);
	sb_jobs_free(&jobs);
	/* None of the jobs has that one. */
	CHECK_EQ(parse_file(&jobs, SB_VERB_RUN, (char[]){ "--depth=1" }), SB_EXIT_USAGE);
	sb_jobs_free(&jobs);
}

/* Two verbs at once stand for one that is not `run`. */
static void lists_are_kept_for_a_sweep(void **state)
{
	const enum sb_verb verb = (enum sb_verb)(SB_VERB_RUN | SB_VERB_TOPO);
	struct sb_jobs jobs;

	(void)state;
	write_file("[global]\nbatch=1,2\ntick=3,4\npairs=5,6\n"
		   "[a]\nworkload=pingpong\nbatch=7\ncpus=0,1\n"
		   "tick=8,9\ntick-time=\"1ms\"\n");
	CHECK_EQ(parse_file(&jobs, verb, NULL), 0);
	/* The job's one value is no list any more; its list replaces
	 * [global]'s; text may have commas. */
	CHECK_EQ(value_of(&jobs, 0, SB_OPT_batch)->number, 7);
	CHECK_EQ(value_of(&jobs, 0, SB_OPT_tick)->number, 61);
	assert_string_equal(value_of(&jobs, 0, SB_OPT_cpus)->text, "0,1");
	CHECK_EQ(jobs.job[0].lists, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct sb_entry *list = &jobs.job[0].list[i];

		assert_string_equal(list->text, strcmp(list->name, "tick") ? "5,6" : "8,9");
	}
	sb_jobs_free(&jobs);
}

/* ---- there and back ---- */

static uint64_t random_between(struct sb_rng *rng, uint64_t min, uint64_t max)
{
	const uint64_t span = max - min;
	const uint64_t number = sb_rng_next(rng);

	return min + (span == UINT64_MAX ? number : number % (span + 1));
}

/* A value that the option takes. */
static void random_value(struct sb_rng *rng, enum sb_option_id id, char *out, uint32_t bytes)
{
	const struct sb_option *option = &sb_option[id];
	const uint64_t number = random_between(rng, option->min, option->max);
	char form[200];
	char *alternative = form;
	char *rest = form;
	uint32_t n = 1;

	snprintf(form, sizeof(form), "%s", option->form);
	for (const char *c = form; *c; c++)
		n += *c == '|';
	for (n = sb_rng_below(rng, n) + 1; n; n--)
		alternative = strsep(&rest, "|");
	if (id == SB_OPT_rate || id == SB_OPT_load)
		snprintf(out, bytes, "%u", (unsigned int)(number % 1000));
	else if (sb_option_is_text(option))
		random_text(rng, out, bytes);
	else if (!strcmp(alternative, "N"))
		snprintf(out, bytes, "%" PRIu64, number);
	else if (!strcmp(alternative, "TIME"))
		snprintf(out, bytes, "%" PRIu64 "ns", number);
	else if (!strcmp(alternative, "SIZE"))
		snprintf(out, bytes, "%" PRIu64 "B", number);
	else if (!strcmp(alternative, "PERCENT"))
		snprintf(out, bytes, "%.4f%%", 1e-4 * (double)number);
	else if (strchr(alternative, ':'))
		snprintf(out, bytes, "%.*s%" PRIu64,
			 (int)(strchr(alternative, ':') + 1 - alternative), alternative, number);
	else
		snprintf(out, bytes, "%s", alternative);
}

static void random_param(struct sb_rng *rng, const struct sb_param *param, char *out,
			 uint32_t bytes)
{
	uint32_t choices = 0;

	if (!param->choices) {
		snprintf(out, bytes, "%" PRIu64, random_between(rng, param->min, param->max));
		return;
	}
	while (param->choices[choices])
		choices++;
	snprintf(out, bytes, "%s",
		 param->choices[sb_param_is_text(param) ? 0 : sb_rng_below(rng, choices)]);
}

static void add_word(struct line *line, const char *name, const char *value)
{
	char *word;

	assert_true(line->argc < WORDS_MAX);
	assert_true(asprintf(&word, value ? "--%s=%s" : "--%s", name, value) > 0);
	line->argv[line->argc++] = word;
}

static const struct sb_workload *random_workload(struct sb_rng *rng)
{
	uint32_t n = 0;

	while (sb_workloads[n])
		n++;
	return sb_workloads[sb_rng_below(rng, n)];
}

static void make_line(struct line *line, struct sb_rng *rng)
{
	char value[60];
	enum sb_option_id needed[SB_NEEDS_MAX];
	uint32_t needs;

	*line = (struct line){ .argv = { strdup("run") }, .argc = 1 };
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (!(sb_option[id].verbs & SB_VERB_RUN) || id == SB_OPT_workload ||
		    sb_option[id].verbs & SB_NOT_IN_JOBS || sb_rng_below(rng, 3))
			continue;
		needs = sb_option_needs(id, SB_VERB_RUN, needed);
		if (needs && sb_option[needed[0]].form)
			continue;
		if (needs)
			add_word(line, sb_option[needed[0]].name, NULL);
		if (sb_option[id].form)
			random_value(rng, id, value, sizeof(value));
		add_word(line, sb_option[id].name, sb_option[id].form ? value : NULL);
	}
	for (uint32_t i = sb_rng_below(rng, 3) + 1; i; i--) {
		const struct sb_workload *workload = random_workload(rng);

		add_word(line, "workload", workload->name);
		/* One set of parameters, or two workloads might disagree about
		 * what one may be. */
		for (const struct sb_param *p = workload->params; i == 1 && p->name; p++) {
			random_param(rng, p, value, sizeof(value));
			if (sb_rng_below(rng, 2))
				add_word(line, p->name, value);
		}
	}
}

static void free_line(struct line *line)
{
	for (int i = 0; i < line->argc; i++)
		free(line->argv[i]);
}

static void same_texts(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

static void same_options(const struct sb_options *a, const struct sb_options *b)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		const struct sb_option_value *x = &a->value[id];
		const struct sb_option_value *y = &b->value[id];

		/* A file has a policy's values instead. */
		if (id == SB_OPT_policy)
			continue;
		CHECK_EQ(x->alternative, y->alternative);
		assert_true(x->number == y->number);
		if (sb_option[id].form)
			assert_string_equal(x->text, y->text);
		/* Set means set. */
		CHECK_EQ(!strcmp(x->source, "default"), !strcmp(y->source, "default"));
	}
	CHECK_EQ(a->chosens, b->chosens);
	for (uint32_t i = 0; i < a->chosens; i++) {
		assert_ptr_equal(a->chosen[i].workload, b->chosen[i].workload);
		for (int p = 0; p < SB_PARAMS_MAX; p++) {
			assert_true(a->chosen[i].param[p] == b->chosen[i].param[p]);
			same_texts(a->chosen[i].text[p], b->chosen[i].text[p]);
		}
	}
}

static void show(const struct sb_jobs *jobs)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	sb_jobs_show(jobs, SB_VERB_RUN, out);
	CHECK_EQ(fclose(out), 0);
}

static void a_file_says_what_a_line_says(void **state)
{
	struct sb_rng rng;
	int good = 0;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < 500; i++) {
		struct sb_jobs shown;
		struct sb_jobs read;
		struct line line;

		make_line(&line, &rng);
		/* Of two workloads one may not take the other's parameter. */
		if (!parse_jobs(&shown, SB_VERB_RUN, line.argc, line.argv)) {
			good++;
			show(&shown);
			if (parse_file(&read, SB_VERB_RUN, NULL))
				fail_msg("%s", said);
			same_options(&shown.job[0].options, &read.job[0].options);
			sb_jobs_free(&read);
		}
		sb_jobs_free(&shown);
		free_line(&line);
	}
	assert_true(good > 250);
}

/* What is shown of several jobs is them again. */
static void several_jobs_are_shown(void **state)
{
	struct sb_jobs shown;
	struct sb_jobs read;

	(void)state;
	write_file("[global]\nquiet\noutput=\" x\"\npairs=3\nbatch=2\n[a]\n"
		   "workload=pingpong,yield\n[b]\nworkload=yield\nbatch=4\n");
	CHECK_EQ(parse_file(&shown, SB_VERB_RUN, NULL), 0);
	/* Its texts are those of the file, which is read and can be replaced. */
	show(&shown);
	CHECK_EQ(parse_file(&read, SB_VERB_RUN, NULL), 0);
	CHECK_EQ(read.jobs, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_string_equal(shown.job[i].name, read.job[i].name);
		same_options(&shown.job[i].options, &read.job[i].options);
	}
	sb_jobs_free(&read);
	sb_jobs_free(&shown);
}

/* A stored plan is trusted with all others. */
static void options_that_act_are_marked(void **state)
{
	static const char *const forms[] = { "FILE",	"PROGRAM",  "BASELINE",
					     "CLUSTER", "WORKLOAD", "OPTIONS" };

	(void)state;
	for (int id = 0; id < SB_OPTIONS; id++) {
		for (size_t i = 0; sb_option[id].form && i < SB_ARRAY_SIZE(forms); i++) {
			if (!strcmp(sb_option[id].form, forms[i]) &&
			    !(sb_option[id].verbs & (SB_RUNS_CODE | SB_WRITES_FILE)))
				fail_msg("--%s %s has neither SB_RUNS_CODE nor SB_WRITES_FILE",
					 sb_option[id].name, forms[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_that_act_are_marked),
		cmocka_unit_test(jobs_that_are_wrong),
		cmocka_unit_test(sources_in_their_order),
		cmocka_unit_test(what_is_given_comes_before_a_policy),
		cmocka_unit_test(parameters_in_their_order),
		cmocka_unit_test(lists_are_kept_for_a_sweep),
		cmocka_unit_test(a_file_says_what_a_line_says),
		cmocka_unit_test(several_jobs_are_shown),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
