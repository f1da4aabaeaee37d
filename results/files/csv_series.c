/* csv_series.c - series.csv: what the repetitions of a series come to. */
#include "results/files/csv_series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/csv.h"
#include "results/record/account.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"

/* The names of all series' settings, each once, in the order of their coming. */
struct names {
	const char **name;
	uint32_t n;
};

static int add_name(struct names *names, const char *name)
{
	const char **more;

	for (uint32_t i = 0; i < names->n; i++) {
		if (!strcmp(names->name[i], name))
			return 0;
	}
	more = reallocarray(names->name, names->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	names->name = more;
	names->name[names->n++] = name;
	return 0;
}

static int gather_names(const struct sb_result *result, struct names *names)
{
	int rc = 0;

	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];

		for (uint32_t s = 0; s < series->settings && !rc; s++)
			rc = add_name(names, series->setting[s].name);
	}
	return rc;
}

static void put_spread(FILE *out, const struct sb_spread *spread)
{
	const double parts[] = { spread->n,   spread->median, spread->min,
				 spread->max, spread->q1,     spread->q3 };

	for (size_t i = 0; i < SB_ARRAY_SIZE(parts); i++) {
		fputc(',', out);
		sb_csv_put_number(out, parts[i]);
	}
}

static void put_metric(FILE *out, const struct sb_series *series,
		       const char *name, enum sb_metric_id metric,
		       const struct names *settings)
{
	const struct sb_spread spread = sb_series_spread(series, metric);

	sb_csv_put_text(out, name);
	fprintf(out, ",%s,%s", sb_metric[metric].name, sb_metric[metric].unit);
	put_spread(out, &spread);
	fputc(',', out);
	sb_csv_put_text(out, series->workload);
	fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32,
		series->placement.workers, sb_series_count(series, SB_VALID),
		sb_series_count(series, SB_SUSPECT),
		sb_series_count(series, SB_INVALID));
	for (uint32_t i = 0; i < settings->n; i++) {
		const struct sb_setting *setting =
			sb_series_setting(series, settings->name[i]);

		fputc(',', out);
		if (setting)
			sb_csv_put_text(out, setting->text);
	}
	sb_csv_put_row_end(out, series);
}

static void put_settings_columns(FILE *out, const struct names *settings)
{
	for (uint32_t i = 0; i < settings->n; i++) {
		char column[80];

		snprintf(column, sizeof(column), "setting_%s",
			 settings->name[i]);
		fputc(',', out);
		sb_csv_put_text(out, column);
	}
}

int sb_csv_write_series(const struct sb_result *result, FILE *out)
{
	struct names settings = { NULL, 0 };
	const int rc = gather_names(result, &settings);

	fputs("series,metric,unit,n,median,min,max,q1,q3,workload,workers,"
	      "valid,suspect,invalid",
	      out);
	put_settings_columns(out, &settings);
	fputs(",topology\n", out);
	for (uint32_t i = 0; i < result->all_series && !rc; i++) {
		const struct sb_series *series = &result->series[i];
		char name[SB_NAME_BYTES];

		sb_series_name(name, result, series);
		for (uint32_t m = 0; m < SB_METRICS; m++)
			put_metric(out, series, name, (enum sb_metric_id)m,
				   &settings);
	}
	free(settings.name);
	return rc;
}
