// A mutation of one instruction, and the two ways to put those of a function into a copy of it.
#pragma once

#include "operators.h"
#include "places.h"

#include <functional>
#include <string>

namespace mutants {

// What a mutation makes: the value instead of the instruction's result, or of one of its operands. `I` is the
// instruction in the copy. `Selected` says whether this mutant runs; it is null where values are only looked at: then
// nothing may trap, and what would trap is any other value than the original one.
using MakeValue = std::function<Value *(IRBuilder<> &B, Instruction *I, Value *Selected)>;

// Instead of the number of an operand: the result.
const int ResultOf = -1;

struct Mutation {
  Instruction *At; // in the original function
  int Operand;     // the operand that it replaces, or ResultOf
  Operator Kind;
  std::string Was, Became; // source text, as far as it is known
  MakeValue Make;
};

using Mutations = SmallVector<Mutation, 64>;

// The first place behind an instruction where code can use its result; null if other ways lead there.
inline Instruction *behind(Instruction *I) {
  auto *Invoke = dyn_cast<InvokeInst>(I);
  if (!Invoke)
    return I->isTerminator() ? nullptr : I->getNextNode();
  BasicBlock *Next = Invoke->getNormalDest();
  return Next->getSinglePredecessor() ? &*Next->getFirstInsertionPt() : nullptr;
}

// Calls `Do` for each run of mutations that replace the same value, with the number of the first.
inline void forEachValue(ArrayRef<Mutation> All, function_ref<void(ArrayRef<Mutation>, unsigned)> Do) {
  for (unsigned First = 0, End; First < All.size(); First = End) {
    for (End = First + 1; End < All.size(); ++End)
      if (All[End].At != All[First].At || All[End].Operand != All[First].Operand)
        break;
    Do(All.slice(First, End - First), First);
  }
}

inline Instruction *copyOf(const Mutation &M, ValueToValueMapTy &Copies) {
  return cast<Instruction>(static_cast<Value *>(Copies[M.At]));
}

// Makes each value a choice: mutant k of the function runs if `Number` is k + 1.
inline void select(ArrayRef<Mutation> All, ValueToValueMapTy &Copies, Value *Number) {
  forEachValue(All, [&](ArrayRef<Mutation> Same, unsigned First) {
    Instruction *I = copyOf(Same.front(), Copies);
    bool IsResult = Same.front().Operand == ResultOf;
    IRBuilder<> B(IsResult ? behind(I) : I);
    Value *Original = IsResult ? I : I->getOperand(Same.front().Operand);
    SmallVector<Use *, 8> Uses;
    if (IsResult)
      for (Use &U : I->uses())
        Uses.push_back(&U);
    Value *Chosen = Original;
    for (const Mutation &M : Same) {
      Value *Selected = B.CreateICmpEQ(Number, ConstantInt::get(Number->getType(), ++First));
      Chosen = B.CreateSelect(Selected, M.Make(B, I, Selected), Chosen);
    }
    for (Use *U : Uses)
      U->set(Chosen);
    if (!IsResult)
      I->setOperand(Same.front().Operand, Chosen);
  });
}

// Notes in the byte of each mutant that it is reached (1), and whether its value differs (2). Only results are compared:
// another operand is always a difference.
inline void probe(ArrayRef<Mutation> All, ValueToValueMapTy &Copies, Value *Bytes) {
  forEachValue(All, [&](ArrayRef<Mutation> Same, unsigned Number) {
    Instruction *I = copyOf(Same.front(), Copies);
    bool IsResult = Same.front().Operand == ResultOf;
    IRBuilder<> B(IsResult ? behind(I) : I);
    Type *I8 = B.getInt8Ty();
    for (const Mutation &M : Same) {
      Value *Infected = ConstantInt::get(I8, 3);
      if (IsResult) {
        Value *Made = M.Make(B, I, nullptr);
        Value *Differs = I->getType()->isFloatingPointTy() ? B.CreateFCmpUNE(Made, I) : B.CreateICmpNE(Made, I);
        Infected = B.CreateSelect(Differs, Infected, ConstantInt::get(I8, 1));
      }
      Value *Byte = B.CreateConstGEP1_32(I8, Bytes, Number++);
      B.CreateStore(B.CreateOr(B.CreateLoad(I8, Byte), Infected), Byte);
    }
  });
}

} // namespace mutants
