/*
 * trace.c - a trace is written during the run; here it is copied.
 */
#include <errno.h>
#include <stdlib.h>

#include "results/convert/convert.h"
#include "results/files/file.h"

int sb_convert_trace(const struct sb_result *result, FILE *out)
{
	char *path = sb_path_join(result->directory, "trace.json");
	const int rc = path ? sb_file_copy(path, out) : -ENOMEM;

	free(path);
	return rc == -ENOENT ? -ENODATA : rc;
}
