/* help.h - what the command says about itself. */
#ifndef SB_HARNESS_HELP_H
#define SB_HARNESS_HELP_H

void sb_help(void);
void sb_help_run(void);
void sb_help_report(void);
void sb_help_sweep(void);
void sb_help_ab(void);
void sb_help_compare(void);
void sb_help_topo(void);
void sb_help_plot(void);
void sb_help_check(void);
void sb_help_calibrate(void);
void sb_help_convert(void);
void sb_help_micro(void);
void sb_help_gate(void);

/* The verb `list`: argv[2] is what to list. Returns an exit status. */
int sb_command_list(int argc, char **argv);

/* `topo list`: argv[1], if it is there, is --json. Returns an exit status. */
int sb_list_profiles(int argc, char **argv);

#endif
