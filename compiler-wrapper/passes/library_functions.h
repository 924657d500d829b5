// Functions of the C library that have costs, and what these costs depend on.
//
// The unit is what one IR instruction takes. The numbers in the table are those of glibc 2.36 on x86-64, measured on
// lengths of 4 to 64 KiB and rounded to powers of two (docs/src/internals/counting.md).
#pragma once

#include "common.h"

namespace library {

#ifdef QUAGMIRE_NO_LIBRARY_COSTS
const bool Enabled = false;
#else
const bool Enabled = true;
#endif

// Sources of the length that a function works on.
enum Measure {
  Nothing,     // the cost is fixed
  Bytes,       // argument Arg
  Product,     // argument Arg times the next one, LargestCleared at most
  Result,      // what it returns
  Found,       // distance of what it returns from argument 0; argument Arg if it returns null
  FoundInText, // distance of what it returns from argument 0; the length of that string if it returns null
  WholeText,   // length of the string at argument Arg, after the call
  Common,      // what arguments 0 and 1 have in common at their start, argument Arg at most
  CommonText,  // the same of strings; Arg 0: without a limit
  CommonFolded, // the same without case
  Sorted,      // argument 1 times its logarithm
};

struct Known {
  const char *Name;
  Measure How;
  unsigned Arg;
  // Bytes for an instruction, as a power of two; negative: instructions for a byte.
  int Shift;
  unsigned Fixed;
};

// What a call takes at least: entry, choice of a way for the length, the first bytes.
const unsigned Call = 8;
const unsigned Allocation = 16;
// calloc gets larger blocks from the system, which are clear (M_MMAP_THRESHOLD of glibc).
const uint64_t LargestCleared = 128 << 10;
// Largest charge of one call: only lengths that make no sense are larger, and the run ends in the call.
const uint64_t Largest = 1 << 28;

inline const Known *known(StringRef Name) {
  static const Known Functions[] = {
      {"memcpy", Bytes, 2, 4, Call},
      {"memmove", Bytes, 2, 4, Call},
      {"mempcpy", Bytes, 2, 4, Call},
      {"memset", Bytes, 2, 4, Call},
      {"bcopy", Bytes, 2, 4, Call},
      {"bzero", Bytes, 1, 4, Call},
      {"__memcpy_chk", Bytes, 2, 4, Call},
      {"__memmove_chk", Bytes, 2, 4, Call},
      {"__memset_chk", Bytes, 2, 4, Call},
      {"strncpy", Bytes, 2, 4, Call},
      {"__strncpy_chk", Bytes, 2, 4, Call},
      {"memchr", Found, 2, 4, Call},
      {"memmem", Found, 1, -2, Call},
      {"strlen", Result, 0, 4, Call},
      {"strnlen", Result, 0, 4, Call},
      {"strspn", Result, 0, 2, Call},
      {"strcspn", Result, 0, 2, Call},
      {"strlcpy", Result, 0, 4, Call},
      {"strlcat", Result, 0, 4, Call},
      {"strchr", FoundInText, 0, 4, Call},
      {"index", FoundInText, 0, 4, Call},
      {"strchrnul", FoundInText, 0, 4, Call},
      {"rawmemchr", FoundInText, 0, 4, Call},
      {"strpbrk", FoundInText, 0, 2, Call},
      {"strstr", FoundInText, 0, 3, Call},
      {"strcasestr", FoundInText, 0, -1, Call},
      {"strrchr", WholeText, 0, 4, Call},
      {"rindex", WholeText, 0, 4, Call},
      {"strcpy", WholeText, 0, 4, Call},
      {"stpcpy", WholeText, 0, 4, Call},
      {"strcat", WholeText, 0, 4, Call},
      {"strncat", WholeText, 0, 4, Call},
      {"__strcpy_chk", WholeText, 0, 4, Call},
      {"__stpcpy_chk", WholeText, 0, 4, Call},
      {"__strcat_chk", WholeText, 0, 4, Call},
      {"__strncat_chk", WholeText, 0, 4, Call},
      {"strdup", WholeText, 0, 4, Call + Allocation},
      {"memcmp", Common, 2, 4, Call},
      {"bcmp", Common, 2, 4, Call},
      {"strcmp", CommonText, 0, 4, Call},
      {"strncmp", CommonText, 2, 4, Call},
      {"strcasecmp", CommonFolded, 0, 3, Call},
      {"strncasecmp", CommonFolded, 2, 3, Call},
      // the comparisons are the program's own
      {"qsort", Sorted, 1, -3, Call},
      {"malloc", Nothing, 0, 0, Allocation},
      {"calloc", Product, 0, 4, Allocation},
      {"realloc", Nothing, 0, 0, Allocation},
      {"reallocarray", Nothing, 0, 0, Allocation},
      {"free", Nothing, 0, 0, Allocation},
      // operator new and delete, of one and of several, with sizes
      {"_Znwm", Nothing, 0, 0, Allocation},
      {"_Znam", Nothing, 0, 0, Allocation},
      {"_ZdlPv", Nothing, 0, 0, Allocation},
      {"_ZdaPv", Nothing, 0, 0, Allocation},
      {"_ZdlPvm", Nothing, 0, 0, Allocation},
      {"_ZdaPvm", Nothing, 0, 0, Allocation},
      // std::string::append and replace of libstdc++, append of libc++
      {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm", Bytes, 2, 4, Call},
      {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_replaceEmmPKcm", Bytes, 4, 4, Call},
      {"_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE6appendEPKcm", Bytes, 2, 4, Call},
  };
  for (const Known &K : Functions)
    if (Name == K.Name)
      return &K;
  return nullptr;
}

// Whether argument Index is a pointer, or an integer.
inline bool hasPointer(const CallBase &C, unsigned Index) {
  return C.arg_size() > Index && C.getArgOperand(Index)->getType()->isPointerTy();
}
inline bool hasNumber(const CallBase &C, unsigned Index) {
  return C.arg_size() > Index && C.getArgOperand(Index)->getType()->isIntegerTy();
}

// Whether a call looks like one of the function, and not of another one with its name.
inline bool fits(const CallBase &C, const Known &K) {
  bool Returns = C.getType()->isPointerTy();
  switch (K.How) {
  case Nothing:
    return true;
  case Bytes:
    return hasPointer(C, 0) && hasNumber(C, K.Arg);
  case Product:
    return hasNumber(C, K.Arg) && hasNumber(C, K.Arg + 1);
  case Result:
    return hasPointer(C, 0) && C.getType()->isIntegerTy();
  case Found:
    return hasPointer(C, 0) && hasNumber(C, K.Arg) && Returns;
  case FoundInText:
    return hasPointer(C, 0) && Returns;
  case WholeText:
    return hasPointer(C, K.Arg);
  case Common:
  case CommonText:
  case CommonFolded:
    return hasPointer(C, 0) && hasPointer(C, 1) && (!K.Arg || hasNumber(C, K.Arg));
  case Sorted:
    return hasPointer(C, 0) && hasNumber(C, K.Arg);
  }
  return false;
}

// The function of the C library that an instruction calls; null if it is something else.
inline const Known *called(const Instruction &I) {
  auto *C = dyn_cast<CallBase>(&I);
  if (!Enabled || !C)
    return nullptr;
  static const Known Memory = {"", Bytes, 2, 4, Call};
  if (isa<MemIntrinsic>(C))
    return &Memory;
  const Function *Callee = C->getCalledFunction();
  if (!Callee || !Callee->isDeclaration() || Callee->isIntrinsic())
    return nullptr;
  const Known *K = known(Callee->getName());
  return K && fits(*C, *K) ? K : nullptr;
}

} // namespace library
