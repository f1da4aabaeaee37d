/* command_sweep.h - the verb `sweep`. */
#ifndef SB_HARNESS_COMMAND_SWEEP_H
#define SB_HARNESS_COMMAND_SWEEP_H

/* argv[0] is the program, argv[1] the verb. Returns an exit status. */
int sb_command_sweep(int argc, char **argv);

#endif
