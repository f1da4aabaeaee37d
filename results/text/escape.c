
#include <stdlib.h>
#include <string.h>

#include "results/text/escape.h"

/* ---- characters ---- */

/* Strictly: no overlong form, no surrogate, nothing beyond Unicode. */
static uint32_t decode(const unsigned char *at, size_t *bytes)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const size_t n = *at < 0x80 ? 1 : *at >= 0xf8 ? 0 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
	uint32_t code = n > 1 ? *at & (0x7fU >> n) : *at;

	*bytes = 1;
	for (size_t i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return SB_NO_CHARACTER;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (!n || code < least[n] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
		return SB_NO_CHARACTER;
	*bytes = n;
	return code;
}

/* No control characters; nothing that changes the direction of writing or begins a line; nothing
 * that is no character in XML. */
static bool is_plain(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} others[] = { { 0, 0x1f },	   { 0x7f, 0x9f },
		       { 0x61c, 0x61c },   { 0x200e, 0x200f },
		       { 0x2028, 0x202e }, { 0x2066, 0x2069 },
		       { 0xfffe, 0xffff }, { SB_NO_CHARACTER, SB_NO_CHARACTER } };

	for (size_t i = 0; i < SB_ARRAY_SIZE(others); i++) {
		if (code >= others[i].first && code <= others[i].last)
			return false;
	}
	return true;
}

bool sb_next_character(const char **rest, struct sb_character *c)
{
	if (!**rest)
		return false;
	c->at = *rest;
	c->code = decode((const unsigned char *)c->at, &c->bytes);
	c->is_plain = is_plain(c->code);
	*rest += c->bytes;
	return true;
}

char *sb_text_copy(const char *text)
{
	char *copy = malloc(strlen(text) + 1);
	char *to = copy;
	struct sb_character c;

	while (copy && sb_next_character(&text, &c)) {
		if (c.is_plain || *c.at == '\n' || *c.at == '\t') {
			memcpy(to, c.at, c.bytes);
			to += c.bytes;
		} else {
			*to++ = '?';
		}
	}
	if (copy)
		*to = '\0';
	return copy;
}

/* ---- what most targets have in common ---- */

/* What stands for a character: the text behind it in one of the rules. NULL: there is none. */
static const char *find(const char *const *rules, char c)
{
	for (; *rules; rules++) {
		if (**rules == c)
			return *rules + 1;
	}
	return NULL;
}

static void put_character(FILE *out, const struct sb_character *c, const char *const *rules)
{
	const char *instead = find(rules, *c->at);
	const char *backslash;

	if (instead || c->is_plain) {
		fwrite(instead ? instead : c->at, 1, instead ? strlen(instead) : c->bytes, out);
		return;
	}
	backslash = find(rules, '\\');
	fputs(backslash ? backslash : "\\", out);
	if (c->bytes > 1)
		fprintf(out, "u%04x", c->code);
	else
		fprintf(out, "x%02x", (unsigned char)*c->at);
}

/* rules: each a character and what stands for it; the last is NULL. */
static void put(FILE *out, const char *text, const char *const *rules)
{
	struct sb_character c;

	while (sb_next_character(&text, &c))
		put_character(out, &c, rules);
}

/* ---- the terminal ---- */

#define AT_ONCE 16

static bool is_all_plain(const char *text)
{
	struct sb_character c;

	while (sb_next_character(&text, &c)) {
		if (!c.is_plain)
			return false;
	}
	return true;
}

const char *sb_terminal_text(const char *text)
{
	static const char *const none[] = { NULL };
	static _Thread_local char *kept[AT_ONCE];
	static _Thread_local unsigned int next;
	char **copy = &kept[next % AT_ONCE];
	size_t bytes;
	FILE *out;

	if (is_all_plain(text))
		return text;
	next++;
	free(*copy);
	*copy = NULL;
	out = open_memstream(copy, &bytes);
	if (!out)
		return "?";
	put(out, text, none);
	if (!fclose(out))
		return *copy;
	free(*copy);
	*copy = NULL;
	return "?";
}

/* ---- CSV ---- */

/* Where the character is that a spreadsheet would evaluate, behind apostrophes; NULL: there is
 * none. */
static const char *find_formula(const char *cell)
{
	const char *at = cell + strspn(cell, "'");

	return *at && strchr("=+-@\t\r", *at) ? at : NULL;
}

static bool is_number(const char *text)
{
	char *end;

	(void)strtod(text, &end);
	return !*end && !text[strspn(text, "+-.0123456789eE")];
}

void sb_csv_put_text(FILE *out, const char *text)
{
	const char *guard = find_formula(text) && !is_number(text) ? "'" : "";
	const char *quote = strpbrk(text, "\",\r\n") ? "\"" : "";

	fprintf(out, "%s%s", quote, guard);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputs(quote, out);
}

void sb_csv_restore(char *cell)
{
	if (*cell == '\'' && find_formula(cell))
		memmove(cell, cell + 1, strlen(cell));
}

/* ---- pages ---- */

void sb_html(FILE *out, const char *text)
{
	static const char *const rules[] = { "<&lt;",  ">&gt;", "&&amp;", "\"&quot;",
					     "'&#39;", "\n\n",	"\t ",	  NULL };

	put(out, text, rules);
}

void sb_put_xml(FILE *out, const char *text)
{
	static const char *const rules[] = { "<&lt;",  ">&gt;",	  "&&amp;", "\"&quot;",
					     "'&#39;", "\n&#10;", "\t&#9;", NULL };

	put(out, text, rules);
}

/* Of a text so much is shown in Markdown. */
#define MARKDOWN_BYTES 1000

void sb_put_markdown(FILE *out, const char *text)
{
	/* Nobody is to be notified: a comment follows the @. */
	static const char *const rules[] = { "<&lt;", ">&gt;", "&&amp;", "@@<!-- -->", "\\\\\\",
					     "`\\`",  "*\\*",  "_\\_",	 "[\\[",       "]\\]",
					     "|\\|",  "~\\~",  "#\\#",	 "$\\$",       "!\\!",
					     "\n ",   "\t ",   NULL };
	const char *begin = text;
	struct sb_character c;

	while (text - begin < MARKDOWN_BYTES && sb_next_character(&text, &c))
		put_character(out, &c, rules);
	if (*text)
		fputs(" …", out);
}

/* ---- CI ---- */

void sb_put_annotation(FILE *out, const char *text, bool property)
{
	static const char *const message[] = { "%%25", "\r%0D", "\n%0A", NULL };
	static const char *const value[] = { "%%25", "\r%0D", "\n%0A", ":%3A", ",%2C", NULL };

	put(out, text, property ? value : message);
}

void sb_put_openmetrics(FILE *out, const char *text)
{
	static const char *const rules[] = { "\n\\n", "\t\t", "\"\\\"", "\\\\\\", NULL };

	put(out, text, rules);
}

/* ---- shells ---- */

static bool needs_no_quotes(const char *word)
{
	return *word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					   "0123456789%+,-./:=@_")];
}

void sb_put_shell(FILE *out, const char *word)
{
	if (needs_no_quotes(word)) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\'", out);
		fputc(*word, out);
	}
	fputc('\'', out);
}

bool sb_put_sbatch(FILE *out, const char *word)
{
	const char *rest = word;
	struct sb_character c;

	while (sb_next_character(&rest, &c)) {
		if (c.code < ' ' || c.code == 0x7f)
			return false;
	}
	if (needs_no_quotes(word)) {
		fputs(word, out);
		return true;
	}
	fputc('"', out);
	for (; *word; word++)
		fprintf(out, strchr("\"\\", *word) ? "\\%c" : "%c", *word);
	fputc('"', out);
	return true;
}
