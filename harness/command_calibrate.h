/* command_calibrate.h - the verb `calibrate`: what things cost here. */
#ifndef SB_HARNESS_COMMAND_CALIBRATE_H
#define SB_HARNESS_COMMAND_CALIBRATE_H

/* Returns the command's exit status. */
int sb_command_calibrate(int argc, char **argv);

#endif
