#include "results/ledger/files.h"

#include "results/files/csv.h"
#include "results/files/file.h"
#include "results/ledger/spin.h"
#include "results/ledger/steal.h"
#include "results/ledger/timeseries.h"

static const struct {
	const char *name;
	bool (*has)(const struct sb_result *result);
	int (*write)(const struct sb_result *result, FILE *out);
} tables[] = {
	{ "spin_ledger.csv", sb_result_has_spin_ledger, sb_write_spin_ledger_csv },
	{ "steal_ledger.csv", sb_result_has_steal_ledger, sb_write_steal_ledger_csv },
	{ "timeseries.csv", sb_result_has_timeseries, sb_write_timeseries_csv },
};

static int write_table(const struct sb_result *result, size_t i)
{
	struct sb_file file;
	int rc = sb_file_begin(&file, result->directory, tables[i].name);

	if (rc)
		return rc;
	rc = tables[i].write(result, file.stream);
	if (rc)
		sb_file_abandon(&file);
	else
		rc = sb_file_commit(&file);
	return rc;
}

int sb_write_tables(const struct sb_result *result, const char **failed)
{
	int rc = sb_write_csv_files(result, failed);

	for (size_t i = 0; i < SB_ARRAY_SIZE(tables) && !rc; i++) {
		if (!tables[i].has(result))
			continue;
		*failed = tables[i].name;
		rc = write_table(result, i);
	}
	return rc;
}
