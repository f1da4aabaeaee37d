/*
 * test_damage.c - result files cut off, or changed at random: no crash, and an error or a whole result.
 */
#include "tests/results/read.h"

/* ---- damage at random ---- */

static void whatever_is_cut_off_is_truncated(void **state)
{
	struct text text = make_text();
	const size_t step = text.bytes / SB_SCALE(400) + 1;

	(void)state;
	for (size_t bytes = 1 + next_random() % step; bytes < text.bytes - 1; bytes += step)
		refused(text.at, bytes, -EINVAL, "truncated: it ends at line");
	/* Without the last line's end it is whole. */
	refused(text.at, text.bytes - 2, -EINVAL, "truncated");
	CHECK_EQ(read_whatever(text.at, text.bytes - 1, false), 0);
	free(text.at);
}

/* How many times of all what is damaged can still be read. */
static void say_how_many(uint32_t read, uint32_t all)
{
	fprintf(stderr, "# %u of %u were still results\n", read, all);
	assert_true(read > 0 && read < all);
}

static void changed_bytes_do_no_harm(void **state)
{
	struct text text = make_text();
	char *copy = malloc(text.bytes);
	const uint32_t times = SB_SCALE(600);
	uint32_t read = 0;

	(void)state;
	for (uint32_t i = 0; i < times; i++) {
		const uint32_t changes = 1 + (uint32_t)(next_random() % 3);

		memcpy(copy, text.at, text.bytes);
		for (uint32_t c = 0; c < changes; c++) {
			char *byte = &copy[next_random() % text.bytes];

			*byte = next_random() % 2 ? (char)next_random()
						  : "0123456789-.e\"{}[],:"[next_random() % 20];
		}
		read += !read_whatever(copy, text.bytes, i % 64 == 0);
	}
	say_how_many(read, times);
	free(copy);
	free(text.at);
}

/* NOLINTNEXTLINE(misc-no-recursion): a result is not deep. */
static void gather(json_t *value, struct values *values)
{
	const char *key;
	json_t *part;
	size_t i;

	values->at = realloc(values->at, (values->n + 1) * sizeof(json_t *));
	values->at[values->n++] = value;
	json_object_foreach (value, key, part)
		gather(part, values);
	json_array_foreach (value, i, part)
		gather(part, values);
}

static json_t *some_value(const struct values *values)
{
	static const char *const odd[] = {
		"0",   "-1",   "9223372036854775807", "1e308", "\"\"", "null", "[]", "{}", "true",
		"0.5", "4000", "[[0,0],[0,0]]",
	};

	if (next_random() % 2)
		return json_loads(odd[next_random() % SB_ARRAY_SIZE(odd)], JSON_DECODE_ANY, NULL);
	return json_deep_copy(values->at[next_random() % values->n]);
}

/* Puts some value into some place of an object or array; or takes one out. */
static void swap_one(const struct values *values)
{
	json_t *parent = values->at[next_random() % values->n];
	const size_t size =
		json_is_object(parent) ? json_object_size(parent) : json_array_size(parent);
	size_t which = size ? next_random() % size : 0;
	json_t *value = some_value(values);
	const char *key = NULL;
	json_t *old;

	if (json_is_array(parent) && size) {
		if (next_random() % 4)
			json_array_set(parent, which, value);
		else
			json_array_append(parent, value);
	} else if (size) {
		json_object_foreach (parent, key, old)
			if (!which--)
				break;
		if (next_random() % 4)
			json_object_set(parent, key, value);
	}
	json_decref(value);
}

static void swapped_values_do_no_harm(void **state)
{
	struct text text = make_text();
	const uint32_t times = SB_SCALE(200);
	uint32_t read = 0;

	(void)state;
	for (uint32_t i = 0; i < times; i++) {
		json_t *json = json_loadb(text.at, text.bytes, 0, NULL);
		struct values values = { NULL, 0 };
		char *changed;

		gather(json, &values);
		swap_one(&values);
		free(values.at);
		changed = json_dumps(json, JSON_COMPACT);
		read += !read_whatever(changed, strlen(changed), i % 64 == 0);
		free(changed);
		json_decref(json);
	}
	say_how_many(read, times);
	free(text.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_cut_off_is_truncated),
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(swapped_values_do_no_harm),
	};

	return cmocka_run_group_tests(tests, make_work, remove_work);
}
