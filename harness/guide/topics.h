/* topics.h - the texts of `help TOPIC`, from topics.def: READMEs, and a table of one. */
#ifndef SB_HARNESS_GUIDE_TOPICS_H
#define SB_HARNESS_GUIDE_TOPICS_H

struct sb_topic {
	const char *name;
	const char *summary;
	const char *text;
	const char *section; /* whose table is the topic; NULL: the text as it stands */
};

/* Ends with a NULL name. */
extern const struct sb_topic sb_topics[];

/* NULL: there is none. */
const struct sb_topic *sb_topic_find(const char *name);

/* The rows of tables in the texts whose first cell names that. Returns how many there are. */
int sb_topics_define(const char *word);

void sb_topic_put(const struct sb_topic *topic);

#endif
