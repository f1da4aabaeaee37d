#include "harness/compare/sides.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/run/load.h"
#include "harness/run/placing.h"
#include "harness/terminal/status.h"

/* ---- its text ---- */

static int no_memory(void)
{
	return sb_fail_memory();
}

/* A name without a slash would be looked for along PATH, where another one may
 * be than who reads this thinks. */
static int check_program(const struct sb_side_text *side)
{
	struct stat info;

	if (!strchr(side->program, '/'))
		return sb_fail(SB_EXIT_USAGE,
			       "-%s: '%s' is neither an option nor a path; expected --OPTION or a "
			       "sched-bench such as ./%s",
			       side->name, side->program, side->program);
	if (stat(side->program, &info) || access(side->program, X_OK))
		return sb_fail(SB_EXIT_USAGE, "-%s: %s cannot be run: %s", side->name,
			       side->program, strerror(errno));
	if (!S_ISREG(info.st_mode))
		return sb_fail(SB_EXIT_USAGE, "-%s: %s is no file; expected a sched-bench",
			       side->name, side->program);
	return 0;
}

int sb_side_parse(struct sb_side_text *side, const char *name, const char *text)
{
	int rc;

	*side = (struct sb_side_text){ .name = name, .text = text };
	rc = sb_words_split(&side->words, text);
	if (rc == -E2BIG)
		return sb_fail(SB_EXIT_USAGE, "-%s: too many words; expected at most %d", name,
			       SB_WORDS_MAX);
	if (rc == -EINVAL)
		return sb_fail(SB_EXIT_USAGE, "-%s: a quote or a backslash in '%s' has no end",
			       name, text);
	if (rc)
		return no_memory();
	if (!side->words.n || *side->words.word[0] == '-')
		return 0;
	side->program = side->words.word[0];
	side->first = 1;
	return check_program(side);
}

void sb_side_free(struct sb_side_text *side)
{
	sb_words_free(&side->words);
}

/* ---- its arguments ---- */

static bool is_option(const char *word, enum sb_option_id id)
{
	const size_t length = strlen(sb_option[id].name);

	if (word[0] != '-' || !word[1])
		return false;
	if (word[1] != '-')
		return word[1] == sb_option[id].letter;
	return !strncmp(word + 2, sb_option[id].name, length) &&
	       (!word[2 + length] || word[2 + length] == '=');
}

int sb_side_check(const struct sb_side_text *side)
{
	for (uint32_t w = side->first; w < side->words.n; w++) {
		for (int id = 0; id < SB_OPTIONS; id++) {
			if ((sb_option[id].verbs & SB_BOTH_SIDES) &&
			    is_option(side->words.word[w], id))
				return sb_fail(SB_EXIT_USAGE,
					       "-%s: %s is not for one side; expected options in "
					       "which they may differ",
					       side->name, side->words.word[w]);
		}
	}
	return 0;
}

static int add_words(const struct sb_side_text *side, const struct sb_options *both,
		     enum sb_verb verb, const struct sb_chosen *chosen, struct sb_arguments *out)
{
	int rc = sb_arguments_of_run(out, both, verb, chosen);

	for (uint32_t w = side->first; w < side->words.n && !rc; w++)
		rc = sb_arguments_add(out, "%s", side->words.word[w]);
	rc = rc ? rc : sb_arguments_add(out, "--duration=%s", both->value[SB_OPT_duration].text);
	return rc ? rc : sb_arguments_add(out, "--warmup=%s", both->value[SB_OPT_warmup].text);
}

/* By the parser of `run`, and on this machine. */
static int try_here(const struct sb_side_text *side, struct sb_arguments *arguments,
		    struct sb_options *run)
{
	char about[16];
	struct sb_topology *topology = NULL;
	struct sb_plan plan;
	int rc;

	snprintf(about, sizeof(about), "side %s", side->name);
	sb_fail_about(about);
	rc = sb_options_parse(run, (int)arguments->n - 1, arguments->word + 1);
	rc = rc ? rc : sb_load_check(run);
	rc = rc ? rc : sb_placing_open(run, &topology);
	if (!rc) {
		rc = sb_placing_plan(run, topology, &plan);
		if (!rc)
			sb_plan_free(&plan);
	}
	sb_topology_free(topology);
	sb_fail_about(NULL);
	return rc;
}

int sb_side_arguments(const struct sb_side_text *side, const struct sb_options *both,
		      enum sb_verb verb, const struct sb_chosen *chosen, struct sb_arguments *out,
		      uint64_t *limit_ns)
{
	static struct sb_options run;
	int rc = sb_side_check(side);

	*limit_ns = sb_sweep_limit_ns(both, both);
	if (rc)
		return rc;
	if (add_words(side, both, verb, chosen, out))
		return no_memory();
	if (side->program)
		return 0;
	rc = try_here(side, out, &run);
	if (!rc)
		*limit_ns = sb_sweep_limit_ns(&run, both);
	sb_options_free(&run);
	return rc;
}
