#include "harness/output/rows.h"

#include <stdio.h>

#include "harness/terminal/status.h"
#include "results/json/json_out.h"

int sb_rows_put(json_t *rows, enum sb_format format)
{
	if (format == SB_FORMAT_CSV)
		return sb_json_put_csv(rows, stdout) ? sb_fail_memory() : 0;
	if (sb_json_put(rows, stdout, JSON_INDENT(1)))
		return sb_fail_memory();
	putchar('\n');
	return 0;
}
