/* command_gate.h - the verb `gate`: whether something has become worse. */
#ifndef SB_HARNESS_COMMAND_GATE_H
#define SB_HARNESS_COMMAND_GATE_H

/* argv[0] is the program, argv[1] the verb. Returns an exit status. */
int sb_command_gate(int argc, char **argv);

#endif
