#include "harness/cli/trust.h"

#include <string.h>

#include "harness/plugin/plugin.h"
#include "harness/terminal/status.h"

/* Whether that value of the option runs code or writes a file. */
static bool acts(enum sb_option_id id, const char *text)
{
	if (!(sb_option[id].verbs & (SB_RUNS_CODE | SB_WRITES_FILE)) ||
	    !strcmp(text, sb_option[id].initial))
		return false;
	return id != SB_OPT_workload || sb_plugin_is_in(text);
}

int sb_trust_check_one(enum sb_option_id id, const char *text, const struct sb_options *given,
		       const char *name)
{
	if (!acts(id, text) || sb_opt(given, SB_OPT_trust) || !strcmp(text, given->value[id].text))
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "%s: its plan has --%s '%s', which %s; expected --trust, or the same option "
		       "on the command line",
		       name, sb_option[id].name, text,
		       sb_option[id].verbs & SB_RUNS_CODE ? "runs code" : "writes a file");
}

int sb_trust_check(const struct sb_options *stored, const struct sb_options *given,
		   const char *name)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		/* Its plug-ins are loaded, and so allowed. */
		if (id != SB_OPT_workload)
			rc = sb_trust_check_one((enum sb_option_id)id, stored->value[id].text,
						given, name);
	}
	return rc;
}

const char *sb_trust_hint(const struct sb_options *options)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (acts((enum sb_option_id)id, options->value[id].text))
			return " --trust";
	}
	return "";
}
