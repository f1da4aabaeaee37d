/*
 * plugin.h - workloads that are not part of the command: -w ./mine.so, a shared object that shows
 * struct sb_plugin (workloads/calls.h), -w ./mine.c, which is compiled to one first, or -w ./mine.ini,
 * which describes one.
 *
 * One that was loaded is a workload like any other until the command ends. Call these
 * functions from the command's first thread, before a run. Those that return int return 0, or an
 * exit status after they have printed an error.
 */
#ifndef SB_HARNESS_PLUGIN_PLUGIN_H
#define SB_HARNESS_PLUGIN_PLUGIN_H

#include "workloads/calls.h"

/* Whether a workload of that name is a file: it has a slash, or ends in .so, .c or .ini. */
bool sb_plugin_is_file(const char *name);

/* Loads it, unless it has been; *out may be NULL. where: "FILE:LINE:COLUMN" of an error, or NULL. */
SB_MUST_CHECK int sb_plugin_load(const char *file, const char *where,
				 const struct sb_workload **out);

/* Loads those of a list of workloads, by commas. */
SB_MUST_CHECK int sb_plugin_load_list(const char *workloads, const char *where);

/* Loads those that a command line names with -w, before it is read: their parameters are options. */
SB_MUST_CHECK int sb_plugin_load_named(int argc, char **argv);

/* Whether a list of workloads, by commas, names one with code, which a description has not. */
bool sb_plugin_is_in(const char *workloads);

/* From now on, code is refused unless it is loaded already: a stored plan of that name is being
 * parsed. NULL: code is loaded as before. */
void sb_plugin_distrust(const char *plan);

/* Makes the plug-in call these functions; NULL: the command's own. False: it is no plug-in. */
bool sb_plugin_use(const struct sb_workload *workload, const struct sb_plugin_calls *calls);

/* The word that chooses it with -w: its name, or its file as it was named first. */
const char *sb_plugin_word(const struct sb_workload *workload);

/* The file of the plug-in that the dynamic linker calls so; NULL: it is none. Safe in a handler. */
const char *sb_plugin_of_object(const char *object);

/* The folder with the headers for plug-ins: of the installation, or of the tree. */
#define SB_PLUGIN_PATH_BYTES 4096
SB_MUST_CHECK int sb_plugin_include(char out[SB_PLUGIN_PATH_BYTES]);

#endif
