/* job_names.c - which options a job file has, and which of them are lists. */
#include "harness/cli/job_names.h"

#include <string.h>

#include "harness/cli/job.h"

/* What is of the whole run: one clock, one result directory, one output. */
static const enum sb_option_id common[] = {
	SB_OPT_clock,	   SB_OPT_output,   SB_OPT_output_root, SB_OPT_format,	SB_OPT_export_json,
	SB_OPT_export_csv, SB_OPT_no_plots, SB_OPT_quiet,	SB_OPT_verbose,
};

bool sb_option_is_common(enum sb_option_id id)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(common); i++) {
		if (common[i] == id)
			return true;
	}
	return false;
}

bool sb_job_is_question(enum sb_option_id id)
{
	return id == SB_OPT_help || id == SB_OPT_show_job || id == SB_OPT_resume ||
	       id == SB_OPT_collect || id == SB_OPT_other_build;
}

/* No rate or share has a comma in it, though their text is free. */
static bool is_free_text(enum sb_option_id id)
{
	return sb_option[id].form && !strcmp(sb_option[id].form, "TEXT") && id != SB_OPT_rate &&
	       id != SB_OPT_load;
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
