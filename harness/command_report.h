/* command_report.h - the verb `report`: a page on results, or Markdown. */
#ifndef SB_HARNESS_COMMAND_REPORT_H
#define SB_HARNESS_COMMAND_REPORT_H

/* argv[0] is the program, argv[1] the verb. Returns an exit status. */
int sb_command_report(int argc, char **argv);

#endif
