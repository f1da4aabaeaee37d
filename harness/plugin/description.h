/*
 * description.h - a workload that a file describes: -w ./web-tier.ini. In the job file's syntax:
 *
 *     [workload]
 *     doc = a web tier with a cache and a database
 *     rate = 20k/s                  unless --rate or the like says how often
 *     arrival = poisson             unless --arrival does
 *
 *     [frontend]                    the first kind of processes: requests come to it
 *     processes = 16                1, if it does not say
 *     work = exp:5us                CPU time: a distribution, as of --service
 *     call = cache                  waits for the reply
 *     call = 10% database           of one request in ten
 *
 *     [cache]
 *     state = 64KiB                 of each process; its work goes through it
 *     work = 500ns
 *
 *     [database]
 *     processes = 4
 *     work = lognormal:100us:200us
 *     send = 2 replica, log         two replicas and a log; does not wait
 *     ...
 *
 * Entries are done in their order. "each replica" is all of its processes. A kind calls kinds that
 * stand below it.
 */
#ifndef SB_HARNESS_PLUGIN_DESCRIPTION_H
#define SB_HARNESS_PLUGIN_DESCRIPTION_H

#include "workloads/described/description.h"

/* Returns 0, or an exit status after an error has been printed, with its line and column. where:
 * "FILE:LINE:COLUMN" of the file's name, or NULL. */
SB_MUST_CHECK int sb_description_read(const char *file, const char *where,
				      struct sb_description **out);
/* Whether the file describes a workload; a job file does not. */
bool sb_description_is(const char *file);

void sb_description_free(struct sb_description *description);

#endif
