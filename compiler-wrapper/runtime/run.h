/* The run that is on under the fork server, and the processes that make runs. */
#pragma once

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

/* Active functions: those on the stack when a run begins at __AFL_INIT or __AFL_LOOP. They were entered before the run, so
   that their entry counts would be 0; they count as entered once in every run. */

/* Records the functions that are active when a run begins; `caller` is the return address of the runtime. */
QGM_HIDDEN void __quagmire_note_active(void *caller);
/* Counts them as entered, in a run that begins. */
QGM_HIDDEN void __quagmire_enter_active(void);

/* Inputs that a program under the fork server takes from memory. */

/* Maps quagmire's input. Returns whether that is possible. */
QGM_HIDDEN int __quagmire_map_testcase(void);
/* Attaches AFL's input. */
QGM_HIDDEN void __quagmire_attach_testcase(void);

/* A generator of the user's own in front of a program under the fork server. */

/* Opens the generator that the fuzzer has named, if there is one. Returns 0 if it cannot be used: then the shared memory says
   why. */
QGM_HIDDEN int __quagmire_open_generator(void);
QGM_HIDDEN int __quagmire_has_generator(void);
/* Makes the input of the program in a child whose run has begun, stack at `frame`. Ends the child if there is none. */
QGM_HIDDEN void __quagmire_generate(const void *frame);

/* Libraries that a program under the fork server opens at run time. */

/* Called by the runtime after an object was registered. */
QGM_HIDDEN void __quagmire_registered(const struct qgm_module *module);
/* Opens what children have opened since the last call; each library is tried once. Those that cannot be opened here, such
   as a file that is gone, stay as they are: their counts are their child's own. The list may hold anything. */
QGM_HIDDEN void __quagmire_open_libraries(void);
