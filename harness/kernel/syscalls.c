#include "harness/kernel/syscalls.h"

/* Room for two thousand calls in a round. */
#define RING_PAGES 8

bool sb_calls_open(struct sb_calls *calls, const char *root, int thread_id)
{
	*calls = (struct sb_calls){ .within = 0 };
	return sb_tracepoint_open(&calls->tracepoint, &(struct sb_tracepoint_request){
							      .root = root,
							      .name = "raw_syscalls/sys_enter",
							      .thread_id = thread_id,
							      .pages = RING_PAGES,
						      });
}

void sb_calls_close(struct sb_calls *calls)
{
	sb_tracepoint_close(&calls->tracepoint);
}

static void count(void *arg, const struct sb_tracepoint_record *record)
{
	struct sb_calls *calls = arg;

	calls->within +=
		record->lost ? record->lost
			     : record->at_ns >= calls->start_ns && record->at_ns <= calls->end_ns;
}

void sb_calls_window(struct sb_calls *calls, uint64_t start_ns, uint64_t end_ns)
{
	calls->start_ns = start_ns;
	calls->end_ns = end_ns;
	sb_tracepoint_take(&calls->tracepoint, count, calls);
}
