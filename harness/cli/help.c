#include "harness/cli/help.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/options.h"
#include "harness/cli/verb.h"
#include "harness/cli/version.h"
#include "harness/terminal/progress.h"
#include "results/text/escape.h"

void sb_help(void)
{
	puts("sched-bench " SB_VERSION " - measures its own work-stealing scheduler of actors\n");
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++)
		printf("  %-10s %s\n", v->name, v->summary);
	puts("\n"
	     "Try:  sched-bench demo; sched-bench help questions; sched-bench help topics\n"
	     "\n"
	     "Exit status: 0 done; 1 gate or explore found something; 2 invalid, undecided or\n"
	     "cut short; 3 an input is wrong; 4 this machine or a limit forbids it; 70 a bug.");
}

int sb_help_columns(void)
{
	return isatty(STDOUT_FILENO) ? sb_terminal_columns(stdout) : INT_MAX;
}

void sb_help_wrapped(const char *text, int column)
{
	const int columns = sb_help_columns();

	text = sb_terminal_text(text);
	while ((int)strlen(text) > columns - column) {
		int n = columns - column;

		while (n > 0 && text[n] != ' ')
			n--;
		if (n <= 0)
			break;
		printf("%.*s\n%*s", n, text, column, "");
		text += n + 1;
	}
	puts(text);
}

/* With all options on a line each, what they are for begins here. */
#define WIDE	    125
#define WIDE_COLUMN 48
#define COLUMN	    28

bool sb_help_is_narrow(void)
{
	return sb_help_columns() < WIDE;
}

int sb_help_column(void)
{
	return sb_help_is_narrow() ? COLUMN : WIDE_COLUMN;
}

/* "--wake local|affine|global" in one column, its help and default behind. */
void sb_help_option(const struct sb_option *option)
{
	const int column = sb_help_column();
	char left[80];
	char right[200];
	int width;

	width = snprintf(left, sizeof(left), "  %s%c%s--%s%s%s", option->letter ? "-" : " ",
			 option->letter ? option->letter : ' ', option->letter ? ", " : "  ",
			 option->name, option->form ? " " : "", option->form ? option->form : "");
	snprintf(right, sizeof(right), option->form && *option->initial ? "%s [%s]" : "%s",
		 option->help, option->initial);
	if (width >= column)
		printf("%s\n%*s", left, column, "");
	else
		printf("%-*s", column, left);
	sb_help_wrapped(right, column);
}

/* options.def, line by line. */
static const struct {
	const char *title; /* of a group; NULL: an option */
	enum sb_option_id id;
} lines[] = {
#define GROUP(name)	{ name, SB_OPTIONS },
#define OPTION(id, ...) { NULL, SB_OPT_##id },
#include "harness/cli/options.def"
#undef OPTION
#undef GROUP
};

/* The verb's options by group; groups without any are left out. */
static void put_options_of(enum sb_verb verb)
{
	const char *title = NULL;

	for (size_t i = 0; i < SB_ARRAY_SIZE(lines); i++) {
		if (lines[i].title) {
			title = lines[i].title;
		} else if (sb_option[lines[i].id].verbs & verb) {
			if (title)
				printf("\n%s:\n", title);
			title = NULL;
			sb_help_option(&sb_option[lines[i].id]);
		}
	}
}

void sb_help_verb(enum sb_verb verb)
{
	const struct sb_verb_info *info = sb_verb_of(verb);

	puts(info->about);
	if (info->list)
		info->list();
	put_options_of(verb);
	if (info->more)
		puts(info->more);
}
