/* arrival_times.c - times from a file, for a histogram of service times or a trace of
 * arrivals. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/load/distribution.h"
#include "workloads/load/input.h"
#include "workloads/load/quantity.h"

static int add(struct sb_times *t, double ns, double weight)
{
	if (!(t->count & (t->count - 1))) {
		const size_t room = t->count ? 2 * (size_t)t->count : 1;
		double *times = reallocarray(t->ns, room, sizeof(*times));
		double *weights;

		if (!times)
			return -ENOMEM;
		t->ns = times;
		weights = reallocarray(t->weight, room, sizeof(*weights));
		if (!weights)
			return -ENOMEM;
		t->weight = weights;
	}
	t->ns[t->count] = ns;
	t->weight[t->count++] = weight;
	return 0;
}

/* "TIME", "TIME WEIGHT", or nothing but a comment. Cuts the line up. */
static int add_line(struct sb_times *t, char *line)
{
	static const char blanks[] = " \t\r\n";
	char *rest = NULL;
	const char *time;
	const char *weight;
	double ns;
	double w = 1;

	line[strcspn(line, "#")] = '\0';
	time = strtok_r(line, blanks, &rest);
	if (!time)
		return 0;
	weight = strtok_r(NULL, blanks, &rest);
	if (!sb_quantity_time(time, &ns) || strtok_r(NULL, blanks, &rest) ||
	    (weight && !sb_quantity_number(weight, &w)))
		return -EINVAL;
	return t->count < SB_TIMES ? add(t, ns, w) : -E2BIG;
}

static int read_lines(struct sb_times *t, FILE *in, const char *path, char *why)
{
	char line[SB_TIMES_LINE_BYTES];
	int rc = 0;

	for (uint32_t n = 1; !rc && fgets(line, sizeof(line), in); n++) {
		rc = strchr(line, '\n') || feof(in) ? add_line(t, line) : -EINVAL;
		if (rc == -EINVAL)
			snprintf(why, SB_WHY_BYTES,
				 "%s:%u: expected a time with its unit, such as 10us, and perhaps "
				 "its weight",
				 path, n);
		else if (rc)
			snprintf(why, SB_WHY_BYTES, "%s:%u: %s", path, n, strerror(-rc));
	}
	if (!rc && ferror(in)) {
		rc = -EIO;
		snprintf(why, SB_WHY_BYTES, "%s cannot be read", path);
	}
	return rc;
}

int sb_times_read(struct sb_times *t, const char *path, char *why)
{
	int rc;
	FILE *in = sb_input_open(path, &rc);

	*t = (struct sb_times){ 0 };
	if (!in) {
		snprintf(why, SB_WHY_BYTES, "%s cannot be opened: %s", path, sb_input_error(rc));
		return rc;
	}
	rc = read_lines(t, in, path, why);
	fclose(in);
	if (!rc && !t->count) {
		rc = -EINVAL;
		snprintf(why, SB_WHY_BYTES, "%s: there is no time in it", path);
	}
	if (rc)
		sb_times_fini(t);
	return rc;
}

void sb_times_fini(struct sb_times *t)
{
	free(t->ns);
	free(t->weight);
	*t = (struct sb_times){ 0 };
}
