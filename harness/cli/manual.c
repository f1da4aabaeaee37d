#include "harness/cli/manual.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "affinity/profile/profile.h"
#include "harness/cli/verb.h"
#include "harness/cli/version.h"
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
	for (const struct sb_workload *const *w = sb_workloads; *w; w++) {
		put_tag();
		put_bold((*w)->name);
		putchar('\n');
		put_line((*w)->doc);
		for (const struct sb_param *p = (*w)->params; p->name; p++)
			put_param(p);
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
	put_line("sched-bench - measures a work-stealing process scheduler");
	put_section("SYNOPSIS");
	put_synopsis();
	put_section("DESCRIPTION");
	fputs(description, stdout);
	put_section("VERBS");
	put_verbs();
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

/* ---- the completion ---- */

/* Of a form the alternatives that are words. */
static void put_choices(const char *form)
{
	while (*form) {
		const size_t length = strcspn(form, "|");
		bool is_word = true;

		for (size_t i = 0; i < length; i++)
			is_word &= !isupper((unsigned char)form[i]) && form[i] != ':';
		if (is_word)
			printf(" %.*s", (int)length, form);
		form += length + (form[length] == '|');
	}
}

static bool has_choices(const char *form)
{
	return strcmp(form, "TEXT") && strcmp(form, "N") && strcmp(form, "TIME") &&
	       strcmp(form, "SIZE") && strcmp(form, "PERCENT");
}

/* "--wake) words='local affine global' ;;" */
static void put_values(void)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		const struct sb_option *option = &sb_option[id];

		if (!option->form || !has_choices(option->form))
			continue;
		printf("\t--%s) words='", option->name);
		put_choices(option->form);
		puts("' ;;");
	}
	fputs("\t--workload | -w) words='", stdout);
	for (const struct sb_workload *const *w = sb_workloads; *w; w++)
		printf(" %s", (*w)->name);
	fputs("' ;;\n\t--profile) words='", stdout);
	for (const struct sb_profile *p = sb_profiles; p->name; p++)
		printf(" %s", p->name);
	puts("' ;;");
}

/* Every option that takes a value: after it comes no option. */
static void put_takers(void)
{
	const char *before = "\t";

	for (int id = 0; id < SB_OPTIONS; id++) {
		const struct sb_option *option = &sb_option[id];

		if (!option->form)
			continue;
		printf("%s--%s", before, option->name);
		before = " | ";
		if (option->letter)
			printf(" | -%c", option->letter);
	}
	puts(") ;;");
}

static bool is_new(const struct sb_workload *const *workload, const char *name)
{
	for (const struct sb_workload *const *w = sb_workloads; w < workload; w++) {
		for (const struct sb_param *p = (*w)->params; p->name; p++) {
			if (!strcmp(p->name, name))
				return false;
		}
	}
	return true;
}

static void put_params(void)
{
	for (const struct sb_workload *const *w = sb_workloads; *w; w++) {
		for (const struct sb_param *p = (*w)->params; p->name; p++) {
			if (is_new(w, p->name))
				printf(" --%s", p->name);
		}
	}
}

static void put_verb_words(const struct sb_verb_info *verb)
{
	printf("\t%s) words='%s", verb->name, verb->words);
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (sb_option[id].verbs & verb->options)
			printf(" --%s", sb_option[id].name);
	}
	if (verb->options & SB_VERB_RUN)
		put_params();
	if (!verb->options)
		fputs(" --json", stdout);
	puts("' ;;");
}

/* With =, bash makes three words of --name=value. */
static void put_bash(void)
{
	puts("# Completion of sched-bench for bash, made from its tables.\n"
	     "_sched_bench() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\n"
	     "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	     "\tif [[ $cur == = ]]; then\n"
	     "\t\tcur=\n"
	     "\telif [[ $prev == = ]]; then\n"
	     "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	     "\tfi\n"
	     "\tCOMPREPLY=()\n"
	     "\tcase $prev in");
	put_values();
	put_takers();
	puts("\t*) case ${COMP_WORDS[1]} in");
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++)
		put_verb_words(v);
	fputs("\tesac ;;\n"
	      "\tesac\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\twords='",
	      stdout);
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++)
		printf("%s ", v->name);
	puts("--help --version'\n"
	     "\tfi\n"
	     "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	     "}\n"
	     "complete -o default -F _sched_bench sched-bench");
}

int sb_manual(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[2] : "";

	if (!strcmp(what, "man"))
		put_man();
	else if (!strcmp(what, "bash"))
		put_bash();
	else
		return sb_fail(SB_EXIT_USAGE, "manual: expected man or bash, not '%s'", what);
	return 0;
}
