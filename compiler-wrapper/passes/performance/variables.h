// Variables of a function that only it uses, and what stays the same while a loop runs.
#pragma once

#include "common.h"

namespace performance {

// Functions of the C library that only read.
inline bool isReader(StringRef Name) {
  return isOneOf(Name, {"strlen", "strnlen", "strchr", "strrchr", "strchrnul", "strstr", "strcasestr", "strspn", "strcspn",
                        "strpbrk", "strcmp", "strncmp", "strcasecmp", "strncasecmp", "memcmp", "bcmp", "memchr", "memrchr",
                        "memmem", "wcslen", "isalpha", "isdigit", "isspace", "isalnum", "tolower", "toupper"});
}

// Whether a call writes nothing: of a function of the C library, or of one that the source declares to be `pure`.
inline bool onlyReads(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Call.onlyReadsMemory() || (Callee && Callee->isDeclaration() && isReader(Callee->getName()));
}

inline bool isSilent(const CallBase &Call) { return isa<DbgInfoIntrinsic>(Call) || Call.isLifetimeStartOrEnd(); }

class Variables {
public:
  explicit Variables(Function &F) {
    for (Instruction &I : instructions(F))
      if (auto *Variable = dyn_cast<AllocaInst>(&I))
        if (isPlain(*Variable, Stores[Variable]))
          Plain.insert({Variable, true});
  }

  // The variable that a value was just read from; null if it is another value.
  const AllocaInst *readFrom(const Value *V) const {
    auto *Load = dyn_cast<LoadInst>(V);
    auto *Variable = Load && !Load->isVolatile() ? dyn_cast<AllocaInst>(Load->getPointerOperand()) : nullptr;
    return Variable && Plain.count(Variable) ? Variable : nullptr;
  }

  bool isPlain(const Value *V) const {
    auto *Variable = dyn_cast<AllocaInst>(V);
    return Variable && Plain.count(Variable);
  }

  ArrayRef<StoreInst *> storesTo(const AllocaInst *Variable) const { return Stores.find(Variable)->second; }

  // The stores to a variable in a loop.
  SmallVector<StoreInst *, 2> storesIn(const Loop &L, const AllocaInst *Variable) const {
    SmallVector<StoreInst *, 2> Inside;
    for (StoreInst *Store : storesTo(Variable))
      if (L.contains(Store->getParent()))
        Inside.push_back(Store);
    return Inside;
  }

  // Whether an expression has the same value each time while a loop runs.
  bool isInvariant(const Loop &L, const Value *V, unsigned Depth = 8) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L.contains(I->getParent()))
      return true;
    if (!Depth)
      return false;
    if (const AllocaInst *Variable = readFrom(V))
      return storesIn(L, Variable).empty();
    if (auto *Load = dyn_cast<LoadInst>(V))
      return !Load->isVolatile() && isInvariant(L, Load->getPointerOperand(), Depth - 1) && writesVariablesOnly(L);
    if (isa<CastInst>(I) || isa<BinaryOperator>(I) || isa<GetElementPtrInst>(I))
      return all_of(I->operands(), [&](const Use &U) { return isInvariant(L, U, Depth - 1); });
    return false;
  }

private:
  DenseMap<const AllocaInst *, bool> Plain;
  DenseMap<const AllocaInst *, SmallVector<StoreInst *, 4>> Stores;

  static bool isPlain(const AllocaInst &Variable, SmallVectorImpl<StoreInst *> &Stores) {
    for (const User *U : Variable.users()) {
      if (auto *Load = dyn_cast<LoadInst>(U)) {
        if (Load->isVolatile())
          return false;
        continue;
      }
      if (auto *Store = dyn_cast<StoreInst>(U)) {
        if (Store->getValueOperand() == &Variable || Store->isVolatile())
          return false;
        Stores.push_back(const_cast<StoreInst *>(Store));
        continue;
      }
      auto *Call = dyn_cast<CallBase>(U);
      if (Call && isSilent(*Call))
        continue;
      // LLVM 14 casts the pointer for these
      if (!isa<BitCastInst>(U) || !all_of(U->users(), [](const User *Of) {
            auto *Call = dyn_cast<CallBase>(Of);
            return Call && isSilent(*Call);
          }))
        return false;
    }
    return true;
  }

  // Whether a loop writes to no memory but the variables of its own function.
  bool writesVariablesOnly(const Loop &L) const {
    for (const BasicBlock *BB : L.blocks())
      for (const Instruction &I : *BB) {
        auto *Call = dyn_cast<CallBase>(&I);
        auto *Store = dyn_cast<StoreInst>(&I);
        if (Call ? !isSilent(*Call) && !onlyReads(*Call) : Store ? !isPlain(Store->getPointerOperand()) : I.mayWriteToMemory())
          return false;
      }
    return true;
  }
};

} // namespace performance
