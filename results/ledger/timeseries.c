#include "results/ledger/timeseries.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/csv.h"
#include "results/record/series.h"

static_assert(SB_POINTS_MAX % 2 == 0, "neighbours become one");

const struct sb_point_column sb_point_count[SB_POINT_COUNTS] = {
#define COUNT(name, doc)	 { #name, doc },
#define STEAL(name, member, doc) { #name, doc },
#define REQUEST(name, doc)	 { #name, doc },
#include "results/ledger/timeseries.def"
};

const struct sb_point_column sb_point_kernel[SB_POINT_KERNELS] = {
#define KERNEL(name, doc) { #name, doc },
#include "results/ledger/timeseries.def"
};

const struct sb_point_column sb_point_depth[SB_POINT_DEPTHS] = {
#define DEPTH(name, doc) { #name, doc },
#include "results/ledger/timeseries.def"
};

const struct sb_point_column sb_point_quantile[SB_POINT_QUANTILES] = {
#define QUANTILE(name, q, doc) { #name, doc },
#include "results/ledger/timeseries.def"
};

static const double fraction[SB_POINT_QUANTILES] = {
#define QUANTILE(name, q, doc) q,
#include "results/ledger/timeseries.def"
};

struct sb_timeseries *sb_timeseries_new(uint32_t points)
{
	struct sb_timeseries *t = calloc(1, sizeof(*t) + points * sizeof(t->point[0]));

	if (t)
		t->points = points;
	return t;
}

/* ---- while it is made ---- */

struct draft {
	struct sb_point point;
	uint32_t looks; /* of which depths are sums */
	struct sb_packed_hist hist;
};

struct sb_points {
	uint64_t interval_ns;
	uint64_t begin_ns;
	uint64_t before_count[SB_POINT_COUNTS];
	double before_kernel[SB_POINT_KERNELS];
	uint32_t next; /* which of the two is filled next */
	struct sb_hist_counts hist[2];
	struct sb_hist_counts scratch;
	uint32_t points;
	struct draft draft[SB_POINTS_MAX + 1];
};

struct sb_points *sb_points_new(uint64_t interval_ns)
{
	struct sb_points *p = calloc(1, sizeof(*p));

	if (p)
		p->interval_ns = interval_ns;
	return p;
}

struct sb_hist_counts *sb_points_next_hist(struct sb_points *p)
{
	memset(&p->hist[p->next], 0, sizeof(p->hist[0]));
	return &p->hist[p->next];
}

/* What has been read is what the next reading is compared with. */
static void keep(struct sb_points *p, const struct sb_moment *now)
{
	memcpy(p->before_count, now->count, sizeof(p->before_count));
	memcpy(p->before_kernel, now->kernel, sizeof(p->before_kernel));
	p->next = !p->next;
}

void sb_points_begin(struct sb_points *p, const struct sb_moment *start)
{
	p->begin_ns = start->at_ns;
	keep(p, start);
}

void sb_points_free(struct sb_points *p)
{
	for (uint32_t i = 0; p && i < p->points; i++)
		sb_packed_free(&p->draft[i].hist);
	free(p);
}

uint64_t sb_points_interval_ns(const struct sb_points *p)
{
	return p->interval_ns;
}

/* A point, without its depths. */
static int append(struct sb_points *p, const struct sb_moment *now)
{
	struct draft *draft = &p->draft[p->points];
	struct sb_hist_counts *before = &p->hist[!p->next];
	int rc;

	*draft = (struct draft){ .point.end_ns = now->at_ns - p->begin_ns };
	/* It is filled anew after this. */
	for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++)
		before->bucket[i] = p->hist[p->next].bucket[i] - before->bucket[i];
	rc = sb_hist_pack(before, &draft->hist);
	if (rc)
		return rc;
	for (int c = 0; c < SB_POINT_COUNTS; c++)
		draft->point.count[c] = now->count[c] - p->before_count[c];
	for (int k = 0; k < SB_POINT_KERNELS; k++)
		draft->point.kernel[k] = now->kernel[k] - p->before_kernel[k];
	keep(p, now);
	p->points++;
	return 0;
}

/* Makes b, which follows a, a part of it. */
static int join(struct sb_points *p, struct draft *a, struct draft *b)
{
	struct sb_packed_hist hist;
	int rc;

	p->scratch = (struct sb_hist_counts){ .count = 0 };
	sb_packed_add(&a->hist, &p->scratch);
	sb_packed_add(&b->hist, &p->scratch);
	rc = sb_hist_pack(&p->scratch, &hist);
	if (rc)
		return rc;
	sb_packed_free(&a->hist);
	sb_packed_free(&b->hist);
	a->hist = hist;
	a->looks += b->looks;
	a->point.end_ns = b->point.end_ns;
	for (int c = 0; c < SB_POINT_COUNTS; c++)
		a->point.count[c] += b->point.count[c];
	for (int k = 0; k < SB_POINT_KERNELS; k++)
		a->point.kernel[k] += b->point.kernel[k];
	for (int d = 0; d < SB_POINT_DEPTHS; d++)
		a->point.depth[d] += b->point.depth[d];
	return 0;
}

/* Without memory the rest stays as it is. */
int sb_points_merge(struct sb_points *p)
{
	uint32_t n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < p->points; i++) {
		struct draft *next = &p->draft[n++];

		*next = p->draft[i];
		if (rc || i + 1 == p->points)
			continue;
		rc = join(p, next, &p->draft[i + 1]);
		i += !rc;
	}
	p->points = n;
	p->interval_ns *= 2;
	return rc;
}

int sb_points_add(struct sb_points *p, const struct sb_moment *now)
{
	struct draft *draft = &p->draft[p->points];
	int rc = append(p, now);

	if (rc)
		return rc;
	draft->looks = 1;
	for (int d = 0; d < SB_POINT_DEPTHS; d++)
		draft->point.depth[d] = (double)now->depth[d];
	return p->points < SB_POINTS_MAX ? 0 : sb_points_merge(p);
}

static struct sb_point finished(struct sb_points *p, const struct draft *draft)
{
	struct sb_point point = draft->point;

	p->scratch = (struct sb_hist_counts){ .count = 0 };
	sb_packed_add(&draft->hist, &p->scratch);
	for (uint32_t i = 0; i < draft->hist.buckets; i++)
		point.timed += draft->hist.bucket[i].count;
	p->scratch.count = point.timed;
	for (int d = 0; d < SB_POINT_DEPTHS; d++)
		point.depth[d] = draft->looks ? point.depth[d] / draft->looks : (double)NAN;
	for (int q = 0; q < SB_POINT_max_ns; q++)
		point.quantile[q] = point.timed < sb_percentile_needs(fraction[q])
					    ? (double)NAN
					    : (double)sb_hist_quantile(&p->scratch, fraction[q]);
	point.quantile[SB_POINT_max_ns] =
		point.timed ? (double)sb_hist_max(&p->scratch) : (double)NAN;
	return point;
}

struct sb_timeseries *sb_points_end(struct sb_points *p, const struct sb_moment *end)
{
	struct sb_timeseries *t;

	if (append(p, end))
		return NULL;
	if (p->points > 1) {
		struct draft *last = &p->draft[p->points - 1];

		if (2 * (last->point.end_ns - last[-1].point.end_ns) < p->interval_ns &&
		    !join(p, last - 1, last))
			p->points--;
	}
	t = sb_timeseries_new(p->points);
	for (uint32_t i = 0; t && i < p->points; i++)
		t->point[i] = finished(p, &p->draft[i]);
	if (t)
		t->interval_ns = p->interval_ns;
	return t;
}

/* ---- what is made of it ---- */

static double length_s(const struct sb_timeseries *t, uint32_t point)
{
	return 1e-9 * (double)(t->point[point].end_ns - sb_point_begin_ns(t, point));
}

double sb_point_rate(const struct sb_timeseries *t, uint32_t point, enum sb_point_count count)
{
	return (double)t->point[point].count[count] / length_s(t, point);
}

double sb_point_share(const struct sb_timeseries *t, uint32_t point, enum sb_point_count time)
{
	static const enum sb_point_count all[] = {
		SB_POINT_busy_ns, SB_POINT_steal_ns,   SB_POINT_steal_failed_ns,
		SB_POINT_spin_ns, SB_POINT_blocked_ns,
	};
	uint64_t sum = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(all); i++)
		sum += t->point[point].count[all[i]];
	return sum ? 100.0 * (double)t->point[point].count[time] / (double)sum : (double)NAN;
}

/* An invalid row has no numbers. */
static const struct sb_timeseries *series_of(const struct sb_record *record)
{
	return sb_record_has_numbers(record) ? record->timeseries : NULL;
}

bool sb_result_has_timeseries(const struct sb_result *result)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		for (uint32_t r = 0; r < result->series[i].records; r++) {
			if (series_of(&result->series[i].record[r]))
				return true;
		}
	}
	return false;
}

/* ---- timeseries.csv ---- */

static void put_cell(FILE *out, double value)
{
	fputc(',', out);
	sb_csv_put_number(out, value);
}

static void put_point(FILE *out, const struct sb_timeseries *t, uint32_t i)
{
	const struct sb_point *point = &t->point[i];

	fprintf(out, "%" PRIu64 ",%" PRIu64, sb_point_begin_ns(t, i), point->end_ns);
	put_cell(out, sb_point_rate(t, i, SB_POINT_steps));
	put_cell(out, t->has_requests ? sb_point_rate(t, i, SB_POINT_requests) : (double)NAN);
	put_cell(out, sb_point_share(t, i, SB_POINT_busy_ns));
	put_cell(out, sb_point_share(t, i, SB_POINT_spin_ns));
	put_cell(out, sb_point_share(t, i, SB_POINT_blocked_ns));
	for (int c = 0; c < SB_POINT_COUNTS; c++)
		put_cell(out, c == SB_POINT_requests && !t->has_requests ? (double)NAN
									 : (double)point->count[c]);
	for (int k = 0; k < SB_POINT_KERNELS; k++)
		put_cell(out, point->kernel[k]);
	for (int d = 0; d < SB_POINT_DEPTHS; d++)
		put_cell(out, point->depth[d]);
	fprintf(out, ",%s,%" PRIu64, sb_latency[t->latency].name, point->timed);
	for (int q = 0; q < SB_POINT_QUANTILES; q++)
		put_cell(out, point->quantile[q]);
}

static void put_record(FILE *out, const struct sb_series *series, const struct sb_record *record)
{
	const struct sb_timeseries *t = series_of(record);

	for (uint32_t i = 0; t && i < t->points; i++) {
		sb_csv_put_text(out, series->workload);
		fputc(',', out);
		sb_csv_put_text(out, series->label);
		fprintf(out, ",%" PRIu32 ",", record->repetition);
		put_point(out, t, i);
		fprintf(out, ",%s\n", sb_series_topology(series));
	}
}

int sb_write_timeseries_csv(const struct sb_result *result, FILE *out)
{
	fputs("workload,label,repetition,begin_ns,end_ns,steps_per_s,requests_per_s,busy_pct,"
	      "spin_pct,blocked_pct",
	      out);
	for (int c = 0; c < SB_POINT_COUNTS; c++)
		fprintf(out, ",%s", sb_point_count[c].name);
	for (int k = 0; k < SB_POINT_KERNELS; k++)
		fprintf(out, ",%s", sb_point_kernel[k].name);
	for (int d = 0; d < SB_POINT_DEPTHS; d++)
		fprintf(out, ",%s", sb_point_depth[d].name);
	fputs(",latency,timed", out);
	for (int q = 0; q < SB_POINT_QUANTILES; q++)
		fprintf(out, ",%s", sb_point_quantile[q].name);
	fputs(",topology\n", out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		for (uint32_t r = 0; r < result->series[i].records; r++)
			put_record(out, &result->series[i], &result->series[i].record[r]);
	}
	return 0;
}
