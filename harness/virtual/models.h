/* models.h - the models that come with the command; models.def lists them. */
#ifndef SB_HARNESS_VIRTUAL_MODELS_H
#define SB_HARNESS_VIRTUAL_MODELS_H

struct sb_named_model {
	const char *name;
	const char *json;
};

extern const struct sb_named_model sb_named_models[]; /* ends with a NULL name */

#endif
