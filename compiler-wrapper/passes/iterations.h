// Values of a loop: those that step with its iterations, and what others are when it is entered.
#pragma once

#include "common.h"

#include <map>

namespace iterations {

// What a constant is added to: an integer, or a pointer. Null if nothing is.
inline const Value *beforeStep(const Value *V) {
  if (auto *Pointer = dyn_cast<GetElementPtrInst>(V))
    return Pointer->hasAllConstantIndices() ? Pointer->getPointerOperand() : nullptr;
  auto *Add = dyn_cast<BinaryOperator>(V);
  bool IsStep = Add && (Add->getOpcode() == Instruction::Add || Add->getOpcode() == Instruction::Sub);
  return IsStep && isa<ConstantInt>(Add->getOperand(1)) ? Add->getOperand(0) : nullptr;
}

// Whether a constant is added to a value in each iteration of a loop, or to what it is in the iteration before.
inline bool isStepped(const PHINode &Phi) {
  auto IsStep = [](const PHINode &One) { return any_of(One.incoming_values(), [&](const Use &In) { return beforeStep(In) == &One; }); };
  return IsStep(Phi) || any_of(Phi.incoming_values(), [&](const Use &In) {
    auto *Before = dyn_cast<PHINode>(In);
    return Before && Before->getParent() == Phi.getParent() && IsStep(*Before);
  });
}

inline bool isCopyable(const Instruction &I) {
  return isa<CastInst>(I) || isa<GetElementPtrInst>(I) || (isa<BinaryOperator>(I) && isa<ConstantInt>(I.getOperand(1)));
}

// Whether an address is computed from what is stepped in each iteration.
inline bool moves(Value *V, const Loop &Around) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !Around.contains(I))
    return false;
  if (auto *Phi = dyn_cast<PHINode>(I))
    return Phi->getParent() == Around.getHeader() && isStepped(*Phi);
  return isCopyable(*I) && any_of(I->operands(), [&](Use &Part) { return moves(Part, Around); });
}

// Values as they are when a loop is entered, and the instructions that compute them at the end of the block before it.
class AtEntry {
public:
  explicit AtEntry(const Loop &Around) : Around(Around) {
    BasicBlock *Entry = Around.getLoopPredecessor();
    if (Entry && (isa<BranchInst>(Entry->getTerminator()) || isa<SwitchInst>(Entry->getTerminator())))
      End = Entry->getTerminator();
  }

  // The end of the block before the loop. Null if there is none where code can stand.
  Instruction *end() const { return End; }

  // Null if the value cannot be known then. Needs an end.
  Value *of(Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !Around.contains(I))
      return V;
    if (auto *Phi = dyn_cast<PHINode>(I))
      return Phi->getParent() == Around.getHeader() ? Phi->getIncomingValueForBlock(End->getParent()) : nullptr;
    if (!isCopyable(*I))
      return nullptr;
    if (Instruction *Known = Copied[I])
      return Known;
    SmallVector<Value *, 4> Parts;
    for (Use &Part : I->operands()) {
      Parts.push_back(of(Part));
      if (!Parts.back())
        return nullptr;
    }
    Instruction *Copy = I->clone();
    for (unsigned Index = 0; Index < Parts.size(); ++Index)
      Copy->setOperand(Index, Parts[Index]);
    Copy->dropPoisonGeneratingFlags();
    Copies.push_back(Copy);
    return Copied[I] = Copy;
  }

  // The copies, for whoever inserts them.
  SmallVector<Instruction *, 4> take() {
    Copied.clear();
    return std::move(Copies);
  }

  // Copies that nobody has taken are of no use.
  ~AtEntry() {
    for (Instruction *Copy : reverse(Copies))
      Copy->deleteValue();
  }

private:
  const Loop &Around;
  Instruction *End = nullptr;
  SmallVector<Instruction *, 4> Copies;
  std::map<Instruction *, Instruction *> Copied;
};

// Inserts copies before an instruction.
inline void insertCopies(ArrayRef<Instruction *> Copies, Instruction *Where) {
  for (Instruction *Copy : Copies) {
    Copy->setDebugLoc(Where->getDebugLoc());
    insertAt(*Copy, Where);
  }
}

} // namespace iterations
