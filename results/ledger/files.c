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

int sb_write_tables(const struct sb_result *result, const char **failed)
{
	int rc = sb_write_csv_files(result, failed);

	for (size_t i = 0; i < SB_ARRAY_SIZE(tables) && !rc; i++) {
		if (!tables[i].has(result))
			continue;
		*failed = tables[i].name;
		rc = sb_file_write(result, tables[i].name, tables[i].write);
	}
	return rc;
}
