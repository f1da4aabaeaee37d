/* models.c - the texts of the models that come with the command. */
#include "harness/virtual/models.h"

#include <stddef.h>

#include "results/embed.h"

#define MODEL(symbol, name)                                                                        \
	SB_EMBED(sb_model_text_##symbol, "harness/virtual/models/" name ".json");                  \
	extern const char sb_model_text_##symbol[];
#include "harness/virtual/models.def"
#undef MODEL

const struct sb_named_model sb_named_models[] = {
#define MODEL(symbol, name) { name, sb_model_text_##symbol },
#include "harness/virtual/models.def"
#undef MODEL
	{ NULL, NULL },
};
