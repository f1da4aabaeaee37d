#include "harness/system/syscalls.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/platform/atomic.h"
#include "harness/system/procfs.h"

/* A power of two; room for two thousand calls in a round. */
#define RING_PAGES 8

static bool find_tracepoint(const char *root, uint64_t *config)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing/events/raw_syscalls/sys_enter/id",
		"/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/id",
	};
	int64_t id;

	for (size_t i = 0; i < SB_ARRAY_SIZE(paths); i++) {
		if (sb_procfs_number(root, paths[i], &id) && id > 0) {
			*config = (uint64_t)id;
			return true;
		}
	}
	return false;
}

static int open_event(uint64_t tracepoint, int thread_id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC, /* as sb_clock_ns() */
	};

	return (int)syscall(SYS_perf_event_open, &attr, thread_id, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool sb_calls_open(struct sb_calls *calls, const char *root, int thread_id)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t tracepoint;
	void *map;

	*calls = (struct sb_calls){ .fd = -1 };
	if (!find_tracepoint(root, &tracepoint))
		return false;
	calls->fd = open_event(tracepoint, thread_id);
	if (calls->fd < 0)
		return false;
	calls->ring_bytes = RING_PAGES * page;
	map = mmap(NULL, page + calls->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, calls->fd,
		   0);
	if (map != MAP_FAILED) {
		calls->page = map;
		return true;
	}
	close(calls->fd);
	calls->fd = -1;
	return false;
}

void sb_calls_close(struct sb_calls *calls)
{
	if (!calls->page)
		return;
	munmap(calls->page, (uint64_t)sysconf(_SC_PAGESIZE) + calls->ring_bytes);
	close(calls->fd);
	calls->page = NULL;
}

/* Records are whole words; one may go on at the ring's begin. */
static uint64_t word_at(const struct sb_calls *calls, uint64_t offset)
{
	const char *ring = (const char *)calls->page + (calls->page->data_offset
								? calls->page->data_offset
								: (uint64_t)sysconf(_SC_PAGESIZE));

	return *(const uint64_t *)(const void *)(ring + offset % calls->ring_bytes);
}

static uint64_t count_record(const struct sb_calls *calls, uint64_t offset, uint32_t type,
			     uint64_t start_ns, uint64_t end_ns)
{
	uint64_t at_ns;

	switch (type) {
	case PERF_RECORD_SAMPLE:
		at_ns = word_at(calls, offset + 8);
		return at_ns >= start_ns && at_ns <= end_ns;
	case PERF_RECORD_LOST:
		/* Behind the event's number, how many. */
		return word_at(calls, offset + 16);
	default:
		return 0;
	}
}

void sb_calls_window(struct sb_calls *calls, uint64_t start_ns, uint64_t end_ns)
{
	struct perf_event_mmap_page *page = calls->page;
	_Atomic(uint64_t) *head = (_Atomic(uint64_t) *)&page->data_head;
	_Atomic(uint64_t) *tail = (_Atomic(uint64_t) *)&page->data_tail;
	const uint64_t end = sb_load_acq(head);
	uint64_t offset = sb_load_rlx(tail);

	while (offset < end) {
		/* Type, two bytes of flags, two bytes of size. */
		const uint64_t header = word_at(calls, offset);
		const uint64_t bytes = header >> 48;

		calls->within += count_record(calls, offset, (uint32_t)header, start_ns, end_ns);
		if (bytes < sizeof(header))
			break;
		offset += bytes;
	}
	/* The kernel may write there again. */
	sb_store_rel(tail, end);
}
