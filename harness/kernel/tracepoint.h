/*
 * tracepoint.h - the records of a tracepoint that a thread passes: the kernel writes them into memory
 * that it shares with us (perf_event_open(2)). It ends with the process, however that ends.
 */
#ifndef SB_HARNESS_KERNEL_TRACEPOINT_H
#define SB_HARNESS_KERNEL_TRACEPOINT_H

#include "core/platform/base.h"

struct perf_event_mmap_page;

struct sb_tracepoint {
	int fd;
	struct perf_event_mmap_page *page; /* the records lie behind it; NULL: it is closed */
	uint64_t bytes;
};

struct sb_tracepoint_request {
	const char *root;   /* where /sys is, "" for the machine's own */
	const char *name;   /* "sched/sched_switch" */
	const char *filter; /* as tracefs takes it; NULL: all */
	int thread_id;
	uint32_t pages; /* a power of two */
	bool has_data;	/* the tracepoint's fields, too, and not the time alone */
};

/* False: this kernel, or this user, may not; nothing is open. */
bool sb_tracepoint_open(struct sb_tracepoint *tracepoint,
			const struct sb_tracepoint_request *request);
void sb_tracepoint_close(struct sb_tracepoint *tracepoint);

#define SB_TRACEPOINT_DATA_MAX 128

struct sb_tracepoint_record {
	uint64_t lost;	/* instead of all that follows: so many found no room; 0: none */
	uint64_t at_ns; /* by CLOCK_MONOTONIC */
	uint32_t bytes; /* of data; what is longer is cut off */
	char data[SB_TRACEPOINT_DATA_MAX];
};

/* Passes each record to take, the oldest first, and removes it. */
void sb_tracepoint_take(struct sb_tracepoint *tracepoint,
			void (*take)(void *arg, const struct sb_tracepoint_record *), void *arg);

/* Where a field lies in the tracepoint's data, "next_pid"; false: it has none. */
bool sb_tracepoint_field(const char *root, const char *name, const char *field, uint32_t *offset);

#endif
