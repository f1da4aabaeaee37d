/* command_micro.h - the verb `micro`: the scheduler's primitives under Google
 * Benchmark, and their instructions. */
#ifndef SB_HARNESS_COMMAND_MICRO_H
#define SB_HARNESS_COMMAND_MICRO_H

/* argv[0] is the program, argv[1] the verb. Returns an exit status. */
int sb_command_micro(int argc, char **argv);

/* The part of its help that lists the kinds, and Google's flags. */
void sb_micro_help(void);

#endif
