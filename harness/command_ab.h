/* command_ab.h - the verb `ab`: two sides, measured in interleaved pairs. */
#ifndef SB_HARNESS_COMMAND_AB_H
#define SB_HARNESS_COMMAND_AB_H

/* argv[0] is the program, argv[1] the verb. Returns an exit status. */
int sb_command_ab(int argc, char **argv);

#endif
