#include "harness/kernel/tracepoint.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/platform/atomic.h"
#include "harness/kernel/procfs.h"

/* ---- tracefs ---- */

static const char *const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

#define PATH_BYTES 160

static bool find_tracepoint(const char *root, const char *name, uint64_t *config)
{
	char path[PATH_BYTES];
	int64_t id;

	for (size_t i = 0; i < SB_ARRAY_SIZE(mounts); i++) {
		snprintf(path, sizeof(path), "%s/events/%s/id", mounts[i], name);
		if (sb_procfs_number(root, path, &id) && id > 0) {
			*config = (uint64_t)id;
			return true;
		}
	}
	return false;
}

/* A line "field:pid_t next_pid;	offset:56;	size:4;	signed:1;". */
static bool parse_offset(const char *format, const char *field, uint32_t *offset)
{
	const size_t length = strlen(field);

	for (const char *at = strstr(format, field); at; at = strstr(at + 1, field)) {
		const char *number = strstr(at, "offset:");

		if (at == format || at[-1] != ' ' || !strchr(";[", at[length]) || !number)
			continue;
		*offset = (uint32_t)strtoul(number + strlen("offset:"), NULL, 10);
		return true;
	}
	return false;
}

bool sb_tracepoint_field(const char *root, const char *name, const char *field, uint32_t *offset)
{
	char path[PATH_BYTES];
	char format[4096];

	for (size_t i = 0; i < SB_ARRAY_SIZE(mounts); i++) {
		snprintf(path, sizeof(path), "%s/events/%s/format", mounts[i], name);
		if (!sb_procfs_read(root, path, format, sizeof(format)))
			return parse_offset(format, field, offset);
	}
	return false;
}

/* ---- the event ---- */

static int open_event(const struct sb_tracepoint_request *request, uint64_t tracepoint)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | (request->has_data ? PERF_SAMPLE_RAW : 0),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, request->thread_id, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 && request->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, request->filter)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool sb_tracepoint_open(struct sb_tracepoint *t, const struct sb_tracepoint_request *request)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t tracepoint;
	void *map;

	*t = (struct sb_tracepoint){ .fd = -1 };
	if (!find_tracepoint(request->root, request->name, &tracepoint))
		return false;
	t->fd = open_event(request, tracepoint);
	if (t->fd < 0)
		return false;
	t->bytes = request->pages * page;
	map = mmap(NULL, page + t->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
	if (map != MAP_FAILED) {
		t->page = map;
		return true;
	}
	close(t->fd);
	t->fd = -1;
	return false;
}

void sb_tracepoint_close(struct sb_tracepoint *t)
{
	if (!t->page)
		return;
	munmap(t->page, (uint64_t)sysconf(_SC_PAGESIZE) + t->bytes);
	close(t->fd);
	t->page = NULL;
}

/* ---- records ---- */

/* Records are whole words; one may go on at the ring's begin. */
static uint64_t word_at(const struct sb_tracepoint *t, uint64_t offset)
{
	const char *words =
		(const char *)t->page +
		(t->page->data_offset ? t->page->data_offset : (uint64_t)sysconf(_SC_PAGESIZE));

	return *(const uint64_t *)(const void *)(words + offset % t->bytes);
}

/* Behind its size, which is four bytes long. */
static void copy_data(struct sb_tracepoint_record *out, const struct sb_tracepoint *t,
		      uint64_t offset)
{
	uint64_t words[SB_TRACEPOINT_DATA_MAX / sizeof(uint64_t) + 1];
	const uint32_t size = (uint32_t)word_at(t, offset);

	out->bytes = size < SB_TRACEPOINT_DATA_MAX ? size : SB_TRACEPOINT_DATA_MAX;
	for (size_t i = 0; i < SB_ARRAY_SIZE(words); i++)
		words[i] = word_at(t, offset + i * sizeof(*words));
	memcpy(out->data, (const char *)words + sizeof(size), out->bytes);
}

/* One that begins there, behind its header; false: nobody needs it. */
static bool read_record(struct sb_tracepoint_record *out, const struct sb_tracepoint *t,
			uint64_t offset, uint32_t type, uint64_t bytes)
{
	/* Time alone is a word. */
	const bool has_data = bytes > 2 * sizeof(uint64_t);

	*out = (struct sb_tracepoint_record){ .lost = 0 };
	if (type == PERF_RECORD_LOST) {
		/* Behind the event's number, how many. */
		out->lost = word_at(t, offset + 8);
		return true;
	}
	if (type != PERF_RECORD_SAMPLE)
		return false;
	out->at_ns = word_at(t, offset);
	if (has_data)
		copy_data(out, t, offset + 8);
	return true;
}

void sb_tracepoint_take(struct sb_tracepoint *t,
			void (*take)(void *arg, const struct sb_tracepoint_record *), void *arg)
{
	_Atomic(uint64_t) *head = (_Atomic(uint64_t) *)&t->page->data_head;
	_Atomic(uint64_t) *tail = (_Atomic(uint64_t) *)&t->page->data_tail;
	const uint64_t end = sb_load_acq(head);
	uint64_t offset = sb_load_rlx(tail);

	while (offset < end) {
		/* Type, two bytes of flags, two bytes of size. */
		const uint64_t header = word_at(t, offset);
		const uint64_t bytes = header >> 48;
		struct sb_tracepoint_record record;

		if (bytes < sizeof(header))
			break;
		if (read_record(&record, t, offset + sizeof(header), (uint32_t)header, bytes))
			take(arg, &record);
		offset += bytes;
	}
	/* The kernel may write there again. */
	sb_store_rel(tail, end);
}
