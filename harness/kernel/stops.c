#include "harness/kernel/stops.h"

#include "core/platform/platform.h"
#include "harness/kernel/procfs.h"

/* Timers and hypervisors are late by less. */
#define STOP_LEAST_NS UINT64_C(50000000)

/* Of this thread; 0: the kernel does not say. */
static uint64_t read_delay(void)
{
	struct sb_procfs_times times;
	char text[128];

	if (sb_procfs_read("", "/proc/thread-self/schedstat", text, sizeof(text)) ||
	    !sb_procfs_schedstat(text, &times))
		return 0;
	return times.delay_ns;
}

void sb_stops_begin(struct sb_stops *stops)
{
	*stops = (struct sb_stops){ .delay_ns = read_delay() };
}

uint64_t sb_stops_excess(uint64_t took_ns, uint64_t most_ns, uint64_t delay_ns)
{
	const uint64_t allowed = most_ns + delay_ns;

	return took_ns > allowed + STOP_LEAST_NS ? took_ns - allowed : 0;
}

/* The delay is read after a wait that is late alone: where rounds are short, a
 * read after each would be dear. What it was since the last such wait is more
 * than in this one, so that a busy machine is never taken for a stop. */
void sb_stops_waited(struct sb_stops *stops, uint64_t took_ns, uint64_t most_ns)
{
	uint64_t now;
	uint64_t stopped_ns;
	uint64_t delay_ns;

	if (!sb_stops_excess(took_ns, most_ns, 0))
		return;
	now = sb_clock_ns();
	delay_ns = read_delay();
	stopped_ns = sb_stops_excess(took_ns, most_ns, delay_ns - stops->delay_ns);
	stops->delay_ns = delay_ns;
	/* A wait that is overdue returns as soon as the process goes on. */
	if (stopped_ns)
		sb_stops_add(stops, (struct sb_stop){ now - stopped_ns, now });
}

void sb_stops_add(struct sb_stops *stops, struct sb_stop stop)
{
	for (uint32_t i = 0; i < stops->stops; i++) {
		struct sb_stop *known = &stops->stop[i];

		if (known->begin_ns > stop.end_ns || stop.begin_ns > known->end_ns)
			continue;
		stops->stopped_ns -= known->end_ns - known->begin_ns;
		known->begin_ns = sb_min_u64(known->begin_ns, stop.begin_ns);
		known->end_ns = sb_max_u64(known->end_ns, stop.end_ns);
		stops->stopped_ns += known->end_ns - known->begin_ns;
		return;
	}
	stops->stopped_ns += stop.end_ns - stop.begin_ns;
	if (stops->stops < SB_STOPS_MAX)
		stops->stop[stops->stops++] = stop;
}
