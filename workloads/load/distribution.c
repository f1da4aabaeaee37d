#include "workloads/load/distribution.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/load/quantity.h"

const struct sb_named_distribution sb_distribution_named[] = {
	{ "extreme-bimodal", "bimodal:0.995:0.5us:500us", "Persephone, SBIM2; Shinjuku" },
	{ "high-bimodal", "bimodal:0.5:1us:100us", "Persephone, DISP2" },
	{ "tpcc", "modes:0.44:20us,0.44:5.7us,0.04:88us,0.04:6us,0.04:100us",
	  "Persephone, TPC-C on Silo" },
	{ "rocksdb", "bimodal:0.5:1.5us:635us", "Persephone, ROCKSDB" },
	{ "ghost-rocksdb", "bimodal:0.995:10us:5ms", "ghOSt, shinjuku.py" },
	{ "ghost-centralized", "10us+exp:1us", "ghOSt, centralized_queuing.py" },
	{ NULL, NULL, NULL },
};

static const char kinds_expected[] = "expected T or fixed:T, exp:T, uniform:A:B, bimodal:P:A:B, "
				     "modes:P:A,P:B, lognormal:MEAN:SD, "
				     "pareto:MIN:ALPHA, file:PATH or a name such as tpcc";

/* ---- what all have ---- */

static void set_moments(struct sb_distribution *d, double mean, double variance)
{
	d->mean_ns = mean;
	d->scv = mean > 0 ? variance / (mean * mean) : 0;
}

double sb_rng_exponential(struct sb_rng *rng)
{
	return -log1p(-sb_rng_unit(rng));
}

/* ---- finitely many values ---- */

/* Weights to sums up to 1; the last is exactly 1, so every sample has a mode. */
static void finish_modes(struct sb_distribution *d, double total)
{
	double mean = 0;
	double square = 0;
	double sum = 0;

	for (uint32_t i = 0; i < d->modes; i++) {
		const double p = d->mode[i].up_to / total;

		mean += p * d->mode[i].value_ns;
		sum += p;
		d->mode[i].up_to = sum;
	}
	d->mode[d->modes - 1].up_to = 1;
	/* About the mean: no digits are lost to values far from zero. */
	for (uint32_t i = 0; i < d->modes; i++) {
		const double p = d->mode[i].up_to - (i ? d->mode[i - 1].up_to : 0);
		const double off = d->mode[i].value_ns - mean;

		square += p * off * off;
	}
	set_moments(d, mean, square);
}

static int make_modes(struct sb_distribution *d, uint32_t modes)
{
	d->mode = calloc(modes, sizeof(*d->mode));
	d->modes = modes;
	return d->mode ? 0 : -ENOMEM;
}

static int parse_fixed(struct sb_distribution *d, char **word)
{
	double value;

	if (!sb_quantity_time(word[0], &value))
		return -EINVAL;
	if (make_modes(d, 1))
		return -ENOMEM;
	d->mode[0] = (struct sb_mode){ value, 1 };
	finish_modes(d, 1);
	return 0;
}

static int parse_bimodal(struct sb_distribution *d, char **word)
{
	double p;
	double a;
	double b;

	if (!sb_quantity_number(word[0], &p) || p > 1 || !sb_quantity_time(word[1], &a) ||
	    !sb_quantity_time(word[2], &b))
		return -EINVAL;
	if (make_modes(d, 2))
		return -ENOMEM;
	d->mode[0] = (struct sb_mode){ a, p };
	d->mode[1] = (struct sb_mode){ b, 1 - p };
	finish_modes(d, 1);
	return 0;
}

/* Rounding of decimal probabilities, no more. */
#define ONE_WITHIN 1e-9

static int parse_modes(struct sb_distribution *d, char **word)
{
	uint32_t modes = 1;
	double total = 0;
	char *rest = word[0];

	for (const char *c = rest; *c; c++)
		modes += *c == ',';
	if (make_modes(d, modes))
		return -ENOMEM;
	for (uint32_t i = 0; i < modes; i++) {
		struct sb_mode *mode = &d->mode[i];
		char *time = strsep(&rest, ",");
		const char *p = strsep(&time, ":");

		if (!time || !sb_quantity_number(p, &mode->up_to) ||
		    !sb_quantity_time(time, &mode->value_ns))
			return -EINVAL;
		total += mode->up_to;
	}
	if (fabs(total - 1) > ONE_WITHIN)
		return -EDOM;
	finish_modes(d, total);
	return 0;
}

static int parse_file(struct sb_distribution *d, const char *path, char *why)
{
	struct sb_times times;
	double total = 0;
	int rc = sb_times_read(&times, path, why);

	if (rc)
		return rc;
	rc = make_modes(d, times.count);
	for (uint32_t i = 0; i < times.count && !rc; i++) {
		d->mode[i] = (struct sb_mode){ times.ns[i], times.weight[i] };
		total += times.weight[i];
	}
	if (!rc && total <= 0) {
		rc = -EINVAL;
		snprintf(why, SB_WHY_BYTES, "%s: all weights are 0", path);
	} else if (!rc) {
		finish_modes(d, total);
	} else {
		snprintf(why, SB_WHY_BYTES, "no memory");
	}
	sb_times_fini(&times);
	return rc;
}

/* The first mode that reaches u. */
static double sample_modes(const struct sb_distribution *d, double u)
{
	uint32_t low = 0;
	uint32_t high = d->modes - 1;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (d->mode[middle].up_to > u)
			high = middle;
		else
			low = middle + 1;
	}
	return d->mode[low].value_ns;
}

static double cdf_modes(const struct sb_distribution *d, double x)
{
	double sum = 0;

	for (uint32_t i = 0; i < d->modes; i++) {
		if (d->mode[i].value_ns <= x)
			sum += d->mode[i].up_to - (i ? d->mode[i - 1].up_to : 0);
	}
	return sum;
}

/* ---- continuous ones ---- */

static int parse_exp(struct sb_distribution *d, char **word)
{
	d->kind = SB_DISTRIBUTION_EXP;
	if (!sb_quantity_time(word[0], &d->a) || d->a <= 0)
		return -EINVAL;
	set_moments(d, d->a, d->a * d->a);
	return 0;
}

static int parse_uniform(struct sb_distribution *d, char **word)
{
	d->kind = SB_DISTRIBUTION_UNIFORM;
	if (!sb_quantity_time(word[0], &d->a) || !sb_quantity_time(word[1], &d->b) || d->b <= d->a)
		return -EINVAL;
	set_moments(d, (d->a + d->b) / 2, (d->b - d->a) * (d->b - d->a) / 12);
	return 0;
}

static int parse_lognormal(struct sb_distribution *d, char **word)
{
	double mean;
	double sd;
	double variance;

	d->kind = SB_DISTRIBUTION_LOGNORMAL;
	if (!sb_quantity_time(word[0], &mean) || mean <= 0 || !sb_quantity_time(word[1], &sd) ||
	    sd <= 0)
		return -EINVAL;
	variance = log1p(sd * sd / (mean * mean));
	d->a = log(mean) - variance / 2;
	d->b = sqrt(variance);
	set_moments(d, mean, sd * sd);
	return 0;
}

/* The kth moment: integral of x^k over the density, cut off at c. */
static double pareto_moment(const struct sb_distribution *d, double k)
{
	const double kept = 1 - pow(d->a / d->c, d->b);
	const double scale = d->b * pow(d->a, d->b) / kept;

	if (isinf(d->c))
		return d->b > k ? d->b * pow(d->a, k) / (d->b - k) : INFINITY;
	if (d->b == k)
		return scale * log(d->c / d->a);
	return scale * (pow(d->c, k - d->b) - pow(d->a, k - d->b)) / (k - d->b);
}

static int parse_pareto(struct sb_distribution *d, char **word)
{
	double mean;

	d->kind = SB_DISTRIBUTION_PARETO;
	d->c = INFINITY;
	if (!sb_quantity_time(word[0], &d->a) || d->a <= 0 || !sb_quantity_number(word[1], &d->b) ||
	    d->b <= 0 || (word[2] ? !sb_quantity_time(word[2], &d->c) || d->c <= d->a : d->b <= 1))
		return -EINVAL;
	mean = pareto_moment(d, 1);
	set_moments(d, mean, pareto_moment(d, 2) - mean * mean);
	return 0;
}

static double sample_pareto(const struct sb_distribution *d, double u)
{
	const double kept = 1 - pow(d->a / d->c, d->b);

	return d->a * pow(1 - u * kept, -1 / d->b);
}

/* Marsaglia and Bray, 1964; the second of the pair is not kept, so that a
 * sample depends on nothing but the generator's state. */
static double sample_normal(struct sb_rng *rng)
{
	double x;
	double r;

	do {
		const double y = 2 * sb_rng_unit(rng) - 1;

		x = 2 * sb_rng_unit(rng) - 1;
		r = x * x + y * y;
	} while (r >= 1 || r == 0);
	return x * sqrt(-2 * log(r) / r);
}

/* ---- by kind ---- */

double sb_distribution_sample(const struct sb_distribution *d, struct sb_rng *rng)
{
	double x = 0;

	switch (d->kind) {
	case SB_DISTRIBUTION_MODES:
		x = sample_modes(d, sb_rng_unit(rng));
		break;
	case SB_DISTRIBUTION_EXP:
		x = d->a * sb_rng_exponential(rng);
		break;
	case SB_DISTRIBUTION_UNIFORM:
		x = d->a + (d->b - d->a) * sb_rng_unit(rng);
		break;
	case SB_DISTRIBUTION_LOGNORMAL:
		x = exp(d->a + d->b * sample_normal(rng));
		break;
	case SB_DISTRIBUTION_PARETO:
		x = sample_pareto(d, sb_rng_unit(rng));
		break;
	}
	return d->offset_ns + x;
}

static double cdf_pareto(const struct sb_distribution *d, double x)
{
	if (x < d->a)
		return 0;
	return x >= d->c ? 1 : (1 - pow(d->a / x, d->b)) / (1 - pow(d->a / d->c, d->b));
}

double sb_distribution_cdf(const struct sb_distribution *d, double x_ns)
{
	const double x = x_ns - d->offset_ns;

	if (x < 0)
		return 0;
	switch (d->kind) {
	case SB_DISTRIBUTION_MODES:
		return cdf_modes(d, x);
	case SB_DISTRIBUTION_EXP:
		return -expm1(-x / d->a);
	case SB_DISTRIBUTION_UNIFORM:
		return fmin(1, fmax(0, (x - d->a) / (d->b - d->a)));
	case SB_DISTRIBUTION_LOGNORMAL:
		return x > 0 ? erfc((d->a - log(x)) / (d->b * M_SQRT2)) / 2 : 0;
	case SB_DISTRIBUTION_PARETO:
		break;
	}
	return cdf_pareto(d, x);
}

/* ---- from text ---- */

#define WORDS_MAX 3

/* Words after the kind, divided by colons; of modes, all is one word. */
static const struct kind {
	const char *name;
	uint32_t least, most;
	const char *expected;
	int (*parse)(struct sb_distribution *d, char **word);
} kinds[] = {
	{ "fixed", 1, 1, "fixed:T, T a time with its unit", parse_fixed },
	{ "exp", 1, 1, "exp:T, T a time above 0 with its unit", parse_exp },
	{ "uniform", 2, 2, "uniform:A:B, times with their units, A < B", parse_uniform },
	{ "bimodal", 3, 3, "bimodal:P:A:B, P from 0 to 1, A and B times with their units",
	  parse_bimodal },
	{ "modes", 1, 1,
	  "modes:P:A,P:B and so on, P probabilities that add up to 1, A, B times with their units",
	  parse_modes },
	{ "lognormal", 2, 2, "lognormal:MEAN:SD, both times above 0 with their units",
	  parse_lognormal },
	{ "pareto", 2, 3,
	  "pareto:MIN:ALPHA with ALPHA > 1, or pareto:MIN:ALPHA:MAX with MAX > MIN, both times "
	  "with their units",
	  parse_pareto },
};

/* Returns how many words there are; more than WORDS_MAX: one more. */
static uint32_t split(char *text, uint32_t most, char **word)
{
	uint32_t n = 0;

	while (text && n < most)
		word[n++] = strsep(&text, ":");
	return n + (text != NULL);
}

static int parse_words(struct sb_distribution *d, const struct kind *kind, char *text)
{
	char *word[WORDS_MAX + 1] = { NULL };
	uint32_t words;

	if (kind->parse == parse_modes)
		return parse_modes(d, &text);
	words = split(text, kind->most, word);
	if (words < kind->least || words > kind->most)
		return -EINVAL;
	return kind->parse(d, word);
}

/* text: what comes after the offset; it is cut up. */
static int parse_kind(struct sb_distribution *d, char *text, char *why)
{
	char *rest = text;
	const char *name = strsep(&rest, ":");
	int rc;

	if (rest && !strcmp(name, "file"))
		return parse_file(d, rest, why);
	if (!rest && !parse_fixed(d, &text))
		return 0;
	for (size_t i = 0; i < SB_ARRAY_SIZE(kinds); i++) {
		if (!rest || strcmp(kinds[i].name, name))
			continue;
		rc = parse_words(d, &kinds[i], rest);
		if (rc)
			snprintf(why, SB_WHY_BYTES, "expected %s", kinds[i].expected);
		return rc;
	}
	snprintf(why, SB_WHY_BYTES, "%s", kinds_expected);
	return -EINVAL;
}

static const char *resolve_name(const char *text)
{
	for (const struct sb_named_distribution *n = sb_distribution_named; n->name; n++) {
		if (!strcmp(n->name, text))
			return n->text;
	}
	return text;
}

/* "10us+": the part before a plus, unless it belongs to a path. */
static int parse_offset(struct sb_distribution *d, char **text, char *why)
{
	char *plus = strchr(*text, '+');
	const char *colon = strchr(*text, ':');

	if (!plus || (colon && colon < plus))
		return 0;
	*plus = '\0';
	if (!sb_quantity_time(*text, &d->offset_ns)) {
		snprintf(why, SB_WHY_BYTES, "expected a time with its unit before the +");
		return -EINVAL;
	}
	*text = plus + 1;
	return 0;
}

static void shift(struct sb_distribution *d)
{
	const double variance = d->scv * d->mean_ns * d->mean_ns;

	if (d->offset_ns > 0)
		set_moments(d, d->mean_ns + d->offset_ns, variance);
}

static int parse_text(struct sb_distribution *d, char *text, char *why)
{
	int rc = parse_offset(d, &text, why);

	if (!rc)
		rc = parse_kind(d, text, why);
	if (rc)
		return rc;
	shift(d);
	/* Only numbers far beyond sense make it infinite, or none. */
	if (isfinite(d->mean_ns))
		return 0;
	snprintf(why, SB_WHY_BYTES,
		 "its mean cannot be computed; expected numbers that are less extreme");
	return -EINVAL;
}

int sb_distribution_init(struct sb_distribution *d, const char *text, char *why)
{
	char *copy = strdup(resolve_name(text));
	int rc = -ENOMEM;

	*d = (struct sb_distribution){ .kind = SB_DISTRIBUTION_MODES };
	snprintf(why, SB_WHY_BYTES, "no memory");
	if (copy)
		rc = parse_text(d, copy, why);
	free(copy);
	if (rc)
		sb_distribution_fini(d);
	return rc;
}

void sb_distribution_fini(struct sb_distribution *d)
{
	free(d->mode);
	d->mode = NULL;
}
