#include "harness/sweep/hidden.h"

#include <inttypes.h>

#include "core/scheduler.h"
#include "harness/terminal/status.h"

void sb_hidden_count(struct sb_hidden *hidden, const struct sb_options *run)
{
	const bool polls = run->value[SB_OPT_park].alternative == SB_PARK_POLL;

	hidden->configurations++;
	hidden->by_poll += polls;
	hidden->by_time += !polls && sb_opt(run, SB_OPT_spin_time);
}

/* The counts first: --spin-time hides these alone. */
static const enum sb_option_id thresholds[] = { SB_OPT_spin_tight, SB_OPT_spin_yield,
						SB_OPT_spin_time };
enum { COUNTS = 2, ALL = SB_ARRAY_SIZE(thresholds) };

/* The name of the first of so many that the sweep goes through, or NULL. */
static const char *swept(const struct sb_sweep *sweep, uint32_t of)
{
	for (uint32_t t = 0; t < of; t++) {
		for (uint32_t i = 0; i < sweep->dimensions; i++) {
			if (sweep->dimension[i].option == (int)thresholds[t])
				return sb_option[thresholds[t]].name;
		}
	}
	return NULL;
}

void sb_hidden_note(const struct sb_hidden *hidden, const struct sb_sweep *sweep)
{
	const char *count = swept(sweep, COUNTS);
	const char *any = swept(sweep, ALL);

	if (count && hidden->by_time)
		sb_note("--spin-time may hide %s in %" PRIu32 " of %" PRIu32
			" configurations: after a short sleep a worker spins for that time in any "
			"case; --spin-time 0s shows it",
			count, hidden->by_time, hidden->configurations);
	else if (any && hidden->by_poll)
		sb_note("--park poll hides %s in %" PRIu32 " of %" PRIu32
			" configurations: a worker that polls never sleeps; --park condvar or "
			"futex shows it",
			any, hidden->by_poll, hidden->configurations);
}
