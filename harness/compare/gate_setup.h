/* gate_setup.h - what setting a gate up is made of. */
#ifndef SB_HARNESS_COMPARE_GATE_SETUP_H
#define SB_HARNESS_COMPARE_GATE_SETUP_H

#include "harness/compare/gate.h"

/* Adds a word to the command line of a job. Returns an exit status. */
int sb_gate_add_word(struct sb_gate_job *job, const char *format, ...) SB_PRINTF(2, 3);

/* Those of `gate` that are not those of `run` by the same name. */
bool sb_gate_is_run_option(int id);

/* Whether `run` has another default. */
bool sb_gate_is_other_in_run(int id);

/* Adds --NAME=TEXT, or nothing where that is the default. Returns an exit status. */
int sb_gate_add_option(struct sb_gate_job *job, int id, const char *text);

/* For sb_gate_setup_free in any case. NULL: an error has been printed. */
struct sb_gate_job *sb_gate_add_job(struct sb_gate_setup *setup, const char *workload);

bool sb_gate_has_param(const struct sb_workload *workload, const char *name);

/* Adds the jobs of a gate in virtual time: each kind of work of suite.def on each of its
 * machines. -w with parameters stands instead of the works, --profile instead of the machines.
 * Returns an exit status. */
int sb_gate_add_suite(struct sb_gate_setup *setup, const struct sb_options *options);

/* Takes the jobs from the stored result that is the baseline. Returns an exit status. */
int sb_gate_take_result(struct sb_gate_setup *setup);

#endif
