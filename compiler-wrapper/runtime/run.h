/* The run that is on under the fork server, and the processes that make runs. */
#ifndef QUAGMIRE_RUN_H
#define QUAGMIRE_RUN_H

#include "quagmire.h"
#include "serve.h"

#include <sys/types.h>

/* The memory that is shared with the fuzzer; null if nobody has started this program to be served. */
extern struct qgm_served *__quagmire_served QGM_HIDDEN;
/* Process id of the server, once it serves: every other process is its child. Not written by children, which would have to
   copy its page. */
extern pid_t __quagmire_server QGM_HIDDEN;

/* Ends a process of the fork server at once. */
QGM_HIDDEN _Noreturn void __quagmire_leave(int code);
/* Read a request, and send an answer: 0, or -1 if nobody is there any more. */
QGM_HIDDEN int __quagmire_hear(uint32_t *word);
QGM_HIDDEN int __quagmire_say(uint32_t word);
/* CPU time of this process. */
QGM_HIDDEN uint64_t __quagmire_cpu_ns(void);
/* Resets the results for the run that begins. */
QGM_HIDDEN void __quagmire_reset(void);
/* Starts a run; `frame` is the stack address at which it begins. */
QGM_HIDDEN void __quagmire_begin(const void *frame);
/* Records the deepest stack. Called by a signal handler too: it only stores. */
QGM_HIDDEN void __quagmire_note_stack(void);
/* Forks without running the target's pthread_atfork handlers: for the target, a run is a new process. */
QGM_HIDDEN pid_t __quagmire_fork_child(void);
/* Kills processes that a child has left behind, mostly none: a direct call, since errno would cost a page to copy. */
QGM_HIDDEN void __quagmire_kill_group(pid_t child);

#endif
