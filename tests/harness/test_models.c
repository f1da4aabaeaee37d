/*
 * The models that come with the command, against public data.
 *
 * Property: each is read; the transfer of a cache line over a distance that was measured is within
 *   10 % of the median of the measurements.
 * Method: medians of files of nviennot/core-to-core-latency and KCORES/core-to-core-latency-plus
 *   (GitHub), which have half of a round trip for each pair of CPUs. The files are not in this tree.
 */
#include <math.h>

#include "harness/virtual/model_file.h"
#include "harness/virtual/models.h"
#include "tests/test.h"

static const struct {
	const char *model;
	const char *value;
	double ns;
} published[] = {
	/* AWS Graviton2.csv: neighbours, and all others. */
	{ "altra-1s", "transfer_cache", 42.0 },
	{ "altra-1s", "transfer_node", 47.2 },
	/* AWS Graviton3.csv: all pairs. */
	{ "graviton3", "transfer_cache", 46.4 },
	/* Dual Intel(R) Xeon Gold 6242 @ 2.8GHz.csv: one core, one socket, two sockets. */
	{ "xeon-2s", "transfer_core", 7.4 },
	{ "xeon-2s", "transfer_cache", 48.0 },
	{ "xeon-2s", "transfer_remote", 141.4 },
	/* AMD Ryzen 9 7950X.csv: one core, one cache, two caches. */
	{ "desktop-2ccd", "transfer_core", 5.3 },
	{ "desktop-2ccd", "transfer_cache", 15.7 },
	{ "desktop-2ccd", "transfer_node", 72.7 },
	/* Intel Core i7-12700H 2.3GHz by-mokurin000.csv: pairs with a P core; pairs of E cores, mean. */
	{ "laptop-6p8e", "transfer_cache", 35.8 },
	{ "laptop-6p8e", "transfer_slow", 49.5 },
	/* Dual IBM Power9 8335-GTH 16-core 2.7GHz by-herver.csv: one socket, two sockets. */
	{ "power9-2s", "transfer_node", 483.3 },
	{ "power9-2s", "transfer_remote", 716.6 },
};

static void open_model(struct sb_model_file *file, const char *name)
{
	char why[256];

	if (sb_model_file_open(file, name, why, sizeof(why)))
		fail_msg("%s", why);
}

static void each_model_is_read(void **state)
{
	(void)state;
	for (const struct sb_named_model *m = sb_named_models; m->name; m++) {
		struct sb_model_file file;

		open_model(&file, m->name);
		assert_string_equal(file.name, m->name);
		assert_false(isnan(sb_model_file_get(&file, "straight")));
		sb_model_file_free(&file);
	}
}

static void distances_are_as_published(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(published); i++) {
		struct sb_model_file file;
		double ns;

		open_model(&file, published[i].model);
		ns = sb_model_file_get(&file, published[i].value);
		fprintf(stderr, "# %s, %s: %.1f ns, published %.1f\n", published[i].model,
			published[i].value, ns, published[i].ns);
		assert_true(fabs(ns / published[i].ns - 1) < 0.1);
		sb_model_file_free(&file);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_model_is_read),
		cmocka_unit_test(distances_are_as_published),
	};

	return cmocka_run_group_tests_name("models", tests, NULL, NULL);
}
