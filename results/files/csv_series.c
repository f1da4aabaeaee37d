/* csv_series.c - series.csv: what the repetitions of a series come to. */
#include "results/files/csv_series.h"

#include <inttypes.h>

#include "results/files/csv.h"
#include "results/files/csv_settings.h"
#include "results/record/account.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"

static void put_spread(FILE *out, const struct sb_spread *spread)
{
	const double parts[] = { spread->n,   spread->median, spread->min,
				 spread->max, spread->q1,     spread->q3 };

	for (size_t i = 0; i < SB_ARRAY_SIZE(parts); i++) {
		fputc(',', out);
		sb_csv_put_number(out, parts[i]);
	}
}

static void put_metric(FILE *out, const struct sb_series *series, const char *name,
		       enum sb_metric_id metric, const struct sb_csv_settings *settings)
{
	const struct sb_spread spread = sb_series_spread(series, metric);

	sb_csv_put_text(out, name);
	fprintf(out, ",%s,%s", sb_metric[metric].name, sb_metric[metric].unit);
	put_spread(out, &spread);
	fputc(',', out);
	sb_csv_put_text(out, series->workload);
	fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, series->placement.workers,
		sb_series_count(series, SB_VALID), sb_series_count(series, SB_SUSPECT),
		sb_series_count(series, SB_INVALID));
	sb_csv_put_settings(out, settings, series);
	sb_csv_put_row_end(out, series);
}

int sb_csv_write_series(const struct sb_result *result, FILE *out)
{
	struct sb_csv_settings settings;
	const int rc = sb_csv_settings_init(&settings, result);

	fputs("series,metric,unit,n,median,min,max,q1,q3,workload,workers,valid,suspect,invalid",
	      out);
	sb_csv_put_setting_names(out, &settings);
	fputs(",topology\n", out);
	for (uint32_t i = 0; i < result->all_series && !rc; i++) {
		const struct sb_series *series = &result->series[i];
		char name[SB_NAME_BYTES];

		sb_series_name(name, result, series);
		for (uint32_t m = 0; m < sb_metrics(); m++)
			put_metric(out, series, name, (enum sb_metric_id)m, &settings);
	}
	sb_csv_settings_fini(&settings);
	return rc;
}
