// Where code stands in the source, and which code has no mutants.
#ifndef QUAGMIRE_MUTANTS_PLACES_H
#define QUAGMIRE_MUTANTS_PLACES_H

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <cstring>

namespace mutants {

using namespace llvm;

// Whether a file is a header of the system. Sources of projects may be below /usr/src, too.
inline bool isOfSystem(StringRef File) {
  for (StringRef Folder : {"/usr/include/", "/usr/lib", "/usr/local/include/"})
    if (File.substr(0, Folder.size()) == Folder)
      return true;
  return false;
}

// Where an instruction stands in the source; null if nowhere, or in a header of the system.
inline const DILocation *place(const Instruction &I) {
  const DILocation *Place = I.getDebugLoc().get();
  if (!Place || !Place->getLine() || isOfSystem(Place->getFilename()))
    return nullptr;
  return Place;
}

inline bool isCoroutine(const Function &F) {
  for (const Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<IntrinsicInst>(&I))
      if (Call->getCalledFunction()->getName().substr(0, 9) == "llvm.coro")
        return true;
  return false;
}

// Whether the loader calls a function before the program is relocated.
inline bool isResolver(const Function &F) {
  for (const User *U : F.users())
    if (isa<GlobalIFunc>(U))
      return true;
  return false;
}

// Whether a function is no code under test: that of harnesses, sanitizers, the runtime and headers of the system, and what
// has no place in the source.
inline bool isForeign(const Function &F) {
  if (F.isDeclaration() || !F.getSubprogram() || F.hasAvailableExternallyLinkage() || isOfSystem(F.getSubprogram()->getFilename()))
    return true;
  for (const char *Prefix : {"LLVMFuzzer", "__sanitizer_", "__asan_", "__quagmire_", "qgm_"})
    if (F.getName().substr(0, strlen(Prefix)) == Prefix)
      return true;
  return false;
}

} // namespace mutants

#endif
