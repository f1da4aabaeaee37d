#include "results/files/csv_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/csv.h"
#include "results/record/series.h"

static int add(struct sb_csv_settings *settings, const char *name, const char *of_run)
{
	struct sb_csv_setting *more;

	for (uint32_t i = 0; i < settings->n; i++) {
		if (!strcmp(settings->setting[i].name, name))
			return 0;
	}
	more = reallocarray(settings->setting, settings->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	settings->setting = more;
	more[settings->n++] = (struct sb_csv_setting){ name, of_run };
	return 0;
}

int sb_csv_settings_init(struct sb_csv_settings *settings, const struct sb_result *result)
{
	int rc = 0;

	*settings = (struct sb_csv_settings){ NULL, 0 };
	for (uint32_t i = 0; i < result->facts && !rc; i++) {
		const struct sb_fact *fact = &result->fact[i];

		if (!strcmp(fact->group, "options"))
			rc = add(settings, fact->key, fact->value);
	}
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];

		for (uint32_t s = 0; s < series->settings && !rc; s++)
			rc = add(settings, series->setting[s].name, NULL);
	}
	return rc;
}

void sb_csv_settings_fini(struct sb_csv_settings *settings)
{
	free(settings->setting);
}

void sb_csv_put_setting_names(FILE *out, const struct sb_csv_settings *settings)
{
	for (uint32_t i = 0; i < settings->n; i++) {
		char column[80];

		snprintf(column, sizeof(column), "setting_%s", settings->setting[i].name);
		fputc(',', out);
		sb_csv_put_text(out, column);
	}
}

void sb_csv_put_settings(FILE *out, const struct sb_csv_settings *settings,
			 const struct sb_series *series)
{
	for (uint32_t i = 0; i < settings->n; i++) {
		const struct sb_csv_setting *s = &settings->setting[i];
		const struct sb_setting *own = sb_series_setting(series, s->name);

		fputc(',', out);
		if (own || s->of_run)
			sb_csv_put_text(out, own ? own->text : s->of_run);
	}
}
