// Weights: the instructions of the IR that count.
#ifndef QUAGMIRE_WEIGHT_H
#define QUAGMIRE_WEIGHT_H

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

// Whether an instruction costs something when its block runs.
inline bool weighs(const llvm::Instruction &I) {
  return !llvm::isa<llvm::PHINode>(I) && !llvm::isa<llvm::DbgInfoIntrinsic>(I) && !I.isLifetimeStartOrEnd();
}

#endif
