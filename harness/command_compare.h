/* command_compare.h - the verb `compare`: two results that are there. */
#ifndef SB_HARNESS_COMMAND_COMPARE_H
#define SB_HARNESS_COMMAND_COMPARE_H

/* argv[0] is the program, argv[1] the verb. Returns an exit status. */
int sb_command_compare(int argc, char **argv);

#endif
