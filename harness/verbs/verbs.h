/*
 * verbs.h - what the table of verbs refers to. A verb gets the program as argv[0]
 * and itself as argv[1], and returns an exit status.
 */
#ifndef SB_HARNESS_VERBS_VERBS_H
#define SB_HARNESS_VERBS_VERBS_H

#define VERB(name, ...) int sb_command_##name(int argc, char **argv);
#include "harness/verbs/verbs.def"
#undef VERB

/* `topo list`: argv[1], if it is there, is --json. Returns an exit status. */
int sb_list_profiles(int argc, char **argv);

/* Parts of the help: the kinds of `micro` and Google's flags, the kinds of
 * pictures, and the formats of `convert`. */
void sb_micro_help(void);
void sb_list_plots(void);
void sb_list_formats(void);

#endif
