#include "results/ledger/findings.h"

#include "results/files/wrap.h"
#include "results/ledger/exemplars.h"
#include "results/ledger/spin.h"
#include "results/ledger/steal.h"
#include "results/ledger/timeseries.h"

void sb_write_ledger_findings(const struct sb_result *result, FILE *out, int columns)
{
	static void (*const put[])(FILE * out, const struct sb_result *result,
				   const struct sb_series *series) = {
		sb_put_slowest,
		sb_put_spin_finding,
		sb_put_steal_finding,
		sb_put_timeseries_finding,
	};
	struct sb_wrap wrap;
	FILE *stream = sb_wrap_begin(&wrap, out, &columns);

	for (size_t p = 0; p < SB_ARRAY_SIZE(put); p++) {
		for (uint32_t i = 0; i < result->all_series; i++)
			put[p](stream, result, &result->series[i]);
	}
	sb_wrap_end(&wrap);
}
