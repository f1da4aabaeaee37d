/*
 * timeline.h - a trace.json read back: what each worker was at, for a picture.
 */
#ifndef SB_RESULTS_TRACE_TIMELINE_H
#define SB_RESULTS_TRACE_TIMELINE_H

#include "core/platform/base.h"

enum sb_timeline_kind {
	SB_TIMELINE_BUSY,
	SB_TIMELINE_STEP, /* lies in a BUSY */
	SB_TIMELINE_SEARCH,
	SB_TIMELINE_PARKED,
	SB_TIMELINE_STEAL, /* these two: from one worker to another */
	SB_TIMELINE_WAKE,
	SB_TIMELINE_KINDS
};

/* Times count from the beginning of the trace. */
struct sb_timeline_slice {
	uint64_t begin_ns;
	uint64_t end_ns; /* of a moment: its begin_ns */
	uint32_t worker;
	uint32_t from; /* STEAL: the victim; WAKE: the waker */
	enum sb_timeline_kind kind;
};

struct sb_timeline {
	uint32_t workers;
	uint32_t slices;
	struct sb_timeline_slice *slice; /* as they end */
};

/* A larger file is not read; a longer line is not as we write it. */
#define SB_TIMELINE_FILE_BYTES (UINT64_C(1) << 30)
#define SB_TIMELINE_LINE_BYTES (64 << 10)

/*
 * The slices of a series, the i-th of the result, from its trace. Returns 0,
 * -ENOENT: there is no such file; -ENODATA: it has no such series; -EILSEQ: it is
 * not as we write it; or another -errno.
 */
SB_MUST_CHECK int sb_timeline_read(struct sb_timeline *timeline, const char *path, uint32_t series);
void sb_timeline_free(struct sb_timeline *timeline);

#endif
