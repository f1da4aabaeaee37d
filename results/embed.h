/* embed.h - a file of the tree as text in the program. */
#ifndef SB_RESULTS_EMBED_H
#define SB_RESULTS_EMBED_H

/* Defines `symbol`, a string. The Makefile says that the object depends on the file. */
#define SB_EMBED(symbol, file)                                                                     \
	__asm__(".pushsection .rodata\n"                                                           \
		".global " #symbol "\n" #symbol ":\n"                                              \
		".incbin \"" file "\"\n"                                                           \
		".byte 0\n"                                                                        \
		".popsection\n")

#endif
