/* facts.h - what a result says about the machine, the run and the options. */
#ifndef SB_HARNESS_OUTPUT_FACTS_H
#define SB_HARNESS_OUTPUT_FACTS_H

#include "affinity/topology.h"
#include "harness/cli/options.h"
#include "results/record/record.h"

/* Of that many workers. On a profile's topology, this machine is read, too. Returns 0, or an exit
 * status after an error has been printed. */
SB_MUST_CHECK int sb_facts_gather(struct sb_result *result, const struct sb_options *options,
				  const struct sb_topology *topology, uint32_t workers, int argc,
				  char **argv);

/* The meaning of a run's times; is_other_machine: it is placed on another machine than this. */
enum sb_reality sb_facts_reality(const struct sb_options *options, bool is_other_machine);

/* The words of a command, as a shell reads them back; for the caller to free.
 * NULL: no memory. */
char *sb_facts_join(int argc, char **argv);

/* Version, revision, mode and compiler of this program. */
const char *sb_facts_build(void);

#endif
