/*
 * csv_settings.h - the columns setting_NAME of runs.csv and series.csv: every option
 * of the run and every parameter and setting of its series.
 */
#ifndef SB_RESULTS_FILES_CSV_SETTINGS_H
#define SB_RESULTS_FILES_CSV_SETTINGS_H

#include <stdio.h>

#include "results/record/record.h"

struct sb_csv_setting {
	const char *name;
	const char *of_run; /* NULL: no option of the run */
};

/* Each name once: the options first, then what series have besides. */
struct sb_csv_settings {
	struct sb_csv_setting *setting;
	uint32_t n;
};

/* Returns 0 or -ENOMEM; fini also after that. */
int sb_csv_settings_init(struct sb_csv_settings *settings, const struct sb_result *result);
void sb_csv_settings_fini(struct sb_csv_settings *settings);

/* A comma and the name of each column. */
void sb_csv_put_setting_names(FILE *out, const struct sb_csv_settings *settings);

/* A comma and the value of each: of the series, else of the run, else nothing. */
void sb_csv_put_settings(FILE *out, const struct sb_csv_settings *settings,
			 const struct sb_series *series);

#endif
