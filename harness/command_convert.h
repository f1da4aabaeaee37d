/* command_convert.h - the verb `convert`: a result in other tools' formats. */
#ifndef SB_HARNESS_COMMAND_CONVERT_H
#define SB_HARNESS_COMMAND_CONVERT_H

/* argv[0] is the program, argv[1] the verb. Returns an exit status. */
int sb_command_convert(int argc, char **argv);

#endif
