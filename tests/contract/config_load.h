/*
 * config_load.h - the processes of test_config: each sends to its neighbour and to itself, sleeps,
 * and ends; some spawn another one.
 */
#ifndef SB_TESTS_CONTRACT_CONFIG_LOAD_H
#define SB_TESTS_CONTRACT_CONFIG_LOAD_H

#include "affinity/schedbench.h"

#define LOAD_PROCESSES 1000

extern const struct sb_process_ops load_ops;

/* Callbacks that count. */
int load_on_start(void *hook, sb_pid pid);
void load_on_complete(void *hook, const struct sb_exit *exit);
void load_on_drop(void *hook, const struct sb_event *event);

/* Passes messages on to the scheduler of load_submit. */
extern struct sb_receiver load_router;

void load_submit(struct sb_scheduler *scheduler);

/* When all have ended: each process has, once, and no message is lost. What a missing callback
 * would have counted is left out. */
void load_check(const struct sb_config *config);

/* Ends the program with the text, if the condition does not hold. */
void load_require(bool condition, const char *text);

#endif
