#include "results/files/hdr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The low half of a cookie's last byte is the version, the high half says that
 * counts are LEB128. */
#define COOKIE		  UINT32_C(0x1c849313)
#define COOKIE_COMPRESSED UINT32_C(0x1c849314)

/* 2 significant digits are 200 values apart: the next power of two is 256. */
#define DIGITS	   2
#define DIGIT_BITS 7
#define DIGIT_HALF (1u << DIGIT_BITS)
#define BUCKETS	   (DIGIT_HALF * (SB_HIST_VALUE_BITS - DIGIT_BITS + 1))

#define HEADER_BYTES 40
#define WORD_BYTES   9 /* the longest count */
#define PLAIN_BYTES  (HEADER_BYTES + WORD_BYTES * BUCKETS)

static_assert(DIGIT_BITS == SB_HIST_BITS + 1, "each bucket is two of HdrHistogram's");

static uint32_t hdr_index(uint64_t value)
{
	uint32_t shift;

	if (value < DIGIT_HALF)
		return (uint32_t)value;
	shift = 63 - (uint32_t)__builtin_clzll(value) - DIGIT_BITS;
	return shift * DIGIT_HALF + (uint32_t)(value >> shift);
}

static uint8_t *put_big_endian(uint8_t *out, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		*out++ = (uint8_t)(value >> (8 * i));
	return out;
}

/* ZigZag, then 7 bits a byte, the lowest first; a ninth byte has 8. */
static uint8_t *put_word(uint8_t *out, int64_t value)
{
	uint64_t rest = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);

	for (int i = 1; i < WORD_BYTES && rest >= 0x80; i++) {
		*out++ = (uint8_t)(rest | 0x80);
		rest >>= 7;
	}
	*out++ = (uint8_t)rest;
	return out;
}

/* Counts in the order of the values; -n are n empty buckets, and one is 0. */
static uint8_t *put_counts(uint8_t *out, const struct sb_hist_counts *counts)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++) {
		const uint32_t index = hdr_index(sb_hist_bucket_low(i));
		const int64_t empty = (int64_t)index - next;

		if (!counts->bucket[i])
			continue;
		if (empty)
			out = put_word(out, empty == 1 ? 0 : -empty);
		out = put_word(out, (int64_t)counts->bucket[i]);
		next = index + 1;
	}
	return out;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Returns how many bytes it is; out has room for PLAIN_BYTES. */
static size_t encode(const struct sb_hist_counts *counts, uint8_t *out)
{
	const uint8_t *end = put_counts(out + HEADER_BYTES, counts);
	uint8_t *header = out;

	header = put_big_endian(header, COOKIE, 4);
	header = put_big_endian(header, (uint64_t)(end - out) - HEADER_BYTES, 4);
	header = put_big_endian(header, 0, 4); /* offset of the first bucket */
	header = put_big_endian(header, DIGITS, 4);
	header = put_big_endian(header, 1, 8);
	header = put_big_endian(header, (UINT64_C(1) << SB_HIST_VALUE_BITS) - 1, 8);
	header = put_big_endian(header, bits_of(1.0), 8);
	SB_CHECK(header - out, ==, HEADER_BYTES);
	return (size_t)(end - out);
}

static char *to_base64(const uint8_t *in, size_t bytes)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = malloc((bytes + 2) / 3 * 4 + 1);
	char *out = text;

	for (size_t i = 0; text && i < bytes; i += 3) {
		const size_t left = bytes - i;
		const uint32_t bits = (uint32_t)in[i] << 16 |
				      (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
				      (left > 2 ? in[i + 2] : 0);

		*out++ = digit[bits >> 18];
		*out++ = digit[bits >> 12 & 63];
		*out++ = left > 1 ? digit[bits >> 6 & 63] : '=';
		*out++ = left > 2 ? digit[bits & 63] : '=';
	}
	if (text)
		*out = '\0';
	return text;
}

int sb_hdr_encode(const struct sb_hist_counts *counts, char **text)
{
	uLongf packed = compressBound(PLAIN_BYTES);
	uint8_t *plain = malloc(PLAIN_BYTES);
	uint8_t *out = malloc(8 + packed);

	*text = NULL;
	if (plain && out && compress(out + 8, &packed, plain, encode(counts, plain)) == Z_OK) {
		put_big_endian(put_big_endian(out, COOKIE_COMPRESSED, 4), packed, 4);
		*text = to_base64(out, 8 + packed);
	}
	free(plain);
	free(out);
	return *text ? 0 : -ENOMEM;
}
