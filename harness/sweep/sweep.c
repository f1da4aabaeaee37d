#include "harness/sweep/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "harness/cli/policy.h"
#include "harness/plugin/plugin.h"
#include "harness/terminal/status.h"

/* ---- all of them ---- */

/* A flag has no value that its own parser could refuse. */
static int check_flag(const struct sb_dimension *d)
{
	for (uint32_t i = 0; i < d->values; i++) {
		if (d->option < SB_OPTIONS && !sb_option[d->option].form &&
		    strcmp(d->value[i], "yes") && strcmp(d->value[i], "no"))
			return sb_fail(SB_EXIT_USAGE,
				       "sweep: --%s: '%s' is not valid; expected yes or no",
				       d->name, d->value[i]);
	}
	return 0;
}

static int given_twice(const struct sb_sweep *sweep, const struct sb_dimension *d)
{
	bool plain = d->option < SB_OPTIONS &&
		     !strcmp(sweep->options->value[d->option].source, "command line");

	for (uint32_t i = 0; i < sweep->dimensions; i++) {
		if (!strcmp(sweep->dimension[i].name, d->name))
			return sb_fail(SB_EXIT_USAGE,
				       "sweep: %s is gone through twice; expected one -P or -L",
				       d->name);
	}
	plain |= sb_param_is_given(sweep->options, d->name);
	if (plain)
		return sb_fail(SB_EXIT_USAGE,
			       "sweep: %s is gone through, and --%s is given; expected one of them",
			       d->name, d->name);
	return 0;
}

static int add_dimension(struct sb_sweep *sweep, char letter, const char *text)
{
	struct sb_dimension *d = &sweep->dimension[sweep->dimensions];
	int rc = sb_dimension_parse(d, letter, text, sweep->options);

	if (!rc)
		rc = check_flag(d);
	if (!rc)
		rc = given_twice(sweep, d);
	if (!rc)
		rc = sb_dimension_add_default(d, sweep->options);
	if (rc)
		sb_dimension_free(d);
	else
		sweep->dimensions++;
	return rc;
}

/* From the environment there is one of each at most. */
static int add_dimensions(struct sb_sweep *sweep)
{
	static const enum sb_option_id ids[] = { SB_OPT_parameter_scan, SB_OPT_parameter_list };
	const struct sb_options *o = sweep->options;
	int rc = 0;

	for (uint32_t i = 0; i < o->sweeps && !rc; i++)
		rc = add_dimension(sweep, o->sweep[i].letter, o->sweep[i].text);
	for (size_t i = 0; i < SB_ARRAY_SIZE(ids) && !rc; i++) {
		const struct sb_option_value *value = &o->value[ids[i]];

		if (!o->sweeps && *value->text)
			rc = add_dimension(sweep, (char)sb_option[ids[i]].letter, value->text);
	}
	return rc;
}

static bool applies(const struct sb_dimension *d, const struct sb_chosen *chosen)
{
	return d->option < SB_OPTIONS || sb_chosen_param(chosen, d->name);
}

static char *make_label(const struct sb_sweep *sweep, const struct sb_configuration *c)
{
	char *label = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&label, &bytes);

	if (!out)
		return NULL;
	fputs(c->chosen->workload->name, out);
	for (uint32_t i = 0; i < sweep->dimensions; i++) {
		const struct sb_dimension *d = &sweep->dimension[i];

		if (c->level[i] != SB_NO_LEVEL)
			fprintf(out, " %s=%s", d->name, d->value[c->level[i]]);
	}
	fclose(out);
	return label;
}

static bool is_tunable(const struct sb_dimension *d)
{
	return d->initial != SB_NO_LEVEL;
}

/* The next combination, the last dimension fastest; false: there is none. Defaults: what
 * tunes the scheduler stays as it is. */
static bool advance(const struct sb_sweep *sweep, uint32_t *level, bool defaults)
{
	for (uint32_t i = sweep->dimensions; i-- > 0;) {
		const struct sb_dimension *d = &sweep->dimension[i];

		if (level[i] == SB_NO_LEVEL || (defaults && is_tunable(d)))
			continue;
		if (++level[i] < d->combined)
			return true;
		level[i] = 0;
	}
	return false;
}

static int add_configuration(struct sb_sweep *sweep, const struct sb_chosen *chosen,
			     const uint32_t *level)
{
	struct sb_configuration *all =
		reallocarray(sweep->configuration, sweep->configurations + 1, sizeof(*all));
	struct sb_configuration *c;

	if (!all)
		return sb_fail_memory();
	sweep->configuration = all;
	if ((sweep->configurations + 1) * (uint64_t)sweep->planned > SB_SWEEP_ROWS_MAX)
		return sb_fail(SB_EXIT_USAGE,
			       "sweep: all combinations with %" PRIu32
			       " repetitions are more than %d rows; expected fewer",
			       sweep->planned, SB_SWEEP_ROWS_MAX);
	c = &all[sweep->configurations];
	*c = (struct sb_configuration){ .chosen = chosen };
	memcpy(c->level, level, sizeof(c->level));
	c->label = make_label(sweep, c);
	if (!c->label)
		return sb_fail_memory();
	sweep->configurations++;
	return 0;
}

/* The first levels; whether the defaults are no combination. */
static bool begin(const struct sb_sweep *sweep, const struct sb_chosen *chosen, uint32_t *level,
		  bool defaults)
{
	bool is_new = false;

	for (uint32_t i = 0; i < sweep->dimensions; i++) {
		const struct sb_dimension *d = &sweep->dimension[i];

		level[i] = applies(d, chosen) ? 0 : SB_NO_LEVEL;
		if (!is_tunable(d))
			continue;
		is_new |= d->initial >= d->combined;
		if (defaults)
			level[i] = d->initial;
	}
	return is_new;
}

static int combine(struct sb_sweep *sweep, const struct sb_chosen *chosen)
{
	uint32_t level[SB_SWEEPS_MAX];
	int rc = 0;

	begin(sweep, chosen, level, false);
	do {
		rc = add_configuration(sweep, chosen, level);
	} while (!rc && advance(sweep, level, false));
	if (rc || !begin(sweep, chosen, level, true))
		return rc;
	do {
		rc = add_configuration(sweep, chosen, level);
	} while (!rc && advance(sweep, level, true));
	return rc;
}

/* ---- the order ---- */

/* Fisher and Yates. */
static void shuffle(struct sb_slot *slot, uint32_t n, struct sb_rng *rng)
{
	for (uint32_t i = n; i > 1; i--) {
		const uint32_t other = sb_rng_below(rng, i);
		const struct sb_slot kept = slot[i - 1];

		slot[i - 1] = slot[other];
		slot[other] = kept;
	}
}

int sb_sweep_add_round(struct sb_sweep *sweep)
{
	const uint32_t n = sweep->configurations;
	const uint32_t r = sweep->repetitions;
	struct sb_slot *order = reallocarray(sweep->order, (size_t)n * (r + 1) + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t c = 0; c < n; c++)
		order[r * n + c] = (struct sb_slot){ c, r };
	shuffle(&order[r * n], n, &sweep->rng);
	sweep->order = order;
	sweep->repetitions++;
	return 0;
}

static int make_order(struct sb_sweep *sweep)
{
	sb_rng_seed(&sweep->rng, sb_opt(sweep->options, SB_OPT_seed));
	while (sweep->repetitions < sweep->planned) {
		if (sb_sweep_add_round(sweep))
			return sb_fail_memory();
	}
	return 0;
}

int sb_sweep_plan(struct sb_sweep *sweep, const struct sb_options *options)
{
	int rc;

	*sweep = (struct sb_sweep){ .options = options };
	sweep->planned = (uint32_t)sb_opt(options, SB_OPT_repetitions);
	rc = add_dimensions(sweep);
	if (!rc && !sweep->dimensions && options->chosens < 2)
		rc = sb_fail(SB_EXIT_USAGE, "sweep: nothing to go through; expected -L "
					    "NAME=A,B,... or -P NAME=LO..HI, or several workloads");
	for (uint32_t i = 0; i < options->chosens && !rc; i++)
		rc = combine(sweep, &options->chosen[i]);
	return rc ? rc : make_order(sweep);
}

void sb_sweep_free(struct sb_sweep *sweep)
{
	for (uint32_t i = 0; i < sweep->configurations; i++)
		free(sweep->configuration[i].label);
	for (uint32_t i = 0; i < sweep->dimensions; i++)
		sb_dimension_free(&sweep->dimension[i]);
	free(sweep->configuration);
	free(sweep->order);
	free(sweep->objectives);
	*sweep = (struct sb_sweep){ .options = NULL };
}

bool sb_sweep_is_virtual(const struct sb_sweep *sweep)
{
	for (uint32_t i = 0; i < sweep->dimensions; i++) {
		if (sweep->dimension[i].option == SB_OPT_virtual)
			return false;
	}
	return sb_opt(sweep->options, SB_OPT_virtual);
}

bool sb_sweep_is_default(const struct sb_sweep *sweep, const struct sb_configuration *c)
{
	bool any = false;

	for (uint32_t i = 0; i < sweep->dimensions; i++) {
		if (!is_tunable(&sweep->dimension[i]))
			continue;
		if (c->level[i] != sweep->dimension[i].initial)
			return false;
		any = true;
	}
	return any;
}

bool sb_sweep_has_same_work(const struct sb_sweep *sweep, const struct sb_configuration *a,
			    const struct sb_configuration *b)
{
	for (uint32_t i = 0; i < sweep->dimensions; i++) {
		if (!is_tunable(&sweep->dimension[i]) && a->level[i] != b->level[i])
			return false;
	}
	return true;
}

/* ---- objectives ---- */

int sb_sweep_choose_objectives(struct sb_sweep *sweep, const struct sb_options *options)
{
	const char *given = options->value[SB_OPT_objective].text;
	const uint32_t n = sweep->options->chosens;
	int rc = 0;

	sweep->objectives = calloc(n, sizeof(*sweep->objectives));
	if (!sweep->objectives)
		return sb_fail_memory();
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = sb_parse_objectives(
			"--objective",
			*given ? given : sb_workload_objective(sweep->options->chosen[i].workload),
			&sweep->objectives[i]);
	return rc;
}

const struct sb_objectives *sb_sweep_objectives(const struct sb_sweep *sweep,
						const struct sb_chosen *chosen)
{
	return &sweep->objectives[chosen - sweep->options->chosen];
}

/* ---- command lines ---- */

/* Neither part of the plan nor handed on: each run has its own. */
static bool is_about_output(int id)
{
	return sb_option[id].verbs & SB_NOT_IN_JOBS || id == SB_OPT_objective ||
	       id == SB_OPT_dry_run || (sb_option[id].verbs & SB_WHOLE_RUN && id != SB_OPT_clock);
}

static int add_option(struct sb_arguments *out, int id, const char *text)
{
	const bool yes = !strcmp(text, "yes") || !strcmp(text, "1");

	if (sb_option[id].form)
		return sb_arguments_add(out, "--%s=%s", sb_option[id].name, text);
	return yes ? sb_arguments_add(out, "--%s", sb_option[id].name) : 0;
}

static int add_options(const struct sb_options *options, unsigned int verbs,
		       struct sb_arguments *out)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		if ((sb_option[id].verbs & verbs) != verbs || is_about_output(id) ||
		    id == SB_OPT_workload || id == SB_OPT_parameter_scan ||
		    id == SB_OPT_parameter_list || !sb_policy_needs_said(options, id))
			continue;
		rc = add_option(out, id, options->value[id].text);
	}
	return rc;
}

static int add_levels(const struct sb_sweep *sweep, const struct sb_configuration *c,
		      struct sb_arguments *out)
{
	int rc = 0;

	for (uint32_t i = 0; i < sweep->dimensions && !rc; i++) {
		const struct sb_dimension *d = &sweep->dimension[i];

		if (c->level[i] == SB_NO_LEVEL)
			continue;
		rc = d->option < SB_OPTIONS
			     ? add_option(out, d->option, d->value[c->level[i]])
			     : sb_arguments_add(out, "--%s=%s", d->name, d->value[c->level[i]]);
	}
	return rc;
}

static int add_params(const struct sb_options *options, const struct sb_chosen *chosen,
		      struct sb_arguments *out)
{
	int rc = 0;

	for (uint32_t i = 0; i < options->givens && !rc; i++) {
		const struct sb_given_param *given = &options->given[i];

		if (!chosen || sb_chosen_param(chosen, given->name))
			rc = sb_arguments_add(out, "--%s=%s", given->name, given->text);
	}
	return rc;
}

int sb_arguments_of_run(struct sb_arguments *out, const struct sb_options *options,
			enum sb_verb verb, const struct sb_chosen *chosen)
{
	int rc;

	*out = (struct sb_arguments){ .n = 0 };
	rc = sb_arguments_add(out, "sched-bench");
	rc = rc ? rc : sb_arguments_add(out, "run");
	rc = rc ? rc : sb_arguments_add(out, "--workload=%s", sb_plugin_word(chosen->workload));
	rc = rc ? rc : add_options(options, SB_VERB_RUN | verb, out);
	return rc ? rc : add_params(options, chosen, out);
}

/*
 * The seed goes up with the round: repetitions make choices of their own, and
 * the configurations of a round the same ones.
 */
int sb_sweep_arguments(const struct sb_sweep *sweep, const struct sb_configuration *c,
		       uint32_t repetition, struct sb_arguments *out)
{
	const struct sb_options *o = sweep->options;
	int rc;

	rc = sb_arguments_of_run(out, o, SB_VERB_SWEEP, c->chosen);
	rc = rc ? rc : add_levels(sweep, c, out);
	rc = rc ? rc : sb_arguments_add(out, "--repetitions=1");
	rc = rc ? rc
		: sb_arguments_add(out, "--seed=%" PRIu64, sb_opt(o, SB_OPT_seed) + repetition);
	rc = rc ? rc : sb_arguments_add(out, "--no-plots");
	/* Nobody looks at a series of each of them. */
	rc = rc ? rc : sb_arguments_add(out, "--series=none");
	return rc ? rc : sb_arguments_add(out, "--quiet");
}

int sb_sweep_canonical(const struct sb_options *options, struct sb_arguments *out)
{
	static const enum sb_option_id ids[] = { SB_OPT_parameter_scan, SB_OPT_parameter_list };
	int rc;

	*out = (struct sb_arguments){ .n = 0 };
	rc = sb_arguments_add(out, "sweep");
	if (!rc && *options->value[SB_OPT_workload].text)
		rc = sb_arguments_add(out, "--workload=%s", options->value[SB_OPT_workload].text);
	rc = rc ? rc : add_options(options, SB_VERB_SWEEP, out);
	rc = rc ? rc : add_params(options, NULL, out);
	for (uint32_t i = 0; i < options->sweeps && !rc; i++)
		rc = sb_arguments_add(out, "-%c%s", options->sweep[i].letter,
				      options->sweep[i].text);
	for (size_t i = 0; i < SB_ARRAY_SIZE(ids) && !rc; i++) {
		if (!options->sweeps && *options->value[ids[i]].text)
			rc = sb_arguments_add(out, "-%c%s", sb_option[ids[i]].letter,
					      options->value[ids[i]].text);
	}
	return rc;
}

/* ---- times ---- */

/* The longest that --warmup auto may take, and its estimate. */
#define WARM_AUTO_NS UINT64_C(10000000000)
/* For starting, reading the clocks, and writing, on a loaded machine. */
#define GRACE_NS     UINT64_C(30000000000)

static uint64_t warmup_ns(const struct sb_options *o)
{
	return o->value[SB_OPT_warmup].alternative ? WARM_AUTO_NS : sb_opt(o, SB_OPT_warmup);
}

uint64_t sb_sweep_row_ns(const struct sb_options *run)
{
	return warmup_ns(run) + sb_opt(run, SB_OPT_duration);
}

/* Each part, and the capacity that --load measures, may be one round late, which
 * --timeout ends; what that cannot end is a hang. */
uint64_t sb_sweep_limit_ns(const struct sb_options *run, const struct sb_options *sweep)
{
	const struct sb_option_value *given = &sweep->value[SB_OPT_kill_after];

	if (given->alternative)
		return given->number;
	return sb_sweep_row_ns(run) + sb_opt(run, SB_OPT_duration) +
	       3 * sb_opt(run, SB_OPT_timeout) + GRACE_NS;
}
