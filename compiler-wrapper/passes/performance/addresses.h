// Addresses in the code of a function: whether two are the same, and whether others know them.
#pragma once

#include "variables.h"

namespace performance {

class Addresses {
public:
  explicit Addresses(const Variables &Of) : Of(Of) {}

  // Whether an address is that of a global variable, or comes by a pointer: not that of a variable of the function.
  bool isShared(const Value *Address) const {
    const Value *Root = rootOf(Address);
    return isa<GlobalVariable>(Root) || isa<LoadInst>(Root) || isa<Argument>(Root) || isa<CallBase>(Root);
  }

  // Whether two values are computed in the same way, from variables of the same names.
  bool isSame(const Value *A, const Value *B, unsigned Depth = 8) const {
    A = A->stripPointerCasts();
    B = B->stripPointerCasts();
    if (A == B)
      return true;
    auto *Of = dyn_cast<Instruction>(A), *Other = dyn_cast<Instruction>(B);
    if (!Depth || !Of || !Other || Of->getOpcode() != Other->getOpcode() || Of->getType() != Other->getType() ||
        Of->getNumOperands() != Other->getNumOperands())
      return false;
    auto *Address = dyn_cast<GetElementPtrInst>(Of);
    if (Address && Address->getSourceElementType() != cast<GetElementPtrInst>(Other)->getSourceElementType())
      return false;
    if (!Address && !isa<LoadInst>(Of) && !isa<CastInst>(Of) && !isa<BinaryOperator>(Of))
      return false;
    for (unsigned At = 0; At < Of->getNumOperands(); ++At)
      if (!isSame(Of->getOperand(At), Other->getOperand(At), Depth - 1))
        return false;
    return true;
  }

  // Whether a variable that an address is computed from may change in some blocks.
  template <typename T> bool changes(const Value *V, T In, unsigned Depth = 8) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      return false;
    if (auto *Variable = dyn_cast<AllocaInst>(I))
      return !Of.isPlain(Variable) || any_of(Of.storesTo(Variable), [&](const StoreInst *Store) { return In(Store->getParent()); });
    return !Depth || any_of(I->operands(), [&](const Use &Operand) { return changes(Operand.get(), In, Depth - 1); });
  }

private:
  const Variables &Of;

  static const Value *rootOf(const Value *Address) {
    for (;;) {
      Address = Address->stripPointerCasts();
      auto *Inside = dyn_cast<GEPOperator>(Address);
      if (!Inside)
        return Address;
      Address = Inside->getPointerOperand();
    }
  }
};

} // namespace performance
