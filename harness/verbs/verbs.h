/*
 * verbs.h - what the table of verbs refers to. A verb gets the program as argv[0]
 * and itself as argv[1], and returns an exit status.
 */
#ifndef SB_HARNESS_VERBS_VERBS_H
#define SB_HARNESS_VERBS_VERBS_H

#define VERB(name, ...) int sb_command_##name(int argc, char **argv);
#include "harness/verbs/verbs.def"
#undef VERB

/* Parts of the help: the kinds of `micro` and Google's flags, the kinds of
 * pictures, the formats of `convert`, and what `list` lists. */
void sb_micro_help(void);
void sb_list_plots(void);
void sb_list_formats(void);
void sb_list_kinds(void);

#endif
