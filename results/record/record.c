#include "results/record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/commands.h"
#include "core/worker/distance.h"
#include "results/record/account.h"
#include "results/record/series.h"
#include "results/record/sums.h"

#define LOWER	SB_LOWER
#define HIGHER	SB_HIGHER
#define NEITHER SB_NEITHER

const struct sb_metric sb_counter_info[SB_COUNTERS] = {
#define X(name, unit, doc) [SB_COUNTER_##name] = { #name, unit, NEITHER, doc },
#include "core/counters.def"
#undef X
};

const struct sb_metric sb_record_hist_info[SB_RECORD_HISTS] = {
#define X(name, unit, doc) [SB_HIST_##name] = { #name, unit, NEITHER, doc },
#include "core/hists.def"
#undef X
#define WORKER_LATENCY(name, plot, doc)
#define WAKE_LATENCY(name, plot, doc) [SB_RECORD_##name] = { #name, "ns", LOWER, doc },
#define REQUEST_LATENCY(name, plot, doc)                                                           \
	[SB_RECORD_REQUEST + SB_REQUEST_##name] = { #name, "ns", LOWER, doc },
#include "results/record/latencies.def"
};

const struct sb_latency sb_latency[] = {
#define ROW(name, hist, doc)		 { #name, SB_METRIC_##name##_ns_mean, hist, doc },
#define WORKER_LATENCY(name, plot, doc)	 ROW(name, SB_HIST_##name, doc)
#define WAKE_LATENCY(name, plot, doc)	 ROW(name, SB_RECORD_##name, doc)
#define REQUEST_LATENCY(name, plot, doc) ROW(name, SB_RECORD_REQUEST + SB_REQUEST_##name, doc)
#include "results/record/latencies.def"
#undef ROW
};
const size_t sb_latencies = SB_ARRAY_SIZE(sb_latency);

/* ---- one row ---- */

const struct sb_packed_hist *sb_record_hist(const struct sb_record *record, uint32_t hist)
{
	const bool has = hist < SB_RECORD_REQUEST || record->requests;

	return record->packed && has ? &record->packed[hist] : NULL;
}

uint64_t sb_requests_untimed(const struct sb_requests *r, uint32_t hist, uint64_t timed)
{
	switch (hist) {
	case SB_RECORD_REQUEST + SB_REQUEST_sojourn:
	case SB_RECORD_REQUEST + SB_REQUEST_wait:
	case SB_RECORD_REQUEST + SB_REQUEST_ideal:
	case SB_RECORD_REQUEST + SB_REQUEST_replayed:
		return sb_requests_lost(r);
	case SB_RECORD_REQUEST + SB_REQUEST_lateness:
		return r->intended - timed;
	default:
		return 0; /* a service that was not begun has no time */
	}
}

void sb_packed_hist_free(struct sb_packed_hist *packed)
{
	for (uint32_t i = 0; packed && i < SB_RECORD_HISTS; i++)
		sb_packed_free(&packed[i]);
	free(packed);
}

void sb_record_free_hists(struct sb_record *record)
{
	free(record->hist);
	record->hist = NULL;
	if (record->requests)
		record->requests->hist = NULL;
}

int sb_record_pack(struct sb_record *record)
{
	struct sb_packed_hist *packed;
	int rc = 0;

	if (!record->hist)
		return 0;
	packed = calloc(SB_RECORD_HISTS, sizeof(*packed));
	if (!packed)
		return -ENOMEM;
	for (uint32_t i = 0; i < SB_RECORD_HISTS && !rc; i++)
		rc = sb_hist_pack(&record->hist[i], &packed[i]);
	if (rc) {
		sb_packed_hist_free(packed);
		return rc;
	}
	sb_record_free_hists(record);
	record->packed = packed;
	return 0;
}

const char *sb_exemplar_kind_name(enum sb_exemplar_kind kind)
{
	static const char *const names[SB_EXEMPLAR_KINDS] = {
#define X(name) [SB_EXEMPLAR_##name] = #name,
#include "core/exemplars.def"
#undef X
	};

	return names[kind];
}

void sb_exemplars_free(struct sb_exemplars *exemplars)
{
	for (int kind = 0; exemplars && kind < SB_EXEMPLAR_KINDS; kind++)
		free(exemplars->of[kind].exemplar);
	free(exemplars ? exemplars->thief : NULL);
	free(exemplars);
}

static_assert(SB_METRIC_unaccounted_pct - SB_METRIC_busy_pct == SB_TIMES - 1,
	      "the shares are metrics in their own order");

static void add_steals(struct sb_steal_sum *to, const struct sb_steal_counts *cell)
{
	to->pairs++;
	sb_steal_add(&to->sum, cell);
}

void sb_steals_sum(const struct sb_record *record, const struct sb_placement *p,
		   struct sb_steal_sum *all, struct sb_steal_sum by[SB_DISTANCES])
{
	for (uint32_t i = 0; i < p->workers * p->workers; i++) {
		const uint32_t thief = i / p->workers;
		const uint32_t victim = i % p->workers;
		const struct sb_steal_counts *cell = &record->worker[thief].steals[victim];

		if (thief == victim)
			continue;
		add_steals(all, cell);
		add_steals(&by[sb_place_distance(&p->place[thief], &p->place[victim])], cell);
	}
}

static_assert(SB_METRIC_yields_other - SB_METRIC_yields_send ==
		      SB_COMMAND_BUILTIN_END - SB_COMMAND_SEND,
	      "built-in commands are metrics in the order of their ids");

static_assert(SB_METRIC_cache_misses - SB_METRIC_vol_ctxsw == SB_OS_COUNTS - 1,
	      "the system's counts are side by side, in their own order");
static_assert(SB_METRICS_BUILT_IN - SB_COUNTERS == SB_METRIC_steps, "counters are last");

void sb_reading_subtract(struct sb_worker_reading *a, const struct sb_worker_reading *b,
			 uint32_t workers)
{
	for (uint32_t c = 0; c < SB_COUNTERS; c++)
		a->counter[c] -= b->counter[c];
	for (uint32_t i = 0; i < SB_YIELD_COUNTS; i++)
		a->yields[i] -= b->yields[i];
	a->read_ns -= b->read_ns;
	a->account_ns -= b->account_ns;
	for (uint32_t v = 0; v < workers; v++) {
#define X(name, doc) a->steals[v].name -= b->steals[v].name;
#include "core/steals.def"
#undef X
	}
}

const char *sb_verdict_name(enum sb_verdict verdict)
{
	static const char *const names[] = {
		[SB_VALID] = "valid",
		[SB_SUSPECT] = "suspect",
		[SB_ONLY_EMULATED] = "emulated",
		[SB_INVALID] = "invalid",
	};

	return names[verdict];
}

void sb_record_suspect(struct sb_record *record, const char *format, ...)
{
	const size_t used = strlen(record->reason);
	char *end = record->reason + used;
	const size_t room = sizeof(record->reason) - used;
	const char *joint = used ? "; " : "";
	char reason[SB_REASON_BYTES];
	va_list args;

	if (record->verdict > SB_SUSPECT)
		return;
	record->verdict = SB_SUSPECT;
	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (!strstr(record->reason, reason) && strlen(joint) + strlen(reason) < room)
		stpcpy(stpcpy(end, joint), reason);
}

void sb_record_invalidate(struct sb_record *record, const char *reason)
{
	sb_record_clear_values(record);
	record->verdict = SB_INVALID;
	snprintf(record->reason, sizeof(record->reason), "%s", reason);
}

/* ---- a series ---- */

const char *sb_memory_kind_name(enum sb_memory_kind kind)
{
	static const char *const names[SB_MEMORY_KINDS] = {
		[SB_MEMORY_DEQUES] = "deques",
		[SB_MEMORY_WORKER] = "worker",
		[SB_MEMORY_PROCESSES] = "processes",
		[SB_MEMORY_ARENA] = "arena",
	};

	return names[kind];
}
