/*
 * manual.h - the man page and the completion for bash, from the tables of verbs,
 * options and workloads.
 */
#ifndef SB_HARNESS_CLI_MANUAL_H
#define SB_HARNESS_CLI_MANUAL_H

/* The hidden verb `manual`: argv[2] is man or bash. Returns an exit status. */
int sb_manual(int argc, char **argv);

#endif
