/*
 * timeline.c - reads a trace.json of ours. Each event is a line of its own
 * there (trace.c), so that a trace of any size is read line by line.
 */
#include "results/trace/timeline.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/file.h"
#include "results/json/json_out.h"

struct reader {
	struct sb_timeline *timeline;
	uint32_t room;
	json_int_t process; /* the series' */
	json_int_t first_tid;
	struct sb_timeline_slice *open; /* [workers], what each is at */
};

static int add(struct reader *r, struct sb_timeline_slice slice)
{
	struct sb_timeline *t = r->timeline;

	if (t->slices == r->room) {
		const uint32_t room = r->room ? 2 * r->room : 1024;
		struct sb_timeline_slice *larger = realloc(t->slice, room * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		t->slice = larger;
		r->room = room;
	}
	t->slice[t->slices++] = slice;
	return 0;
}

/* One more worker: they are named one after another, before their events. */
static int add_worker(struct reader *r, json_int_t tid)
{
	struct sb_timeline *t = r->timeline;
	struct sb_timeline_slice *open;

	if (!t->workers)
		r->first_tid = tid;
	if (tid < 0 || tid > INT32_MAX || tid != r->first_tid + t->workers)
		return -EILSEQ;
	open = realloc(r->open, (t->workers + 1) * sizeof(*open));
	if (!open)
		return -ENOMEM;
	r->open = open;
	open[t->workers] =
		(struct sb_timeline_slice){ .worker = t->workers, .kind = SB_TIMELINE_KINDS };
	t->workers++;
	return 0;
}

/* 11 days: what is later is no trace of ours, and sums stay exact. */
#define LATEST_NS 1e15

static uint64_t ns_of(const json_t *event, const char *key)
{
	const double us = json_number_value(json_object_get(event, key));

	return (uint64_t)llround(fmin(LATEST_NS, fmax(0, 1000 * us)));
}

static const char *text_of(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text ? text : "";
}

static uint32_t worker_in_args(const json_t *event, const char *key)
{
	const json_t *args = json_object_get(event, "args");

	return (uint32_t)json_integer_value(json_object_get(args, key));
}

static enum sb_timeline_kind activity_of(const char *name)
{
	static const struct {
		const char *name;
		enum sb_timeline_kind kind;
	} activities[] = {
		{ "busy", SB_TIMELINE_BUSY },
		{ "search", SB_TIMELINE_SEARCH },
		{ "parked", SB_TIMELINE_PARKED },
	};

	for (size_t i = 0; i < SB_ARRAY_SIZE(activities); i++) {
		if (!strcmp(activities[i].name, name))
			return activities[i].kind;
	}
	return SB_TIMELINE_KINDS;
}

/* A steal is the thief's moment, a wake the waker's. */
static int read_moment(struct reader *r, const json_t *event, struct sb_timeline_slice slice)
{
	const char *name = text_of(event, "name");

	slice.end_ns = slice.begin_ns;
	if (!strcmp(name, "steal")) {
		slice.kind = SB_TIMELINE_STEAL;
		slice.from = worker_in_args(event, "victim");
	} else if (!strcmp(name, "wake")) {
		slice.kind = SB_TIMELINE_WAKE;
		slice.from = slice.worker;
		slice.worker = worker_in_args(event, "worker");
	} else {
		return 0;
	}
	if (slice.from >= r->timeline->workers || slice.worker >= r->timeline->workers)
		return -EILSEQ;
	return add(r, slice);
}

static int read_worker_event(struct reader *r, const json_t *event, uint32_t worker, char phase)
{
	struct sb_timeline_slice *open = &r->open[worker];
	struct sb_timeline_slice slice = { .begin_ns = ns_of(event, "ts"), .worker = worker };

	switch (phase) {
	case 'B':
		open->begin_ns = slice.begin_ns;
		open->kind = activity_of(text_of(event, "name"));
		return open->kind < SB_TIMELINE_KINDS ? 0 : -EILSEQ;
	case 'E':
		open->end_ns = slice.begin_ns;
		return open->kind < SB_TIMELINE_KINDS && open->begin_ns <= open->end_ns
			       ? add(r, *open)
			       : -EILSEQ;
	case 'X':
		slice.kind = SB_TIMELINE_STEP;
		slice.end_ns = slice.begin_ns + ns_of(event, "dur");
		return add(r, slice);
	case 'i':
		return read_moment(r, event, slice);
	default:
		return 0;
	}
}

static int read_event(struct reader *r, const json_t *event)
{
	const char phase = *text_of(event, "ph");
	const json_int_t tid = json_integer_value(json_object_get(event, "tid"));

	if (json_integer_value(json_object_get(event, "pid")) != r->process)
		return 0;
	if (phase == 'M')
		return strcmp(text_of(event, "name"), "thread_name") ? 0 : add_worker(r, tid);
	if (!r->open || tid < r->first_tid || tid - r->first_tid >= r->timeline->workers)
		return -EILSEQ;
	return read_worker_event(r, event, (uint32_t)(tid - r->first_tid), phase);
}

/* Of the lines, those of events. */
static int read_line(struct reader *r, const char *line, size_t bytes)
{
	json_t *event;
	int rc;

	if (strncmp(line, "{\"ph\":", 6) != 0)
		return 0;
	event = json_loadb(line, bytes, JSON_DISABLE_EOF_CHECK, NULL);
	rc = event ? read_event(r, event) : -EILSEQ;
	if (sb_json_lacked_memory())
		rc = -ENOMEM;
	json_decref(event);
	return rc;
}

int sb_timeline_read(struct sb_timeline *timeline, const char *path, uint32_t series)
{
	struct reader r = { .timeline = timeline, .process = (json_int_t)series + 1 };
	char *line = malloc(SB_TIMELINE_LINE_BYTES);
	int rc;
	FILE *in = sb_file_open(path, SB_TIMELINE_FILE_BYTES, &rc);

	*timeline = (struct sb_timeline){ 0 };
	if (!in) {
		free(line);
		return rc;
	}
	rc = line ? 0 : -ENOMEM;
	while (!rc && fgets(line, SB_TIMELINE_LINE_BYTES, in))
		rc = read_line(&r, line, strlen(line));
	if (!rc && ferror(in))
		rc = -EIO;
	if (!rc && !timeline->slices)
		rc = -ENODATA;
	fclose(in);
	free(line);
	free(r.open);
	if (rc)
		sb_timeline_free(timeline);
	return rc;
}

void sb_timeline_free(struct sb_timeline *timeline)
{
	free(timeline->slice);
	*timeline = (struct sb_timeline){ 0 };
}
