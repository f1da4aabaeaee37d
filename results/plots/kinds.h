/*
 * kinds.h - the functions of results/pictures/, one for each kind of picture: they fill in the plot,
 * or return false after sb_plot_refuse has said why the kind does not apply.
 */
#ifndef SB_RESULTS_PLOTS_KINDS_H
#define SB_RESULTS_PLOTS_KINDS_H

#include "results/plots/plot.h"

bool sb_plot_cost(struct sb_plot *plot, int unused);
bool sb_plot_latency(struct sb_plot *plot, int hist);
bool sb_plot_load(struct sb_plot *plot, int unused);
bool sb_plot_steals(struct sb_plot *plot, int unused);
bool sb_plot_distance(struct sb_plot *plot, int unused);
bool sb_plot_steal_ledger(struct sb_plot *plot, int unused);
bool sb_plot_spins(struct sb_plot *plot, int unused);
bool sb_plot_spin_ledger(struct sb_plot *plot, int unused);
bool sb_plot_thresholds(struct sb_plot *plot, int unused);
bool sb_plot_scaling(struct sb_plot *plot, int unused);
bool sb_plot_sweep(struct sb_plot *plot, int unused);
bool sb_plot_heat(struct sb_plot *plot, int unused);
bool sb_plot_tradeoff(struct sb_plot *plot, int unused);
bool sb_plot_timeseries(struct sb_plot *plot, int unused);
bool sb_plot_account(struct sb_plot *plot, int unused);
bool sb_plot_timeline(struct sb_plot *plot, int unused);

#endif
