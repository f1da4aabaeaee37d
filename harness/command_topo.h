/* command_topo.h - the verb `topo`: argv[2] is what to do. */
#ifndef SB_HARNESS_COMMAND_TOPO_H
#define SB_HARNESS_COMMAND_TOPO_H

/* Returns an exit status. */
int sb_command_topo(int argc, char **argv);

#endif
