/* version.h - the version of the command. */
#ifndef SB_HARNESS_CLI_VERSION_H
#define SB_HARNESS_CLI_VERSION_H

#define SB_VERSION "0.1.0"

#endif
