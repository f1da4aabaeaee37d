/*
 * account.h - where the workers' time went, from their readings. The workers
 * keep busy, search and blocked time apart (core/record/account.h); what of the busy
 * time is work is estimated here, from the steps that were timed.
 */
#ifndef SB_RESULTS_RECORD_ACCOUNT_H
#define SB_RESULTS_RECORD_ACCOUNT_H

#include "results/record/record.h"

enum sb_time {
#define TIME(name, doc) SB_TIME_##name,
#include "results/record/account.def"
#undef TIME
	SB_TIMES
};

/* Of a worker's wall time, in percent; NaN: not measured. */
struct sb_shares {
	double pct[SB_TIMES];
};

/* Those of workers [first, first + count) together, in one repetition whose
 * metric look_ns is there. */
struct sb_shares sb_record_shares(const struct sb_record *record, uint32_t first, uint32_t count);

/* One worker's on average over the repetitions that have numbers. */
struct sb_shares sb_series_shares(const struct sb_series *series, uint32_t worker);

/* Standard error of work_pct of all workers together, in percent of their time:
 * 0 when all steps were timed, NaN when fewer than two were. */
double sb_record_work_error(const struct sb_record *record, uint32_t workers);

/*
 * Of the workers' time, summed: wall time = CPU time + waiting for a CPU + parked +
 * this. A stop of the process, stopped_ms for each, is no part of it. NaN: not all
 * of that is known. The wall time is that of the system's counts: a worker's own reading
 * is a longer time around it, by as much as the reader has waited for a CPU.
 */
double sb_record_off_cpu_ms(const struct sb_record *record, uint32_t workers, double stopped_ms);

/* Whether that counter is kept only where an account is. */
bool sb_counter_is_account(enum sb_counter_id id);

#endif
