#include "harness/verbs/verbs.h"

#include <string.h>

#include "harness/cli/verb.h"

const struct sb_verb_info sb_verbs[] = {
#define VERB(name, options, words, arguments, summary, advice, about, list, more)                  \
	{ #name, options, words, arguments, summary, advice, about, list, more, sb_command_##name },
#include "harness/verbs/verbs.def"
#undef VERB
	{ NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }
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
