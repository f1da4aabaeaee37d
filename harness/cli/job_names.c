/* job_names.c - which options a job file has, and which of them are lists. */
#include "harness/cli/job_names.h"

#include <string.h>

#include "harness/cli/job.h"

bool sb_option_is_common(enum sb_option_id id)
{
	return sb_option[id].verbs & SB_WHOLE_RUN;
}

bool sb_job_is_question(enum sb_option_id id)
{
	return sb_option[id].verbs & SB_NOT_IN_JOBS;
}

static bool is_free_text(enum sb_option_id id)
{
	return sb_option_is_text(&sb_option[id]) && !(sb_option[id].verbs & SB_NUMERIC);
}

bool sb_job_is_list(enum sb_verb verb, const char *name, const char *text)
{
	const enum sb_option_id id = sb_option_find(verb, name);
	const struct sb_param *param = sb_param_find(name);

	if (!strchr(text, ',') && !strstr(text, ".."))
		return false;
	if (id != SB_OPTIONS)
		return !is_free_text(id) && !sb_option_is_common(id);
	return param && !sb_param_is_text(param);
}
