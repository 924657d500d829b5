// A function that says that the target has accepted its input: `quagmire fuzz --valid-if-reached accepted` counts such
// inputs. Each harness calls it where its input is known to be valid.
#pragma once

#ifdef __cplusplus
extern "C"
#endif
__attribute__((noinline)) void accepted(void);

void accepted(void) {
  __asm__ volatile(""); // calls of a function without effect would be left out
}
