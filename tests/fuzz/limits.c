/* The limits of what is read, and a model, whose only limits are these. */
#include <jansson.h>

#include "affinity/profile/numbers.h"
#include "harness/output/store.h"
#include "harness/terminal/ini.h"
#include "harness/virtual/model_file.h"
#include "results/json/read.h"
#include "results/trace/timeline.h"
#include "tests/fuzz/fuzz.h"
#include "workloads/described/description.h"
#include "workloads/load/distribution.h"
#include "workloads/load/input.h"
#include "workloads/replay/actors.h"

static const struct limits {
	uint64_t bytes, depth, count, expansion;
} limits[] = {
#define INPUT(kind, what, bytes, depth, count, counted, expansion, where)                          \
	[INPUT_##kind] = { bytes, depth, count, expansion },
#include "harness/inputs.def"
#undef INPUT
};

void fuzz_check_limits(enum fuzz_kind kind, uint64_t bytes, uint64_t depth, uint64_t count)
{
	FUZZ_CHECK(bytes <= limits[kind].bytes);
	FUZZ_CHECK(depth <= limits[kind].depth);
	FUZZ_CHECK(count <= limits[kind].count);
}

uint64_t fuzz_expansion(enum fuzz_kind kind)
{
	return limits[kind].expansion;
}

/* Brackets in strings make it larger. */
uint64_t fuzz_json_depth(const char *text)
{
	uint64_t depth = 0;
	uint64_t most = 0;
	bool is_string = false;

	for (; *text; text++) {
		if (is_string && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			is_string = !is_string;
		else if (!is_string && (*text == '[' || *text == '{'))
			most = sb_max_u64(most, ++depth);
		else if (!is_string && (*text == ']' || *text == '}'))
			depth--;
	}
	return most;
}

void fuzz_model(const struct fuzz_input *input)
{
	char why[300] = "";
	struct sb_model_file file;

	if (sb_model_file_open(&file, input->path, why, sizeof(why))) {
		fuzz_check_why(why);
		return;
	}
	fuzz_check_limits(INPUT_model, input->bytes, fuzz_json_depth(input->text), 0);
	sb_model_file_free(&file);
}
