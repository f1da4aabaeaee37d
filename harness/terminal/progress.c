#include "harness/terminal/progress.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "core/platform/platform.h"
#include "results/text/escape.h"

#define COLUMNS_UNKNOWN 80

/* ---- what the terminal can do ---- */

static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

bool sb_terminal_has_color(FILE *out)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(fileno(out)) && !is_dumb() && !(no_color && *no_color);
}

int sb_terminal_columns(FILE *out)
{
	struct winsize size = { 0 };

	if (ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS_UNKNOWN;
	return size.ws_col;
}

int sb_terminal_width(FILE *out)
{
	return isatty(fileno(out)) ? sb_terminal_columns(out) : 0;
}

static struct sb_terminal_skill skill_of(FILE *out)
{
	setlocale(LC_CTYPE, "");
	return (struct sb_terminal_skill){
		.unicode = !strcmp(nl_langinfo(CODESET), "UTF-8"),
		.color = sb_terminal_has_color(out),
		.erases = !is_dumb(),
	};
}

/* ---- text of a certain width ---- */

/* A line while it is put together. */
struct line {
	char *out;
	size_t bytes; /* so far */
	int width;    /* of these, in columns */
	int columns;  /* it may have */
	struct sb_terminal_skill skill;
};

static void put_bytes(struct line *line, const char *bytes, size_t n)
{
	if (line->bytes + n >= SB_PROGRESS_BYTES)
		return;
	memcpy(line->out + line->bytes, bytes, n);
	line->bytes += n;
	line->out[line->bytes] = '\0';
}

static void put_color(struct line *line, const char *sequence)
{
	if (line->skill.color)
		put_bytes(line, sequence, strlen(sequence));
}

/* The next character: its bytes and its columns. A character that the terminal cannot show,
 * or would obey, is a question mark. */
static size_t next_character(const struct line *line, const char *text, const char **shown,
			     int *width)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t n = 1;

	*shown = text;
	*width = 1;
	if ((unsigned char)*text < 0x80) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*shown = "?";
		return 1;
	}
	if (line->skill.unicode) {
		n = mbrtowc(&wide, text, strlen(text), &state);
		if (n != (size_t)-1 && n != (size_t)-2) {
			*width = wcwidth(wide);
			if (*width >= 0)
				return n;
		} else {
			n = 1;
		}
	}
	*shown = "?";
	*width = 1;
	return n;
}

/* As much of it as there is room for. */
static void put_text(struct line *line, const char *text)
{
	while (*text) {
		const char *shown;
		int width;
		const size_t n = next_character(line, text, &shown, &width);

		if (line->width + width > line->columns)
			return;
		put_bytes(line, shown, shown == text ? n : 1);
		line->width += width;
		text += n;
	}
}

static int width_of(const char *text, struct sb_terminal_skill skill)
{
	char unused[SB_PROGRESS_BYTES];
	struct line line = { .out = unused, .columns = SB_PROGRESS_BYTES, .skill = skill };

	put_text(&line, text);
	return line.width;
}

/* ---- the parts of a line ---- */

enum part { COUNT, LABEL, PHASE, ESTIMATE, SPREAD, LEFT, PARTS };

#define LEFT_BYTES 40

static void describe_left(char out[LEFT_BYTES], double left_s)
{
	const uint64_t s = left_s > 0 ? (uint64_t)ceil(left_s) : 0;

	if (isnan(left_s))
		out[0] = '\0';
	else if (s < 100)
		snprintf(out, LEFT_BYTES, "%" PRIu64 " s left", s);
	else if (s < 6000)
		snprintf(out, LEFT_BYTES, "%" PRIu64 " min left", (s + 59) / 60);
	else
		snprintf(out, LEFT_BYTES, "%" PRIu64 " h %02" PRIu64 " min left", s / 3600,
			 s / 60 % 60);
}

/* "+-3 %": how far the farthest is off. */
static void describe_spread(char *out, const struct sb_estimate *e, struct sb_terminal_skill skill)
{
	const double off = fmax(e->high - e->value, e->value - e->low);
	const double percent = 100 * off / e->value;

	if (isnan(e->low) || isnan(e->high) || !(e->value > 0))
		return;
	snprintf(out, SB_PROGRESS_TEXT, " %s%.*f %%", skill.unicode ? "\xc2\xb1" : "+-",
		 percent < 9.95 ? 1 : 0, percent);
}

static void describe_estimate(char texts[PARTS][SB_PROGRESS_TEXT], const struct sb_estimate *e,
			      struct sb_terminal_skill skill)
{
	if (!e->unit || isnan(e->value))
		return;
	/* As in the summary: tenths below 1000. */
	snprintf(texts[ESTIMATE], SB_PROGRESS_TEXT, "  %.*f %s", fabs(e->value) < 1000 ? 1 : 0,
		 e->value, e->unit);
	describe_spread(texts[SPREAD], e, skill);
}

static void describe(char texts[PARTS][SB_PROGRESS_TEXT], const struct sb_progress_view *view,
		     struct sb_terminal_skill skill)
{
	char left[LEFT_BYTES];

	for (int i = 0; i < PARTS; i++)
		texts[i][0] = '\0';
	snprintf(texts[COUNT], SB_PROGRESS_TEXT, "%" PRIu32 "/%" PRIu32, view->steps, view->all);
	if (*view->label)
		snprintf(texts[LABEL], SB_PROGRESS_TEXT, " %s", sb_terminal_text(view->label));
	if (*view->phase)
		snprintf(texts[PHASE], SB_PROGRESS_TEXT, "%s %s", *view->label ? ":" : "",
			 view->phase);
	describe_estimate(texts, &view->estimate, skill);
	describe_left(left, view->left_s);
	if (*left)
		snprintf(texts[LEFT], SB_PROGRESS_TEXT, "  %s", left);
}

/* The parts left out first when room is short; the count stays. */
static const enum part dispensable[] = { PHASE, SPREAD, ESTIMATE, LABEL, LEFT };

static void drop_parts(char texts[PARTS][SB_PROGRESS_TEXT], int columns,
		       struct sb_terminal_skill skill)
{
	int width = 0;

	for (int i = 0; i < PARTS; i++)
		width += width_of(texts[i], skill);
	for (size_t i = 0; width > columns && i < SB_ARRAY_SIZE(dispensable); i++) {
		width -= width_of(texts[dispensable[i]], skill);
		texts[dispensable[i]][0] = '\0';
	}
}

/* ---- the bar ---- */

#define BAR_MIN 8
#define BAR_MAX 30

/* A block of so many eighths of a column. */
static const char *const eighths[] = {
	" ",
	"\xe2\x96\x8f",
	"\xe2\x96\x8e",
	"\xe2\x96\x8d",
	"\xe2\x96\x8c",
	"\xe2\x96\x8b",
	"\xe2\x96\x8a",
	"\xe2\x96\x89",
	"\xe2\x96\x88",
};

static void put_cell(struct line *line, double filled)
{
	if (line->skill.unicode)
		put_text(line, eighths[(int)fmin(8, fmax(0, 8 * filled))]);
	else
		put_text(line, filled >= 1 ? "#" : "-");
}

static void put_bar(struct line *line, double share, int width)
{
	put_text(line, line->skill.unicode ? "\xe2\x96\x95" : "[");
	put_color(line, "\033[32m");
	for (int i = 0; i < width; i++)
		put_cell(line, share * width - i);
	put_color(line, "\033[0m");
	put_text(line, line->skill.unicode ? "\xe2\x96\x8f " : "] ");
}

/* The room that the texts leave; 0: not enough. Its ends and a blank are 3 columns. */
static int bar_width(char texts[PARTS][SB_PROGRESS_TEXT], int columns,
		     struct sb_terminal_skill skill)
{
	int room = columns - 3;

	for (int i = 0; i < PARTS; i++)
		room -= width_of(texts[i], skill);
	if (room > BAR_MAX)
		return BAR_MAX;
	return room < BAR_MIN ? 0 : room;
}

int sb_progress_line(char out[SB_PROGRESS_BYTES], const struct sb_progress_view *view, int columns,
		     struct sb_terminal_skill skill)
{
	struct line line = { .out = out, .columns = columns > 1 ? columns - 1 : 0, .skill = skill };
	char texts[PARTS][SB_PROGRESS_TEXT];
	int bar;

	out[0] = '\0';
	describe(texts, view, skill);
	drop_parts(texts, line.columns, skill);
	bar = bar_width(texts, line.columns, skill);
	if (bar)
		put_bar(&line, view->share, bar);
	for (int i = 0; i < PARTS; i++)
		put_text(&line, texts[i]);
	return line.width;
}

/* ---- the one that is on the terminal ---- */

/* More often, nobody could read it. */
#define REDRAW_NS UINT64_C(50000000)

/* There is one terminal. */
static struct sb_progress *shown;
static _Atomic(bool) is_drawn;

void sb_progress_open(struct sb_progress *progress, FILE *out, bool quiet)
{
	*progress = (struct sb_progress){
		.start_ns = sb_clock_ns(),
		.view = { .left_s = NAN, .estimate.value = NAN },
	};
	progress->view.label = progress->label;
	progress->view.phase = progress->phase;
	if (quiet || !isatty(fileno(out)))
		return;
	progress->out = out;
	progress->skill = skill_of(out);
	shown = progress;
}

void sb_progress_plan(struct sb_progress *progress, uint32_t steps, double planned_ns)
{
	progress->view.all = steps;
	progress->planned_ns = planned_ns;
}

void sb_progress_done(struct sb_progress *progress, uint32_t steps, double planned_ns)
{
	progress->view.steps += steps;
	progress->done_ns += planned_ns;
	if (progress->view.all < progress->view.steps)
		progress->view.all = progress->view.steps;
}

void sb_progress_estimate(struct sb_progress *progress, const struct sb_estimate *estimate)
{
	progress->view.estimate = *estimate;
}

/* The rest takes as much longer than planned as the done part took. */
static double left_s(const struct sb_progress *progress)
{
	const double left = progress->planned_ns - progress->done_ns;
	const double passed = (double)(sb_clock_ns() - progress->start_ns);

	if (!(left > 0))
		return NAN;
	return 1e-9 * left * (progress->done_ns > 0 ? passed / progress->done_ns : 1);
}

static void erase(struct sb_progress *progress)
{
	if (!progress->width)
		return;
	if (progress->skill.erases)
		fputs("\r\033[K", progress->out);
	else
		fprintf(progress->out, "\r%*s\r", progress->width, "");
	sb_store_rlx(&is_drawn, false);
	progress->width = 0;
}

/* In one piece, or it flickers. */
static void draw(struct sb_progress *progress)
{
	const int columns = sb_terminal_columns(progress->out);
	char line[SB_PROGRESS_BYTES];
	const int width = sb_progress_line(line, &progress->view, columns, progress->skill);
	const int rest = progress->width < columns ? progress->width - width : columns - 1 - width;

	if (progress->skill.erases)
		fprintf(progress->out, "\r%s\033[K", line);
	else
		fprintf(progress->out, "\r%s%*s", line, rest > 0 ? rest : 0, "");
	progress->width = width;
	sb_store_rlx(&is_drawn, true);
}

void sb_progress_phase(struct sb_progress *progress, const char *label, const char *phase)
{
	const uint64_t now = sb_clock_ns();
	const bool is_new = strncmp(progress->label, label, sizeof(progress->label) - 1) != 0;

	snprintf(progress->label, sizeof(progress->label), "%s", label);
	snprintf(progress->phase, sizeof(progress->phase), "%s", phase);
	if (is_new)
		progress->view.estimate.value = NAN;
	if (!progress->out || (progress->width && !is_new && now - progress->drawn_ns < REDRAW_NS))
		return;
	progress->view.share =
		progress->planned_ns > 0 ? fmin(1, progress->done_ns / progress->planned_ns) : 0;
	progress->view.left_s = left_s(progress);
	progress->drawn_ns = now;
	draw(progress);
}

void sb_progress_hide(void)
{
	if (shown)
		erase(shown);
}

void sb_progress_hide_in_handler(void)
{
	static const char sequence[] = "\r\033[K";

	/* A line that cannot be erased is at least not written over. */
	if (sb_load_rlx(&is_drawn) && write(STDERR_FILENO, sequence, sizeof(sequence) - 1) < 0)
		return;
}

void sb_progress_close(struct sb_progress *progress)
{
	if (!progress->out)
		return;
	erase(progress);
	progress->out = NULL;
	shown = NULL;
}
