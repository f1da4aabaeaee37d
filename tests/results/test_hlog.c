/*
 * The HdrHistogram log.
 *
 * Property: what is decoded has our counts, each in the one of HdrHistogram's
 *   buckets whose highest value is the middle of ours and whose lowest is where
 *   ours begins; so the total count, every percentile and the maximum are ours,
 *   and the least value is where our lowest bucket begins.
 * Method: a decoder written from the description of the format (base64, zlib,
 *   big-endian header, ZigZag LEB128, runs of empty buckets) and of the histogram
 *   (lowest value and significant digits give the buckets); it knows nothing of
 *   our layout. Histograms with a value in each bucket, in one alone, counts of
 *   each length, and random ones.
 * Bound: one unit and one ratio, those that we write. test_convert.sh has two
 *   other decoders, HdrHistogram's own among them.
 */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "core/platform/platform.h"
#include "results/convert/convert.h"
#include "results/files/hdr.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "tests/test.h"

/* ---- the decoder ---- */

enum { INDEX_MAX = 1 << 14, PLAIN_MAX = 1 << 20 };

struct decoded {
	uint32_t half; /* buckets for a power of two */
	uint64_t highest_trackable;
	uint32_t used; /* of count */
	uint64_t count[INDEX_MAX];
};

static int digit_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, c);

	assert_true(c && at);
	return (int)(at - digits);
}

static size_t from_base64(const char *text, uint8_t *out)
{
	const size_t length = strlen(text);
	size_t n = 0;

	CHECK_EQ(length % 4, 0);
	for (size_t i = 0; i < length; i += 4) {
		const int pads = (text[i + 2] == '=') + (text[i + 3] == '=');
		uint32_t bits = 0;

		for (size_t c = i; c < i + 4; c++)
			bits = bits << 6 | (text[c] == '=' ? 0 : digit_of(text[c]));
		assert_true(!pads || i + 4 == length);
		for (int byte = 0; byte < 3 - pads; byte++)
			out[n++] = (uint8_t)(bits >> (16 - 8 * byte));
	}
	return n;
}

static uint64_t big_endian(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

static int64_t take_word(const uint8_t **at)
{
	uint64_t bits = 0;
	int shift = 0;
	int bytes = 1;

	while (bytes < 9 && **at & 0x80) {
		bits |= (uint64_t)(*(*at)++ & 0x7f) << shift;
		shift += 7;
		bytes++;
	}
	bits |= (uint64_t) * (*at)++ << shift;
	return (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
}

static void take_counts(struct decoded *d, const uint8_t *at, const uint8_t *end)
{
	while (at < end) {
		const int64_t word = take_word(&at);

		if (word < 0)
			d->used += (uint32_t)-word;
		else
			d->count[d->used++] = (uint64_t)word;
		assert_true(d->used <= INDEX_MAX);
	}
	assert_ptr_equal(at, end);
}

static void decode(const char *text, struct decoded *d)
{
	static uint8_t packed[PLAIN_MAX];
	static uint8_t plain[PLAIN_MAX];
	uLongf bytes = PLAIN_MAX;
	const size_t all = from_base64(text, packed);
	double ratio;
	uint64_t bits;

	memset(d, 0, sizeof(*d));
	CHECK_EQ(big_endian(packed, 4) & ~0xf0, 0x1c849304);
	CHECK_EQ(big_endian(packed + 4, 4), all - 8);
	CHECK_EQ(uncompress(plain, &bytes, packed + 8, all - 8), Z_OK);
	CHECK_EQ(big_endian(plain, 4) & ~0xf0, 0x1c849303);
	CHECK_EQ(big_endian(plain + 4, 4), bytes - 40);
	CHECK_EQ(big_endian(plain + 8, 4), 0); /* no offset */
	CHECK_EQ(big_endian(plain + 16, 8), 1);
	d->highest_trackable = big_endian(plain + 24, 8);
	bits = big_endian(plain + 32, 8);
	memcpy(&ratio, &bits, sizeof(ratio));
	assert_true(ratio == 1.0);
	/* 10^digits values are told apart in the upper half of the buckets of
	 * the first power of two. */
	d->half = 1;
	for (uint64_t i = big_endian(plain + 12, 4), least = 1; i; i--) {
		least *= 10;
		while (d->half < least)
			d->half *= 2;
	}
	take_counts(d, plain + 40, plain + bytes);
}

static uint64_t lowest_of(const struct decoded *d, uint32_t index, uint64_t *highest)
{
	const uint32_t power = index / d->half;
	const uint32_t shift = power > 1 ? power - 1 : 0;
	const uint64_t low = (uint64_t)(index - shift * d->half) << shift;

	*highest = low + (UINT64_C(1) << shift) - 1;
	return low;
}

/* By the rule of sb_hist_quantile(), over the decoded buckets; *lowest is that
 * of the bucket. */
static uint64_t quantile_of(const struct decoded *d, double q, uint64_t count, uint64_t *lowest)
{
	uint64_t seen = 0;
	uint64_t highest = 0;

	for (uint32_t i = 0; i < d->used; i++) {
		seen += d->count[i];
		*lowest = lowest_of(d, i, &highest);
		if (d->count[i] && (double)seen >= q * (double)count)
			return highest;
	}
	return 0;
}

/* ---- the checks ---- */

static uint64_t total_of(const struct decoded *d)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < d->used; i++)
		total += d->count[i];
	return total;
}

static void is_ours(const struct sb_hist_counts *ours)
{
	static const double qs[] = { 0, .5, .9, .99, .999, .9999, 1 };
	static struct decoded d;
	uint64_t lowest = 0;
	uint64_t highest;
	uint32_t first = 0;
	char *text;

	CHECK_EQ(sb_hdr_encode(ours, &text), 0);
	decode(text, &d);
	free(text);
	CHECK_EQ(d.highest_trackable, (UINT64_C(1) << 42) - 1);
	CHECK_EQ(total_of(&d), ours->count);
	for (size_t i = 0; i < SB_ARRAY_SIZE(qs); i++)
		CHECK_EQ(quantile_of(&d, qs[i], ours->count, &lowest),
			 sb_hist_quantile(ours, qs[i]));
	/* Nothing is written behind the last one. */
	(void)lowest_of(&d, d.used - 1, &highest);
	CHECK_EQ(sb_hist_index(highest), sb_hist_index(sb_hist_max(ours)));
	while (!ours->bucket[first])
		first++;
	(void)quantile_of(&d, 0, ours->count, &lowest);
	CHECK_EQ(lowest, sb_hist_bucket_low(first));
}

static void put(struct sb_hist_counts *counts, uint32_t bucket, uint64_t n)
{
	counts->bucket[bucket] += n;
	counts->count += n;
}

static void every_bucket_has_its_place(void **state)
{
	static struct sb_hist_counts all;

	(void)state;
	memset(&all, 0, sizeof(all));
	for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++) {
		struct sb_hist_counts one = { 0 };

		put(&one, i, 1);
		is_ours(&one);
		put(&all, i, i + 1);
	}
	is_ours(&all);
}

/* Each length of a word, from 1 byte to 9, at its edges. */
static void counts_of_every_length(void **state)
{
	(void)state;
	for (int bits = 0; bits < 63; bits++) {
		struct sb_hist_counts counts = { 0 };

		put(&counts, 3, UINT64_C(1) << bits);
		put(&counts, 4, (UINT64_C(1) << bits) - 1);
		put(&counts, 1000, 1);
		is_ours(&counts);
	}
}

/* With gaps of one empty bucket, of many, and none. */
static void random_histograms(void **state)
{
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int round = 0; round < SB_SCALE(800); round++) {
		struct sb_hist_counts counts = { 0 };
		const uint32_t step = 1 + sb_rng_below(&rng, 40);

		for (uint64_t i = sb_rng_below(&rng, SB_HIST_BUCKETS); i < SB_HIST_BUCKETS;
		     i += 1 + sb_rng_below(&rng, step))
			put(&counts, (uint32_t)i, 1 + (sb_rng_next(&rng) >> (20 + round % 44)));
		is_ours(&counts);
	}
}

/* ---- the log ---- */

enum { WORKERS = 2, REPETITIONS = 3, INVALID = 1 };

static void fill_record(struct sb_record *record, uint32_t r)
{
	record->repetition = r;
	record->worker = calloc(WORKERS, sizeof(*record->worker));
	record->hist = calloc(SB_RECORD_HISTS, sizeof(*record->hist));
	put(&record->hist[SB_HIST_ready_to_running], 50 + r, 4);
	put(&record->hist[SB_HIST_spins_steal], 5, 4);
	CHECK_EQ(sb_record_pack(record), 0);
	record->value[SB_METRIC_wall_s] = 0.25 * (r + 1);
	if (r == INVALID)
		sb_record_invalidate(record, "wrong\nanswer");
}

static void fill_result(struct sb_result *result)
{
	const struct sb_setting setting = { (char *)(uintptr_t) "spin, x",
					    (char *)(uintptr_t) "1,2\n3", 0, true };
	struct sb_series *series = calloc(1, sizeof(*series));

	*series = (struct sb_series){ .workload = strdup("ping pong"),
				      .operation = strdup("message"),
				      .label = strdup(""),
				      .records = REPETITIONS };
	series->placement.workers = WORKERS;
	series->record = calloc(REPETITIONS, sizeof(*series->record));
	for (uint32_t r = 0; r < REPETITIONS; r++)
		fill_record(&series->record[r], r);
	CHECK_EQ(sb_series_add_setting(series, &setting), 0);
	*result = (struct sb_result){ .all_series = 1, .series = series };
	CHECK_EQ(sb_result_add_fact(result, "run", "date", "2026-11-21T22:20:00+02:00"), 0);
}

/* The interval lines, each without its histogram. */
static void log_has_a_line_for_each_latency(void **state)
{
	static const char expected[] =
		"#[Logged by sched-bench, in ns; maxima of intervals in ms]\n"
		"#[Histogram log format version 1.3]\n"
		"#[StartTime: 1795292400.000 (seconds since epoch), 2026-11-21T22:20:00+02:00]\n"
		"#[BaseTime: 1795292400.000 (seconds since epoch)]\n"
		"#[ping pong/spin, x:1,2_3/workers:2, spin, x=1,2_3, repetition 0: valid]\n"
		"#[ping pong/spin, x:1,2_3/workers:2, spin, x=1,2_3, repetition 1: invalid: "
		"wrong_answer]\n"
		"#[ping pong/spin, x:1,2_3/workers:2, spin, x=1,2_3, repetition 2: valid]\n"
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_"
		"Histogram\"\n"
		"Tag=ping_pong/spin__x:1_2_3/workers:2/"
		"ready_to_running,0.000000,0.250000,0.000050,HISTFAAAA\n"
		"Tag=ping_pong/spin__x:1_2_3/workers:2/"
		"ready_to_running,0.250000,0.750000,0.000052,HISTFAAAA\n";
	struct sb_result result;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	fill_result(&result);
	CHECK_EQ(sb_write_hlog(&result, out), 0);
	fclose(out);
	for (char *at = text; (at = strstr(at, "HISTFAAAA"));) {
		at += strlen("HISTFAAAA");
		memmove(at, strchr(at, '\n'), strlen(strchr(at, '\n')) + 1);
	}
	assert_string_equal(text, expected);
	free(text);
	sb_result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bucket_has_its_place),
		cmocka_unit_test(counts_of_every_length),
		cmocka_unit_test(random_histograms),
		cmocka_unit_test(log_has_a_line_for_each_latency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
