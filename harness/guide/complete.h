/* complete.h - what may stand where the cursor is, for the completions of bash, zsh and fish. */
#ifndef SB_HARNESS_GUIDE_COMPLETE_H
#define SB_HARNESS_GUIDE_COMPLETE_H

/*
 * The hidden verb `complete SHELL -- WORD...`: the words behind the command's name, the last one as
 * far as it has been typed. Prints what the last one may become, a candidate on a line; for others
 * than bash with a tab and an explanation. None: the shell may offer files. Returns an exit status.
 */
int sb_complete_line(int argc, char **argv);

#endif
