/* Libraries that the target of a harness closes. */
#ifndef QUAGMIRE_CLOSED_H
#define QUAGMIRE_CLOSED_H

#include "quagmire.h"

/* Called by the runtime before an object is unmapped: returns the tables of the copy that replaces it. */
QGM_HIDDEN struct qgm_module __quagmire_closing(uint64_t number);
/* Whether anybody will read the counts of this process: it neither ends, nor is it a child that the target has forked. */
QGM_HIDDEN int __quagmire_is_counted(void);

#endif
