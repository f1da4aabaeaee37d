#include "affinity/mask.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BITS (8 * (int)sizeof(unsigned long))

void sb_cpu_mask_add(struct sb_cpu_mask *mask, int cpu)
{
	if (cpu >= 0 && cpu < SB_CPUS_MAX)
		mask->word[cpu / WORD_BITS] |= 1UL << cpu % WORD_BITS;
}

bool sb_cpu_mask_has(const struct sb_cpu_mask *mask, int cpu)
{
	return cpu >= 0 && cpu < SB_CPUS_MAX && mask->word[cpu / WORD_BITS] >> cpu % WORD_BITS & 1;
}

bool sb_cpu_mask_is_equal(const struct sb_cpu_mask *a, const struct sb_cpu_mask *b)
{
	return !memcmp(a, b, sizeof(*a));
}

uint32_t sb_cpu_mask_count(const struct sb_cpu_mask *mask)
{
	uint32_t n = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(mask->word); i++)
		n += (uint32_t)__builtin_popcountl(mask->word[i]);
	return n;
}

/* A CPU's number at *text; moves behind it. */
static bool take_cpu(const char **text, unsigned long *cpu)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*cpu = strtoul(*text, &end, 10);
	*text = end;
	return *cpu < SB_CPUS_MAX;
}

bool sb_cpu_mask_parse(const char *text, struct sb_cpu_mask *mask)
{
	unsigned long first;
	unsigned long last;

	*mask = (struct sb_cpu_mask){ 0 };
	while (*text && *text != '\n') {
		if (!take_cpu(&text, &first))
			return false;
		last = first;
		if (*text == '-' && (text++, !take_cpu(&text, &last)))
			return false;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			sb_cpu_mask_add(mask, (int)cpu);
		if (last < first || (*text && !strchr(",\n", *text)))
			return false;
		text += *text == ',';
	}
	return true;
}

const char *sb_cpu_mask_text(const struct sb_cpu_mask *mask, char *out, size_t bytes)
{
	size_t used = 0;

	*out = '\0';
	for (int cpu = 0; cpu < SB_CPUS_MAX && used < bytes; cpu++) {
		const int first = cpu;

		if (!sb_cpu_mask_has(mask, cpu))
			continue;
		while (sb_cpu_mask_has(mask, cpu + 1))
			cpu++;
		used += (size_t)snprintf(out + used, bytes - used, cpu > first ? "%s%d-%d" : "%s%d",
					 used ? "," : "", first, cpu);
	}
	return out;
}

/* The kernel fills in as much as it has; the rest stays empty. */
int sb_cpu_mask_read(struct sb_cpu_mask *mask)
{
	*mask = (struct sb_cpu_mask){ 0 };
	return sched_getaffinity(0, sizeof(*mask), (cpu_set_t *)(void *)mask->word) ? -errno : 0;
}

/* The kernel takes part of a mask without a word. */
int sb_cpu_mask_bind(const struct sb_cpu_mask *mask)
{
	struct sb_cpu_mask got;
	int rc;

	if (sched_setaffinity(0, sizeof(*mask), (const cpu_set_t *)(const void *)mask->word))
		return -errno;
	rc = sb_cpu_mask_read(&got);
	if (rc)
		return rc;
	return sb_cpu_mask_is_equal(mask, &got) ? 0 : -EINVAL;
}
