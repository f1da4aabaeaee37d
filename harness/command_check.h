/* command_check.h - the verb `check`: what would spoil a measurement here. */
#ifndef SB_HARNESS_COMMAND_CHECK_H
#define SB_HARNESS_COMMAND_CHECK_H

/* argv[0] is the program, argv[1] the verb. Returns an exit status. */
int sb_command_check(int argc, char **argv);

#endif
