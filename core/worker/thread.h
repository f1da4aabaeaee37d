/* thread.h - the thread of a worker, from its set-up to its end. */
#ifndef SB_CORE_WORKER_THREAD_H
#define SB_CORE_WORKER_THREAD_H

#include "core/platform/base.h"

struct sb_worker;

/* Its body. arg: struct sb_worker_thread. Makes the worker if there is none. */
void *sb_worker_thread_run(void *arg);

/* Frees a worker whose thread has ended. */
void sb_worker_destroy(struct sb_worker *worker);

#endif
