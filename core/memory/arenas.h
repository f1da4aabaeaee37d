/* arenas.h - which worker's memory comes from which arena. */
#ifndef SB_CORE_MEMORY_ARENAS_H
#define SB_CORE_MEMORY_ARENAS_H

#include "core/platform/base.h"

struct sb_scheduler;

/* Makes all arenas, as configured and placed, and gives each worker's thread
 * its own. Returns 0 or -ENOMEM; fini also after that. */
int sb_arenas_init(struct sb_scheduler *scheduler);
void sb_arenas_fini(struct sb_scheduler *scheduler);

#endif
