/* Libraries that a program under the fork server opens at run time. */
#ifndef QUAGMIRE_OPENED_H
#define QUAGMIRE_OPENED_H

#include "quagmire.h"

/* Called by the runtime after an object was registered. */
QGM_HIDDEN void __quagmire_registered(const struct qgm_module *module);
/* Opens what children have opened since the last call; each library is tried once. Those that cannot be opened here, such
   as a file that is gone, stay as they are: their counts are their child's own. The list may hold anything. */
QGM_HIDDEN void __quagmire_open_libraries(void);

#endif
