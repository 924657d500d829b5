// Weights: the instructions of the IR that count.
#ifndef QUAGMIRE_WEIGHT_H
#define QUAGMIRE_WEIGHT_H

#include "library_costs.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

// What an instruction costs when its block runs: 1, and more if it calls a function of the C library.
inline uint64_t weightOf(const llvm::Instruction &I) {
  if (llvm::isa<llvm::PHINode>(I) || llvm::isa<llvm::DbgInfoIntrinsic>(I) || I.isLifetimeStartOrEnd())
    return 0;
  return 1 + library::fixedCost(I);
}

#endif
