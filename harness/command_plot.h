#ifndef SB_HARNESS_COMMAND_PLOT_H
#define SB_HARNESS_COMMAND_PLOT_H

/* The verb `plot`; argv[1] is its name. Returns an exit status. */
int sb_command_plot(int argc, char **argv);

/* The kinds of pictures, a line each. */
void sb_list_plots(void);

#endif
