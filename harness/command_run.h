/* command_run.h - the verb `run`. */
#ifndef SB_HARNESS_COMMAND_RUN_H
#define SB_HARNESS_COMMAND_RUN_H

/* argv[0] is the program, argv[1] the verb. Returns an exit status. */
int sb_command_run(int argc, char **argv);

#endif
