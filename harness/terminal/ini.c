#include "harness/terminal/ini.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/load/input.h"

/* A line while it is read: [at, end) is what is left of it. */
struct line {
	const char *start;
	const char *at;
	const char *end;
	uint32_t number;
	const char *const *repeated; /* names of entries; NULL: none */
	struct sb_ini_error *error;
};

static uint32_t column_of(const struct line *line, const char *at)
{
	return (uint32_t)(at - line->start) + 1;
}

static int SB_PRINTF(3, 4) fail_at(const struct line *line, const char *at, const char *format, ...)
{
	va_list args;

	line->error->line = line->number;
	line->error->column = column_of(line, at);
	va_start(args, format);
	vsnprintf(line->error->why, sizeof(line->error->why), format, args);
	va_end(args);
	return -EINVAL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct line *line)
{
	while (line->at < line->end && is_blank(*line->at))
		line->at++;
}

/* [at, end) without the blanks at its end. */
static const char *trimmed(const char *at, const char *end)
{
	while (end > at && is_blank(end[-1]))
		end--;
	return end;
}

static char *copy(const char *from, const char *to)
{
	return to > from ? strndup(from, (size_t)(to - from)) : strdup("");
}

/* ---- room ---- */

static struct sb_ini_section *add_section(struct sb_ini *ini)
{
	struct sb_ini_section *grown = realloc(ini->section, (ini->sections + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	ini->section = grown;
	grown[ini->sections] = (struct sb_ini_section){ 0 };
	return &grown[ini->sections++];
}

static struct sb_ini_entry *add_entry(struct sb_ini_section *section)
{
	struct sb_ini_entry *grown =
		realloc(section->entry, (section->entries + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	section->entry = grown;
	grown[section->entries] = (struct sb_ini_entry){ 0 };
	return &grown[section->entries++];
}

const struct sb_ini_section *sb_ini_find(const struct sb_ini *ini, const char *name)
{
	for (uint32_t i = 0; i < ini->sections; i++) {
		if (!strcmp(ini->section[i].name, name))
			return &ini->section[i];
	}
	return NULL;
}

/* ---- a section ---- */

static int read_section(struct sb_ini *ini, struct line *line)
{
	const char *open = line->at;
	const char *close = memchr(open, ']', (size_t)(line->end - open));
	const struct sb_ini_section *other;
	struct sb_ini_section *section;

	if (!close)
		return fail_at(line, line->end, "the section's name has no end; expected ]");
	if (trimmed(close + 1, line->end) != close + 1)
		return fail_at(line, close + 1, "text after ]; expected the end of the line");
	line->at++;
	skip_blanks(line);
	if (line->at >= close)
		return fail_at(line, open, "the section has no name; expected [NAME]");
	if (ini->sections == SB_INI_PARTS)
		return fail_at(line, open, "one section too many; expected at most %d",
			       SB_INI_PARTS);
	section = add_section(ini);
	if (!section)
		return -ENOMEM;
	section->name = copy(line->at, trimmed(line->at, close));
	section->line = line->number;
	section->column = column_of(line, open);
	if (!section->name)
		return -ENOMEM;
	other = sb_ini_find(ini, section->name);
	if (other != section)
		return fail_at(
			line, open,
			"section [%.60s] is there already, in line %u; expected another name",
			other->name, other->line);
	return 0;
}

/* ---- an entry ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const struct {
	char letter;
	char stands_for;
} escapes[] = { { 'n', '\n' }, { 't', '\t' }, { 'r', '\r' }, { '"', '"' }, { '\\', '\\' } };

/* After a backslash. */
static int read_escape(struct line *line, char *out)
{
	const char *at = line->at;

	for (size_t i = 0; at < line->end && i < SB_ARRAY_SIZE(escapes); i++) {
		if (*at != escapes[i].letter)
			continue;
		*out = escapes[i].stands_for;
		line->at++;
		return 0;
	}
	if (line->end - at >= 3 && *at == 'x') {
		const int high = hex_digit(at[1]);
		const int low = hex_digit(at[2]);

		*out = (char)(16 * high + low);
		line->at += 3;
		if (high >= 0 && low >= 0 && *out)
			return 0;
	}
	return fail_at(line, at - 1, "unknown escape; expected \\\\, \\\", \\n, \\r, \\t or \\xHH");
}

/* out: as large as what is left of the line, which is longer than what it
 * stands for. */
static int read_quoted(struct line *line, char *out)
{
	const char *open = line->at++;
	int rc = 0;

	while (!rc && line->at < line->end && *line->at != '"') {
		if (*line->at++ == '\\')
			rc = read_escape(line, out++);
		else
			*out++ = line->at[-1];
	}
	if (rc)
		return rc;
	if (line->at == line->end)
		return fail_at(line, open, "the value has no end; expected \"");
	line->at++;
	if (line->at != line->end)
		return fail_at(line, line->at,
			       "text after the value; expected the end of the line");
	*out = '\0';
	return 0;
}

static int read_value(struct sb_ini_entry *entry, struct line *line)
{
	skip_blanks(line);
	line->end = trimmed(line->at, line->end);
	entry->value_column = column_of(line, line->at);
	entry->is_quoted = line->at < line->end && *line->at == '"';
	entry->value = copy(line->at, line->end);
	if (!entry->value)
		return -ENOMEM;
	return entry->is_quoted ? read_quoted(line, entry->value) : 0;
}

static const struct sb_ini_entry *find_entry(const struct sb_ini_section *section, const char *name,
					     uint32_t before)
{
	for (uint32_t i = 0; i < before; i++) {
		if (!strcmp(section->entry[i].name, name))
			return &section->entry[i];
	}
	return NULL;
}

static bool may_repeat(const struct line *line, const char *name)
{
	const char *const *repeated = line->repeated;

	while (repeated && *repeated && strcmp(*repeated, name) != 0)
		repeated++;
	return repeated && *repeated;
}

static int read_entry(struct sb_ini *ini, struct line *line)
{
	const char *start = line->at;
	const char *equals = memchr(start, '=', (size_t)(line->end - start));
	const char *end = trimmed(start, equals ? equals : line->end);
	struct sb_ini_section *section;
	struct sb_ini_entry *entry;
	const struct sb_ini_entry *other;

	if (end == start)
		return fail_at(line, start, "there is no name before =; expected NAME=VALUE");
	if (!ini->sections)
		return fail_at(line, start,
			       "an entry before any section; expected [global] or [JOB]");
	section = &ini->section[ini->sections - 1];
	if (section->entries == SB_INI_PARTS)
		return fail_at(line, start, "one entry too many; expected at most %d in [%.60s]",
			       SB_INI_PARTS, section->name);
	entry = add_entry(section);
	if (!entry)
		return -ENOMEM;
	entry->line = line->number;
	entry->name_column = column_of(line, start);
	entry->name = copy(start, end);
	if (!entry->name)
		return -ENOMEM;
	other = find_entry(section, entry->name, section->entries - 1);
	if (other && !may_repeat(line, entry->name))
		return fail_at(line, start,
			       "%.60s is there already, in line %u; expected it once in [%.60s]",
			       entry->name, other->line, section->name);
	if (!equals)
		return 0;
	line->at = equals + 1;
	return read_value(entry, line);
}

/* ---- the whole ---- */

static int read_line(struct sb_ini *ini, struct line *line)
{
	const char *zero = memchr(line->at, '\0', (size_t)(line->end - line->at));

	if (zero)
		return fail_at(line, zero, "a byte 0; expected text");
	skip_blanks(line);
	if (line->at == line->end || *line->at == ';' || *line->at == '#')
		return 0;
	return *line->at == '[' ? read_section(ini, line) : read_entry(ini, line);
}

static int parse(struct sb_ini *ini, const char *text, size_t bytes, const char *const *repeated,
		 struct sb_ini_error *error)
{
	const char *end = text + bytes;
	struct line line = { .repeated = repeated, .error = error };
	int rc = 0;

	*ini = (struct sb_ini){ 0 };
	while (!rc && text < end) {
		const char *feed = memchr(text, '\n', (size_t)(end - text));

		line.number++;
		line.start = text;
		line.at = text;
		line.end = feed ? feed : end;
		text = feed ? feed + 1 : end;
		rc = read_line(ini, &line);
	}
	if (rc)
		sb_ini_free(ini);
	return rc;
}

int sb_ini_parse(struct sb_ini *ini, const char *text, size_t bytes, struct sb_ini_error *error)
{
	return parse(ini, text, bytes, NULL, error);
}

int sb_ini_read(struct sb_ini *ini, const char *path, const char *const *repeated,
		struct sb_ini_error *error)
{
	int rc;
	FILE *in = sb_input_open(path, &rc);
	char *text = in ? malloc(SB_INI_BYTES) : NULL;
	size_t bytes = 0;

	if (in && !text)
		rc = -ENOMEM;
	if (text) {
		errno = 0;
		bytes = fread(text, 1, SB_INI_BYTES, in);
		rc = ferror(in) ? -(errno ? errno : EIO) : 0;
		if (bytes == SB_INI_BYTES)
			rc = -EFBIG;
		/* This one is of the text, and has a place there. */
		if (rc == -EINVAL)
			rc = -EIO;
	}
	if (!rc)
		rc = parse(ini, text, bytes, repeated, error);
	free(text);
	if (in)
		fclose(in);
	return rc;
}

void sb_ini_free(struct sb_ini *ini)
{
	for (uint32_t i = 0; i < ini->sections; i++) {
		struct sb_ini_section *section = &ini->section[i];

		for (uint32_t e = 0; e < section->entries; e++) {
			free(section->entry[e].name);
			free(section->entry[e].value);
		}
		free(section->entry);
		free(section->name);
	}
	free(ini->section);
	*ini = (struct sb_ini){ 0 };
}

/* ---- writing ---- */

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

static bool needs_quotes(const char *value)
{
	const size_t length = strlen(value);

	if (!length)
		return false;
	if (*value == '"' || is_blank(*value) || is_blank(value[length - 1]))
		return true;
	for (const char *c = value; *c; c++) {
		if (is_control(*c))
			return true;
	}
	return false;
}

void sb_ini_put_value(FILE *out, const char *value, bool quoted)
{
	if (!quoted && !needs_quotes(value)) {
		fputs(value, out);
		return;
	}
	fputc('"', out);
	for (const char *c = value; *c; c++) {
		if (is_control(*c))
			fprintf(out, "\\x%02x", (unsigned char)*c);
		else
			fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
	}
	fputc('"', out);
}
