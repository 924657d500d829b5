/* The counts of all registered objects for the fork server: in shared memory, numbered and cleared. */
#pragma once

#include "quagmire.h"

/* Where the counts are. Not written by children. */
extern struct qgm_server __quagmire_tables QGM_HIDDEN;
/* The file with the shared memory; -1 if that has no name. */
extern int __quagmire_counts_file QGM_HIDDEN;
/* Number of edges of all objects, set by __quagmire_find_owners. */
extern uint64_t __quagmire_all_edges QGM_HIDDEN;

/* Set if an object registers counts of SanitizerCoverage, which are not shared. */
extern int __quagmire_has_sancov QGM_HIDDEN;

/* Finds the pages with the counts of an object: those of its entries, and those of its other edges, which the linker script
   puts right behind; nothing else is on these pages. Returns how many regions that makes. */
QGM_HIDDEN int __quagmire_regions_of(const struct qgm_module *module, struct qgm_region region[2]);
/* Puts the counts of the object with a number, or of all objects, into shared memory. */
QGM_HIDDEN enum qgm_ready __quagmire_share_module(uint64_t number);
QGM_HIDDEN enum qgm_ready __quagmire_share_all(void);
/* Populates the shared pages, which are missing in a child's page tables: cheaper than a fault for each page that is used.
   On systems without this call they are faulted in. */
QGM_HIDDEN void __quagmire_map_counts(void);
/* Saves the counts of all objects; restores them, once. */
QGM_HIDDEN void __quagmire_keep_counts(void);
QGM_HIDDEN void __quagmire_restore_counts(void);

/* Numbers the edges object by object and function by function, in the order of the tables: the same in every process of the
   same program. To be called when all objects have registered. */
QGM_HIDDEN void __quagmire_find_owners(void);
/* Calls `each` for every function that ran since its counts were cleared. `edge` is the number of the function's first edge.
   What it costs follows what ran, but for one look at every entry count. */
QGM_HIDDEN void __quagmire_for_all_that_ran(void (*each)(const struct qgm_function *function, uint64_t edge));
/* Clears the counts of those functions. */
QGM_HIDDEN void __quagmire_clear_counts(void);
