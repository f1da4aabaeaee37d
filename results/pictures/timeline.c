/*
 * timeline.c - what each worker was at, over a part of its trace.
 *
 * The part is as long as about STEPS_SHOWN steps of the busiest worker take, so
 * that they can be told apart, and lies where the most changes: activities,
 * steals, wakes. What is alike for long is best seen as figures. It lies where the
 * events of all workers are known: full rings reach back differently far.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/file.h"
#include "results/plots/kinds.h"
#include "results/record/number.h"
#include "results/trace/timeline.h"

#define STEPS_SHOWN 100

/* In the order in which they are drawn, each over those before. In grey they
 * differ by their patterns; colours are those of the time account. */
static const struct {
	enum sb_timeline_kind kind;
	const char *label;
	const char *style;
} layers[] = {
	{ SB_TIMELINE_PARKED, "parked",
	  "boxxyerror fs pattern 0 border rgb '#999999' lc rgb '#999999'" },
	{ SB_TIMELINE_SEARCH, "searching",
	  "boxxyerror fs pattern 6 border rgb '#e69f00' lc rgb '#e69f00'" },
	{ SB_TIMELINE_BUSY, "scheduler", "boxxyerror fs solid 1 noborder lc rgb '#56b4e9'" },
	{ SB_TIMELINE_STEP, "work (a step)", "boxxyerror fs solid 1 noborder lc rgb '#0072b2'" },
};

struct window {
	uint64_t begin_ns, end_ns;
};

/* ---- which part ---- */

static uint64_t end_of(const struct sb_timeline *t)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < t->slices; i++)
		end = sb_max_u64(end, t->slice[i].end_ns);
	return end;
}

/* From where on that is known of a worker. */
static uint64_t start_of(const struct sb_timeline *t, uint32_t worker)
{
	uint64_t start = UINT64_MAX;

	for (uint32_t i = 0; i < t->slices; i++) {
		if (t->slice[i].worker == worker && t->slice[i].kind <= SB_TIMELINE_PARKED)
			start = sb_min_u64(start, t->slice[i].begin_ns);
	}
	return start;
}

/* From where on that is known of all; 0 if less than that length is: a worker
 * may have started when all was done. */
static uint64_t common_start(const struct sb_timeline *t, uint64_t end, uint64_t length)
{
	uint64_t start = 0;

	for (uint32_t w = 0; w < t->workers; w++)
		start = sb_max_u64(start, start_of(t, w));
	return start <= end && end - start >= length ? start : 0;
}

static uint64_t count_steps(const struct sb_timeline *t, uint32_t worker)
{
	uint64_t steps = 0;

	for (uint32_t i = 0; i < t->slices; i++)
		steps += t->slice[i].kind == SB_TIMELINE_STEP && t->slice[i].worker == worker;
	return steps;
}

/* How long STEPS_SHOWN steps of the busiest worker take, on average; no more than
 * all of them. 0: there are none. */
static uint64_t length_for(const struct sb_timeline *t)
{
	uint32_t busiest = 0;
	uint64_t first = UINT64_MAX;
	uint64_t last = 0;
	uint64_t steps = 0;

	for (uint32_t w = 0; w < t->workers; w++) {
		const uint64_t n = count_steps(t, w);

		busiest = n > steps ? w : busiest;
		steps = sb_max_u64(n, steps);
	}
	for (uint32_t i = 0; i < t->slices && steps; i++) {
		const struct sb_timeline_slice *slice = &t->slice[i];

		if (slice->kind != SB_TIMELINE_STEP || slice->worker != busiest)
			continue;
		first = sb_min_u64(first, slice->begin_ns);
		last = sb_max_u64(last, slice->end_ns);
	}
	if (!steps)
		return 0;
	return steps > STEPS_SHOWN ? (last - first) / (steps / STEPS_SHOWN) : last - first;
}

/* The last of 1, 2 and 5 times a power of ten: the axis ends there. */
static uint64_t round_down(uint64_t ns)
{
	uint64_t power = 1;

	while (power * 10 <= ns)
		power *= 10;
	return power * (ns < 2 * power ? 1 : ns < 5 * power ? 2 : 5);
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The times from start on at which something changes, sorted; NULL: no
 * memory. */
static uint64_t *changes_of(const struct sb_timeline *t, uint64_t start, uint32_t *n)
{
	uint64_t *at = calloc((size_t)t->slices + 1, sizeof(*at));

	*n = 0;
	for (uint32_t i = 0; at && i < t->slices; i++) {
		if (t->slice[i].kind != SB_TIMELINE_STEP && t->slice[i].begin_ns >= start)
			at[(*n)++] = t->slice[i].begin_ns;
	}
	if (at)
		qsort(at, *n, sizeof(*at), compare_times);
	return at;
}

/* The middle of the first stretch of that length with the most of them. */
static uint64_t densest(const uint64_t *at, uint32_t n, uint64_t length)
{
	uint64_t middle = 0;
	uint32_t best = 0;
	uint32_t first = 0;

	for (uint32_t last = 0; last < n; last++) {
		while (at[last] - at[first] > length)
			first++;
		if (last - first + 1 > best) {
			best = last - first + 1;
			middle = at[first] + (at[last] - at[first]) / 2;
		}
	}
	return middle;
}

static int choose(const struct sb_timeline *t, struct window *window)
{
	const uint64_t end = end_of(t);
	const uint64_t wanted = length_for(t);
	const uint64_t start = common_start(t, end, wanted);
	uint64_t length = end - start;
	uint64_t middle;
	uint32_t n;
	uint64_t *at = changes_of(t, start, &n);

	if (!at)
		return -ENOMEM;
	length = round_down(wanted ? sb_min_u64(wanted, length) : length);
	middle = densest(at, n, length);
	free(at);
	window->begin_ns = middle > length / 2 ? middle - length / 2 : 0;
	window->begin_ns = sb_max_u64(window->begin_ns, start);
	if (window->begin_ns + length > end)
		window->begin_ns = end > length ? end - length : 0;
	window->end_ns = window->begin_ns + length;
	return 0;
}

/* ---- the picture ---- */

static bool is_shown(const struct sb_timeline_slice *slice, const struct window *window)
{
	return slice->end_ns >= window->begin_ns && slice->begin_ns <= window->end_ns;
}

/* A slice, cut to the window: worker, begin and end. A moment: when, and from
 * whom to whom. */
static void put_slice(struct sb_plot *plot, const struct sb_timeline_slice *slice,
		      const struct window *window)
{
	const uint64_t begin = sb_max_u64(slice->begin_ns, window->begin_ns);
	const uint64_t end = sb_min_u64(slice->end_ns, window->end_ns);

	fprintf(plot->data, "%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", slice->worker,
		begin - window->begin_ns, end - window->begin_ns, slice->from);
}

/* False: there is none in the window. */
static bool put_kind(struct sb_plot *plot, const struct sb_timeline *t, enum sb_timeline_kind kind,
		     const struct window *window, uint32_t *block)
{
	bool any = false;

	*block = sb_plot_block(plot);
	for (uint32_t i = 0; i < t->slices; i++) {
		if (t->slice[i].kind != kind || !is_shown(&t->slice[i], window))
			continue;
		put_slice(plot, &t->slice[i], window);
		any = true;
	}
	sb_plot_block_end(plot);
	return any;
}

static void put_arrows(struct sb_plot *plot, const struct sb_timeline *t,
		       enum sb_timeline_kind kind, const struct window *window, const char *label,
		       const char *style)
{
	uint32_t block;

	/* From edge to edge of the two lanes. */
	if (put_kind(plot, t, kind, window, &block))
		sb_plot_curve(plot, block, label,
			      "using 2:($4+0.4*sgn($1-$4)):(0):($1-$4-0.8*sgn($1-$4)) with vectors "
			      "head filled size screen 0.008,20 %s",
			      style);
}

static void find(struct sb_plot *plot, const struct sb_timeline *t, const struct window *window)
{
	const double all = (double)(window->end_ns - window->begin_ns) * t->workers;
	char length[SB_HUMAN_BYTES];
	uint32_t steals = 0;
	uint32_t wakes = 0;
	double work = 0;

	for (uint32_t i = 0; i < t->slices; i++) {
		const struct sb_timeline_slice *slice = &t->slice[i];

		if (!is_shown(slice, window))
			continue;
		steals += slice->kind == SB_TIMELINE_STEAL;
		wakes += slice->kind == SB_TIMELINE_WAKE;
		if (slice->kind == SB_TIMELINE_STEP)
			work += (double)(sb_min_u64(slice->end_ns, window->end_ns) -
					 sb_max_u64(slice->begin_ns, window->begin_ns));
	}
	sb_human(length, (double)(window->end_ns - window->begin_ns), "ns");
	sb_plot_finding(plot,
			"In these %s workers are in steps for %.0f %% of their time; %" PRIu32
			" steal%s, %" PRIu32 " wake%s",
			length, 100 * work / all, steals, steals == 1 ? "" : "s", wakes,
			wakes == 1 ? "" : "s");
}

static void put_times(struct sb_plot *plot, const struct window *window, uint64_t all_ns)
{
	char shown[SB_HUMAN_BYTES];
	char all[SB_HUMAN_BYTES];

	sb_human(shown, (double)(window->end_ns - window->begin_ns), "ns");
	sb_human(all, (double)all_ns, "ns");
	sb_plot_note(plot,
		     "the %s with the most changes, of a trace of %s; tracing makes steps longer",
		     shown, all);
}

static void draw(struct sb_plot *plot, const struct sb_timeline *t, const struct window *window)
{
	struct sb_plot_axis x = { 'x', "time", "ns", { 0 }, false, true, false };
	const uint32_t height = 60 + 44 * t->workers;

	sb_plot_range_add(&x.range, 0);
	sb_plot_range_add(&x.range, (double)(window->end_ns - window->begin_ns));
	plot->height = height < 130 ? 130 : height > 640 ? 640 : height;
	sb_plot_panel(plot);
	sb_plot_axis(plot, &x);
	sb_plot_numbers(plot, 'y', "worker", t->workers);
	sb_plot_set(plot, "unset grid");
	for (size_t i = 0; i < SB_ARRAY_SIZE(layers); i++) {
		uint32_t block;

		if (put_kind(plot, t, layers[i].kind, window, &block))
			sb_plot_curve(plot, block, layers[i].label,
				      "using 2:1:2:3:($1-0.4):($1+0.4) with %s", layers[i].style);
	}
	put_arrows(plot, t, SB_TIMELINE_STEAL, window, "steal, from victim to thief",
		   "lw 1.5 lc rgb '#d55e00'");
	put_arrows(plot, t, SB_TIMELINE_WAKE, window, "wake", "lw 1.5 dt (4,3) lc rgb '#009e73'");
	put_times(plot, window, end_of(t));
	find(plot, t, window);
}

static int read_trace(const struct sb_plot_line *line, struct sb_timeline *t)
{
	char *path = line->result->directory ? sb_path_join(line->result->directory, "trace.json")
					     : NULL;
	const uint32_t series = (uint32_t)(line->series - line->result->series);
	const int rc = path ? sb_timeline_read(t, path, series) : -ENOENT;

	free(path);
	return rc;
}

bool sb_plot_timeline(struct sb_plot *plot, int unused)
{
	struct sb_timeline timeline;
	struct window window;
	int rc = read_trace(&plot->view->line[0], &timeline);

	(void)unused;
	if (rc == -ENOENT || rc == -ENODATA)
		return sb_plot_refuse(plot, "nothing was traced (run --trace)");
	if (rc)
		return sb_plot_refuse(plot, "trace.json cannot be read: %s", strerror(-rc));
	rc = choose(&timeline, &window);
	if (!rc)
		draw(plot, &timeline, &window);
	sb_timeline_free(&timeline);
	return rc ? sb_plot_refuse(plot, "no memory") : true;
}
