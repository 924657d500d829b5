// Where code stands in the source, and which code has no mutants.
#pragma once

#include "common.h"

namespace mutants {

// Whether a file is a header of the system. Sources of projects may be below /usr/src, too.
inline bool isOfSystem(StringRef File) {
  return beginsWithOneOf(File, {"/usr/include/", "/usr/lib", "/usr/local/include/"});
}

// Where an instruction stands in the source; null if nowhere, or in a header of the system.
inline const DILocation *place(const Instruction &I) {
  const DILocation *Place = I.getDebugLoc().get();
  if (!Place || !Place->getLine() || isOfSystem(Place->getFilename()))
    return nullptr;
  return Place;
}

inline bool isCoroutine(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && beginsWithOneOf(Call->getCalledFunction()->getName(), {"llvm.coro"});
  });
}

// Whether the loader calls a function before the program is relocated.
inline bool isResolver(const Function &F) {
  return any_of(F.users(), [](const User *U) { return isa<GlobalIFunc>(U); });
}

// Whether a function is no code under test: that of harnesses, sanitizers, the runtime and headers of the system, and what
// has no place in the source.
inline bool isForeign(const Function &F) {
  return F.isDeclaration() || !F.getSubprogram() || F.hasAvailableExternallyLinkage() || isOfSystem(F.getSubprogram()->getFilename()) ||
         beginsWithOneOf(F.getName(), {"LLVMFuzzer", "__sanitizer_", "__asan_", "__quagmire_", "qgm_"});
}

} // namespace mutants
