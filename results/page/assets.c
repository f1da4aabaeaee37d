/*
 * assets.c - the style sheet and the script, which are files of their own, as
 * text. Nothing but them is style or script to a browser: the policy names
 * their hashes, which the Makefile takes.
 */
#include "page_hashes.h"
#include "results/embed.h"
#include "results/page/page.h"

SB_EMBED(sb_page_css, "results/page/page.css");
SB_EMBED(sb_page_js, "results/page/page.js");

const char sb_page_policy[] =
	"default-src 'none'; style-src '" SB_PAGE_CSS_HASH "'; script-src '" SB_PAGE_JS_HASH
	"'; img-src data:; base-uri 'none'; form-action 'none'";
