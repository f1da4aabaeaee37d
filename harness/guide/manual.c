#include "harness/guide/manual.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/cli/verb.h"
#include "harness/cli/version.h"
#include "harness/guide/names.h"
#include "harness/guide/topics.h"
#include "harness/terminal/status.h"

/* ---- the man page, in man(7)'s macros ---- */

/* A line of text that is nothing but text: hyphens as they are typed, and no
 * macro at its beginning. */
static void put_text(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else
			putchar(*text);
	}
}

static void put_line(const char *text)
{
	put_text(text);
	putchar('\n');
}

/* The text in bold. */
static void put_bold(const char *text)
{
	fputs("\\fB", stdout);
	put_text(text);
	fputs("\\fR", stdout);
}

static void put_italic(const char *text)
{
	fputs("\\fI", stdout);
	put_text(text);
	fputs("\\fR", stdout);
}

static void put_section(const char *title)
{
	printf(".SH %s\n", title);
}

/* The following lines are indented under it. */
static void put_tag(void)
{
	puts(".TP");
}

static void put_synopsis(void)
{
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++) {
		put_bold("sched-bench ");
		put_bold(v->name);
		putchar(' ');
		put_line(v->arguments);
		puts(".br");
	}
}

static void put_verbs(void)
{
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++) {
		put_tag();
		put_bold(v->name);
		putchar(' ');
		put_line(v->arguments);
		put_text(v->summary);
		if (*v->words) {
			fputs(" (", stdout);
			put_text(v->words);
			putchar(')');
		}
		putchar('\n');
	}
}

/* "(run, topo)" */
static void put_verbs_of(const struct sb_option *option)
{
	const char *before = " (";

	for (const struct sb_verb_info *v = sb_verbs; v->name; v++) {
		if (!(option->verbs & v->options))
			continue;
		fputs(before, stdout);
		fputs(v->name, stdout);
		before = ", ";
	}
	fputs(")\n", stdout);
}

static void put_option(const struct sb_option *option)
{
	char name[80];

	put_tag();
	if (option->letter) {
		snprintf(name, sizeof(name), "-%c", option->letter);
		put_bold(name);
		fputs(", ", stdout);
	}
	snprintf(name, sizeof(name), "--%s", option->name);
	put_bold(name);
	if (option->form) {
		putchar(' ');
		put_italic(option->form);
	}
	putchar('\n');
	put_text(option->help);
	if (option->form && *option->initial) {
		fputs(" [", stdout);
		put_text(option->initial);
		putchar(']');
	}
	put_verbs_of(option);
}

static void put_options(void)
{
#define GROUP(title)	printf(".SS %s\n", title);
#define OPTION(id, ...) put_option(&sb_option[SB_OPT_##id]);
#include "harness/cli/options.def"
#undef OPTION
#undef GROUP
}

static void put_param(const struct sb_param *p)
{
	char text[SB_FORM_BYTES];

	puts(".br");
	snprintf(text, sizeof(text), "--%s", p->name);
	put_bold(text);
	fputs(": ", stdout);
	put_text(p->doc);
	if (sb_param_is_text(p)) {
		snprintf(text, sizeof(text), " [%s]", p->choices[0]);
		put_line(text);
		return;
	}
	fputs("; ", stdout);
	sb_param_describe(p, text);
	put_text(text);
	if (p->choices)
		printf(" [%s]\n", p->choices[p->initial]);
	else
		printf(" [%" PRIu64 "]\n", p->initial);
}

static void put_workloads(void)
{
	for (const struct sb_workload **w = sb_workloads; *w; w++) {
		put_tag();
		put_bold((*w)->name);
		putchar('\n');
		put_line((*w)->doc);
		for (const struct sb_param *p = (*w)->params; p->name; p++)
			put_param(p);
	}
}

static void put_lists(void)
{
	for (const struct sb_names *names = sb_names; names->plural; names++) {
		put_tag();
		put_bold(names->plural);
		putchar('\n');
		put_line(names->help);
	}
}

static void put_topics(void)
{
	for (const struct sb_topic *t = sb_topics; t->name; t++) {
		put_tag();
		put_bold(t->name);
		putchar('\n');
		put_line(t->summary);
	}
}

static const char description[] =
	"A complete work-stealing process scheduler, and the harness that measures it:\nwhich "
	"queue work came from, who stole from whom, how long workers spun before\nthey found work "
	"or slept, and what a message, a command or a process costs.\n"
	"Every row has a verdict: valid, suspect or invalid, and why.\n";

static const char job_files[] =
	"A job file says what a command line says, the other way round as "
	"\\fB\\-\\-show\\-job\\fR.\nA line is a section, an entry, or a comment after ; or #. "
	"\\fB[global]\\fR is for all\nother sections, each of which is a job: "
	"\\fIname\\fB=\\fIvalue\\fR for each option and each\nparameter by its long name, or the "
	"name alone for a flag. A value that begins or\nends with a blank stands in quotation "
	"marks, with \\e\\e, \\e\", \\en, \\er, \\et and\n\\exHH in it. The command line comes "
	"before the environment, that before the job,\nthat before \\fB[global]\\fR, that before "
	"the policy, that before the default.\n"
	".PP\n.EX\n[global]\nduration=2s\n\n[small]\nworkload=pingpong\n"
	"round\\-trips=1000\n.EE\n";

static const char environment[] =
	".TP\n\\fBSCHED_BENCH_\\fIOPTION\\fR\nEach option, in capitals and with _ for \\-: "
	"SCHED_BENCH_SPIN_YIELD=64 is\n\\-\\-spin\\-yield 64; of a flag, yes or no. Where "
	"\\-\\-output and \\-\\-format mean something else\nthan to run, the verb comes first: "
	"SCHED_BENCH_REPORT_FORMAT, SCHED_BENCH_PLOT_OUTPUT.\n"
	".TP\n\\fBNO_COLOR\\fR\nIf it is not empty, there are no colours. So it is with TERM=dumb, "
	"and on anything\nbut a terminal.\n";

static const char statuses[] = ".TP\n0\ndone\n.TP\n1\nregressed, or explore has found a "
			       "mistake\n.TP\n2\na measurement is invalid, "
			       "undecided or was interrupted\n.TP\n3\nan input is "
			       "wrong\n.TP\n4\nthis machine does not allow it\n.TP\n70\na bug\n";

static void put_man(void)
{
	puts(".TH SCHED\\-BENCH 1 \"\" \"sched-bench " SB_VERSION "\" \"User Commands\"");
	put_section("NAME");
	put_line("sched-bench - measures its own work-stealing scheduler of actors");
	put_section("SYNOPSIS");
	put_synopsis();
	put_section("DESCRIPTION");
	fputs(description, stdout);
	put_section("VERBS");
	put_verbs();
	put_section("LISTS");
	put_line("What list shows, one of");
	put_lists();
	put_section("TOPICS");
	put_line("What help explains besides verbs and all that list names.");
	put_topics();
	put_section("OPTIONS");
	put_line("In brackets the default and the verbs that have it.");
	put_options();
	put_section("WORKLOADS");
	put_line("Each with the parameters that it adds to the options of run.");
	put_workloads();
	put_section("JOB FILES");
	fputs(job_files, stdout);
	put_section("ENVIRONMENT");
	fputs(environment, stdout);
	put_section("EXIT STATUS");
	fputs(statuses, stdout);
}

int sb_manual(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[2] : "";

	if (strcmp(what, "man") != 0)
		return sb_fail(SB_EXIT_USAGE, "manual: expected man, not '%s'", what);
	put_man();
	return 0;
}
