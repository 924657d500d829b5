/* Linked into executables: how much memory the target allocates during a run. These functions stand in front of the C library's
   and are weak, so that a target that brings an allocator keeps it (and its heap is not measured). The engine allocates with
   mimalloc, not with these. If a linker takes them although there is a sanitizer with an allocator of its own, they hand
   everything on to it; its hooks tell what is allocated. */
#include "comparisons.h"

#include <errno.h>
#include <malloc.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

extern void *__interceptor_malloc(size_t) __attribute__((weak));
extern void *__interceptor_calloc(size_t, size_t) __attribute__((weak));
extern void *__interceptor_realloc(void *, size_t) __attribute__((weak));
extern void *__interceptor_memalign(size_t, size_t) __attribute__((weak));
extern void __interceptor_free(void *) __attribute__((weak));

#define HERE __builtin_return_address(0)

/* Counts an allocation for the code at `place`. The peak includes rounding by the allocator, the total does not. Threads that
   allocate at the same time may be counted wrongly, as their edges are. */
static inline void *taken(void *block, size_t size, const void *place) {
  if (__quagmire_heap->counting && block) {
    __quagmire_heap_take(malloc_usable_size(block), size);
    if (UNLIKELY(__quagmire_recording == QGM_ON))
      __quagmire_allocated(place, size);
  }
  return block;
}

static inline void given_back(void *block) {
  if (__quagmire_heap->counting && block)
    __quagmire_heap->current -= (int64_t)malloc_usable_size(block);
}

__attribute__((weak)) void *malloc(size_t size) {
  return __interceptor_malloc ? __interceptor_malloc(size) : taken(__libc_malloc(size), size, HERE);
}

__attribute__((weak)) void *calloc(size_t count, size_t size) {
  if (__interceptor_calloc)
    return __interceptor_calloc(count, size);
  return taken(__libc_calloc(count, size), count * size, HERE);
}

static inline void *resized(void *block, size_t size, const void *place) {
  if (__interceptor_realloc)
    return __interceptor_realloc(block, size);
  size_t before = __quagmire_heap->counting && block ? malloc_usable_size(block) : 0;
  void *moved = __libc_realloc(block, size);
  if (__quagmire_heap->counting && (moved || size == 0)) {
    __quagmire_heap->current -= (int64_t)before;
    if (moved)
      __quagmire_heap_take(malloc_usable_size(moved), size > before ? size - before : 0);
    if (UNLIKELY(__quagmire_recording == QGM_ON) && moved)
      __quagmire_allocated(place, size);
  }
  return moved;
}

__attribute__((weak)) void *realloc(void *block, size_t size) { return resized(block, size, HERE); }

__attribute__((weak)) void *reallocarray(void *block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return resized(block, bytes, HERE);
}

__attribute__((weak)) void free(void *block) {
  if (__interceptor_free) {
    __interceptor_free(block);
    return;
  }
  given_back(block);
  __libc_free(block);
}

__attribute__((weak)) void *memalign(size_t alignment, size_t size) {
  if (__interceptor_memalign)
    return __interceptor_memalign(alignment, size);
  return taken(__libc_memalign(alignment, size), size, HERE);
}

__attribute__((weak)) void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

__attribute__((weak)) void *valloc(size_t size) { return memalign(4096, size); }

__attribute__((weak)) int posix_memalign(void **block, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
    return EINVAL;
  int saved = errno;
  void *taken = memalign(alignment, size);
  errno = saved;
  if (!taken)
    return ENOMEM;
  *block = taken;
  return 0;
}
