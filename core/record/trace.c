#include <errno.h>

#include "core/memory/arena.h"
#include "core/trace.h"

int sb_trace_init(struct sb_trace *trace, uint32_t events, struct sb_arena *arena)
{
	if (events != trace->room) {
		sb_trace_fini(trace);
		/* Zeroed, and so touched: not by the first events. */
		trace->event =
			events ? sb_mem_zalloc(arena, events * sizeof(*trace->event), SB_LINE)
			       : NULL;
		if (events && !trace->event)
			return -ENOMEM;
	}
	*trace = (struct sb_trace){ .event = trace->event, .room = events };
	return 0;
}

void sb_trace_fini(struct sb_trace *trace)
{
	sb_mem_free(trace->event);
	*trace = (struct sb_trace){ .event = NULL };
}

void sb_trace_put_cold(struct sb_trace *trace, enum sb_trace_kind kind, uint32_t other,
		       uint64_t value)
{
	sb_trace_put(trace, (struct sb_trace_event){
				    .kind = kind, .other = (int32_t)other, .value = value });
}

const struct sb_trace_event *sb_trace_at(const struct sb_trace *trace, uint32_t i)
{
	const uint32_t kept = sb_trace_kept(trace);

	SB_CHECK(i, <, kept);
	/* Full, the next to be overwritten is the oldest. */
	return &trace->event[kept < trace->room ? i : (trace->next + i) % trace->room];
}
