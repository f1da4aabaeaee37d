/*
 * trace.c - a trace is written during the run; here it is copied.
 */
#include <errno.h>
#include <stdlib.h>

#include "results/convert/convert.h"
#include "results/file.h"

#define COPY_BYTES 65536

static int copy(FILE *in, FILE *out)
{
	char buffer[COPY_BYTES];
	size_t n;

	/* What cannot be written the stream remembers. */
	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		(void)fwrite(buffer, 1, n, out);
	return ferror(in) ? -EIO : 0;
}

int sb_convert_trace(const struct sb_result *result, FILE *out)
{
	char *path = sb_path_join(result->directory, "trace.json");
	FILE *in = path ? fopen(path, "re") : NULL;
	int rc = -ENOMEM;

	if (path)
		rc = in ? copy(in, out) : errno == ENOENT ? -ENODATA : -errno;
	if (in)
		fclose(in);
	free(path);
	return rc;
}
