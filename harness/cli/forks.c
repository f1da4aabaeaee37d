/* forks.c - in how many OS processes `run` measures a workload, and the defaults that depend on it. */
#include <string.h>

#include "harness/cli/options.h"
#include "harness/cli/reading.h"

#define FORKS 9

/* In virtual time processes do not differ, a search goes from one repetition to the next, and a
 * trace is of one process. */
static bool needs_one(const struct sb_options *options)
{
	return sb_opt(options, SB_OPT_virtual) || *options->value[SB_OPT_find_slo].text ||
	       sb_opt_traces_round(options);
}

/* A plug-in would be compiled again for each fork; its name has a slash or an ending. With one
 * repetition alone, as in the runs that other verbs start, there is nothing to compare. */
static bool prefers_one(const struct sb_options *options)
{
	return sb_opt(options, SB_OPT_repetitions) == 1 ||
	       strpbrk(options->value[SB_OPT_workload].text, "./");
}

static int check_until_ci(const struct sb_options *options)
{
	if (!options->value[SB_OPT_until_ci].alternative ||
	    !sb_option_is_said(options, SB_OPT_until_ci))
		return 0;
	return sb_option_refuse(options, SB_OPT_until_ci,
				"expected several --forks, whose medians have an interval");
}

static int apply_defaults(struct sb_options *options)
{
	static const struct sb_option_default values[] = {
		{ SB_OPT_duration, "130ms" },
		{ SB_OPT_warmup, "100ms" },
		{ SB_OPT_repetitions, "3" },
	};

	return sb_options_default(options, SB_VERB_RUN, values, SB_ARRAY_SIZE(values), "forks");
}

int sb_options_apply_forks(struct sb_options *options, enum sb_verb verb)
{
	struct sb_option_value *forks = &options->value[SB_OPT_forks];

	if (!(verb & (SB_VERB_RUN | SB_VERB_CALIBRATE)) ||
	    (!forks->alternative && prefers_one(options)))
		forks->number = 1;
	else if (!forks->alternative)
		forks->number = FORKS;
	if (forks->number > 1 && needs_one(options)) {
		if (forks->alternative && sb_option_is_said(options, SB_OPT_forks))
			return sb_option_refuse(options, SB_OPT_forks,
						"expected 1 with --virtual, --find-slo, --trace, "
						"--trace-on or --record-actors");
		/* In the environment and in [global] it may be meant for others. */
		forks->number = 1;
	}
	return forks->number == 1 ? check_until_ci(options) : apply_defaults(options);
}
