#include "harness/verbs.h"

#include <string.h>

#include "harness/command_ab.h"
#include "harness/command_calibrate.h"
#include "harness/command_check.h"
#include "harness/command_compare.h"
#include "harness/command_convert.h"
#include "harness/command_gate.h"
#include "harness/command_micro.h"
#include "harness/command_plot.h"
#include "harness/command_report.h"
#include "harness/command_run.h"
#include "harness/command_sweep.h"
#include "harness/command_topo.h"
#include "harness/help.h"

const struct sb_verb_info sb_verbs[] = {
#define VERB(name, options, words, arguments, summary, advice)                 \
	{                                                                      \
		#name,	options,	  words, arguments, summary,           \
		advice, sb_command_##name                                      \
	},
#include "harness/verbs.def"
#undef VERB
	{ NULL, 0, NULL, NULL, NULL, NULL, NULL }
};

const struct sb_verb_info *sb_verb_find(const char *name)
{
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++) {
		if (!strcmp(v->name, name))
			return v;
	}
	return NULL;
}

const struct sb_verb_info *sb_verb_of(enum sb_verb verb)
{
	const struct sb_verb_info *v = sb_verbs;

	while (v->options != (unsigned int)verb)
		v++;
	return v;
}
