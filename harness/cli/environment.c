/* environment.c - options from the environment: SCHED_BENCH_SPIN_YIELD=64 is --spin-yield 64. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/options.h"
#include "harness/cli/reading.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"

#define PREFIX	       "SCHED_BENCH_"
#define PREFIX_LENGTH  strlen(PREFIX)
#define VARIABLE_BYTES 64

void sb_option_environment(enum sb_option_id id, char *out, size_t bytes)
{
	const char *name = sb_option[id].name;

	for (int other = 0; other < SB_OPTIONS; other++) {
		if (other != (int)id && !strcmp(sb_option[other].name, name))
			name = sb_option[id].id;
	}
	snprintf(out, bytes, PREFIX "%s", name);
	for (char *c = out; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper(*c);
}

void sb_options_clear_environment(void)
{
	char name[VARIABLE_BYTES];

	for (int id = 0; id < SB_OPTIONS; id++) {
		sb_option_environment((enum sb_option_id)id, name, sizeof(name));
		unsetenv(name);
	}
}

static const char *option_name(const void *unused, size_t i)
{
	(void)unused;
	return i < SB_OPTIONS ? sb_option[i].name : NULL;
}

/* The name of an option, "spin-yield", from "SPIN_YIELD=64". */
static void name_of(const char *variable, char out[VARIABLE_BYTES])
{
	snprintf(out, VARIABLE_BYTES, "%.*s", (int)strcspn(variable, "="), variable);
	for (char *c = out; *c; c++)
		*c = *c == '_' ? '-' : (char)tolower(*c);
}

/* "did you mean SCHED_BENCH_SPIN_YIELD?", or where to look. */
static void suggest(const char *name, char *out, size_t bytes)
{
	const char *like = sb_most_like(name, option_name, NULL);
	char variable[VARIABLE_BYTES];

	if (!like) {
		snprintf(out, bytes, "sched-bench list options names them");
		return;
	}
	sb_option_environment(sb_option_find(SB_VERBS_ALL, like), variable, sizeof(variable));
	snprintf(out, bytes, "did you mean %s?", variable);
}

static int refuse_variable(const char *variable)
{
	const int length = (int)strcspn(variable, "=");
	char name[VARIABLE_BYTES];
	char text[VARIABLE_BYTES + 32];

	name_of(variable + PREFIX_LENGTH, name);
	if (sb_param_find(name))
		return sb_fail(SB_EXIT_USAGE,
			       "%.*s (in the environment): %s is a parameter of a workload; "
			       "expected --%s on the command line or in a job file",
			       length, variable, name, name);
	suggest(name, text, sizeof(text));
	return sb_fail(SB_EXIT_USAGE, "%.*s (in the environment): it is of no option; %s", length,
		       variable, text);
}

static bool is_twin(const char *variable)
{
	char name[VARIABLE_BYTES];

	for (int id = 0; id < SB_OPTIONS; id++) {
		sb_option_environment((enum sb_option_id)id, name, sizeof(name));
		if (!strncmp(variable, name, strlen(name)) && variable[strlen(name)] == '=')
			return true;
	}
	return false;
}

/* A misspelt one would leave the default in place. */
int sb_options_check_environment(void)
{
	for (char **variable = environ; *variable; variable++) {
		if (!strncmp(*variable, PREFIX, PREFIX_LENGTH) && !is_twin(*variable))
			return refuse_variable(*variable);
	}
	return 0;
}

int sb_options_from_environment(struct sb_options *options, enum sb_verb verb)
{
	char name[VARIABLE_BYTES];
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		const char *text;

		sb_option_environment(id, name, sizeof(name));
		text = sb_option[id].verbs & verb ? getenv(name) : NULL;
		if (text)
			rc = sb_options_set(options, id, text, "environment");
	}
	return rc;
}
