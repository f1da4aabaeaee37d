/* compile.h - a plug-in's source to a shared object. */
#ifndef SB_HARNESS_PLUGIN_COMPILE_H
#define SB_HARNESS_PLUGIN_COMPILE_H

#include "harness/plugin/plugin.h"

/* How, but for the folder of the headers and the files. */
#define SB_PLUGIN_FLAGS "-std=gnu11 -O2 -g -fPIC -shared -Wall"

/* With the system's compiler, cc, or with $CC. object: a new file, which the caller removes.
 * Returns 0, or an exit status after an error has been printed. */
SB_MUST_CHECK int sb_plugin_compile(const char *source, char object[SB_PLUGIN_PATH_BYTES]);

#endif
