/* relations.h - monitors and links. */
#ifndef SB_CORE_PROCESS_RELATIONS_H
#define SB_CORE_PROCESS_RELATIONS_H

#include "core/word.h"

struct sb_exit;
struct sb_scheduler;
struct sb_worker;

#define SB_RELATION_LOCKS 64

enum sb_relation_kind {
	SB_RELATION_MONITOR, /* one is told when the other ends */
	SB_RELATION_LINK,    /* each ends when the other fails */
};

/* Between the process that the worker runs and another. Errors: see the
 * commands in core/commands.h. */
int sb_relation_add(struct sb_worker *worker, enum sb_relation_kind kind, sb_pid peer);
int sb_relation_remove(struct sb_worker *worker, enum sb_relation_kind kind, sb_pid peer);

/* Tells all who are to know. The process's word is Complete. */
void sb_relations_end(struct sb_scheduler *scheduler, struct sb_worker *worker,
		      struct sb_process *process, const struct sb_exit *exit);

#endif
