/* Inputs that a program under the fork server takes from memory. */
#ifndef QUAGMIRE_TESTCASE_H
#define QUAGMIRE_TESTCASE_H

#include "quagmire.h"

/* Maps quagmire's input. Returns whether that is possible. */
QGM_HIDDEN int __quagmire_map_testcase(void);
/* Attaches AFL's input. */
QGM_HIDDEN void __quagmire_attach_testcase(void);

#endif
