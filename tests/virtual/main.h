/* main.h - included in front of a test that runs in virtual time: what its main is called
 * there. */
#ifndef SB_TESTS_VIRTUAL_MAIN_H
#define SB_TESTS_VIRTUAL_MAIN_H

int sb_test_main(void);
#define main sb_test_main

#endif
