/* manual.h - the man page, from the tables of verbs, options, workloads and names. */
#ifndef SB_HARNESS_GUIDE_MANUAL_H
#define SB_HARNESS_GUIDE_MANUAL_H

/* The hidden verb `manual`: argv[2] is man. Returns an exit status. */
int sb_manual(int argc, char **argv);

#endif
