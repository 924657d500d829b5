// Decides whether a block that is entered certainly reaches its end.
//
// It may not if it contains a call that may not return (exit, longjmp, an exception, an endless loop), or an instruction
// that may trap: access to memory that may be unmapped, division by zero. Only instructions known to do neither pass.
#pragma once

#include "common.h"

namespace certain {

// Whether a call is an intrinsic that cannot end the run.
inline bool comesBack(const CallBase &Call) {
  if (!isa<IntrinsicInst>(Call) || !Call.doesNotThrow())
    return false;
  return isa<DbgInfoIntrinsic>(Call) || isa<AssumeInst>(Call) || isa<NoAliasScopeDeclInst>(Call) ||
         Call.isLifetimeStartOrEnd() || Call.doesNotAccessMemory();
}

// The memory that an instruction reads or writes; none if the pointer is null.
struct Access {
  const Value *Pointer = nullptr;
  uint64_t Bytes = 0;
  bool Writes = false;
};

inline Access accessOf(const Instruction &I) {
  const DataLayout &Layout = I.getModule()->getDataLayout();
  auto Size = [&](Type *Ty) { return Layout.getTypeStoreSize(Ty).getKnownMinValue(); };
  if (auto *Load = dyn_cast<LoadInst>(&I); Load && !Load->isVolatile())
    return {Load->getPointerOperand(), Size(Load->getType()), false};
  if (auto *Store = dyn_cast<StoreInst>(&I); Store && !Store->isVolatile())
    return {Store->getPointerOperand(), Size(Store->getValueOperand()->getType()), true};
  return {};
}

// Whether an instruction on the only path to this one accessed the same memory in the same way, with nothing in between
// that could unmap it.
inline bool wasUsedBefore(const Instruction &I, const Access &Wanted) {
  unsigned MostSteps = 64;
  const BasicBlock *BB = I.getParent();
  for (auto At = I.getIterator(); MostSteps--;) {
    while (At == BB->begin()) {
      const BasicBlock *Before = BB->getUniquePredecessor();
      if (!Before || Before == I.getParent())
        return false;
      BB = Before;
      At = BB->end();
    }
    --At;
    if (auto *Call = dyn_cast<CallBase>(&*At); Call && !comesBack(*Call))
      return false;
    Access Known = accessOf(*At);
    if (Known.Pointer == Wanted.Pointer && Known.Bytes >= Wanted.Bytes && Known.Writes >= Wanted.Writes)
      return true;
  }
  return false;
}

// Whether memory is mapped as long as the function runs, and writable if the instruction writes to it.
inline bool isMapped(const Instruction &I, const Access &Wanted) {
  const DataLayout &Layout = I.getModule()->getDataLayout();
  Type *Bytes = ArrayType::get(Type::getInt8Ty(I.getContext()), Wanted.Bytes);
  if (!isDereferenceablePointer(Wanted.Pointer, Bytes, Layout))
    return false;
  const Value *Object = getUnderlyingObject(Wanted.Pointer);
  auto *Global = dyn_cast<GlobalVariable>(Object);
  return !Wanted.Writes || isa<AllocaInst>(Object) || (Global && Global->hasInitializer() && !Global->isConstant());
}

inline bool passes(const Instruction &I) {
  if (auto *Call = dyn_cast<CallBase>(&I))
    return comesBack(*Call);
  if (I.isTerminator())
    return isa<BranchInst>(I) || isa<SwitchInst>(I) || isa<IndirectBrInst>(I);
  Access Used = accessOf(I);
  if (Used.Pointer)
    return isMapped(I, Used) || wasUsedBefore(I, Used);
  return isa<PHINode>(I) || isa<AllocaInst>(I) || (!I.mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(&I));
}

// Whether a run that enters the block certainly reaches one of its successors.
inline bool passes(const BasicBlock &BB) {
  return all_of(BB, [](const Instruction &I) { return passes(I); });
}

} // namespace certain
