// Bounds of loops: how many rounds are still to come when a loop compares its variable with what it goes up or down to.
#pragma once

#include "variables.h"

namespace performance {

// Most rounds that are still to come: larger bounds are those of loops that have none, such as SIZE_MAX.
const uint64_t MostRounds = 1 << 24;

// A comparison `variable < bound` that keeps a loop going.
struct Bound {
  ICmpInst *Test;
  // What keeps the loop going, the variable on the left.
  CmpInst::Predicate Stays;
  bool IsSwapped;
  // What is added to the variable in each round; of pointers, bytes.
  int64_t Step;
};

class Bounds {
public:
  Bounds(const Variables &Of, const DominatorTree &DT, const DataLayout &DL) : Of(Of), DT(DT), DL(DL) {}

  // A bound of a loop that has other exits; `Test` is null if there is none.
  Bound find(const Loop &L) const {
    for (BasicBlock *BB : L.blocks())
      for (Instruction &I : *BB)
        if (auto *Test = dyn_cast<ICmpInst>(&I)) {
          bool IfTrue = true;
          if (!keepsGoing(L, *Test, IfTrue))
            continue;
          for (bool IsSwapped : {false, true}) {
            int64_t Step = stepOf(L, Test->getOperand(IsSwapped));
            CmpInst::Predicate Stays = IfTrue ? Test->getPredicate() : Test->getInversePredicate();
            if (IsSwapped)
              Stays = CmpInst::getSwappedPredicate(Stays);
            Value *Limit = Test->getOperand(!IsSwapped);
            bool IsEndless = isa<ConstantInt>(Limit) && cast<ConstantInt>(Limit)->getValue().getLimitedValue() > MostRounds;
            if (Step && leads(Stays, Step) && !IsEndless && Of.isInvariant(L, Limit))
              return {Test, Stays, IsSwapped, Step};
          }
        }
    return {nullptr, CmpInst::ICMP_EQ, false, 0};
  }

  // Inserts, in front of the comparison, the number of rounds that are still to come; 0 where the loop ends.
  static Value *left(IRBuilder<> &B, const Bound &Of, const DataLayout &DL) {
    Value *Variable = Of.Test->getOperand(Of.IsSwapped), *Limit = Of.Test->getOperand(!Of.IsSwapped);
    Value *Stays = B.CreateICmp(Of.Stays, Variable, Limit);
    if (Variable->getType()->isPointerTy()) {
      Type *Word = DL.getIntPtrType(Variable->getType());
      Variable = B.CreatePtrToInt(Variable, Word);
      Limit = B.CreatePtrToInt(Limit, Word);
    }
    Value *Distance = Of.Step > 0 ? B.CreateSub(Limit, Variable) : B.CreateSub(Variable, Limit);
    uint64_t Step = Of.Step > 0 ? Of.Step : -uint64_t(Of.Step);
    Distance = B.CreateZExtOrTrunc(Distance, B.getInt64Ty());
    // `i <= n` has a round more than `i < n`
    Value *Rounds = CmpInst::isFalseWhenEqual(Of.Stays) ? B.CreateAdd(Distance, B.getInt64(Step - 1)) : B.CreateAdd(Distance, B.getInt64(Step));
    return B.CreateSelect(Stays, B.CreateUDiv(Rounds, B.getInt64(Step)), B.getInt64(0));
  }

private:
  const Variables &Of;
  const DominatorTree &DT;
  const DataLayout &DL;

  static bool leads(CmpInst::Predicate Stays, int64_t Step) {
    switch (Stays) {
    case CmpInst::ICMP_NE:
      return true;
    case CmpInst::ICMP_SLT:
    case CmpInst::ICMP_ULT:
    case CmpInst::ICMP_SLE:
    case CmpInst::ICMP_ULE:
      return Step > 0;
    case CmpInst::ICMP_SGT:
    case CmpInst::ICMP_UGT:
    case CmpInst::ICMP_SGE:
    case CmpInst::ICMP_UGE:
      return Step < 0;
    default:
      return false;
    }
  }

  bool isInEachRound(const Loop &L, const BasicBlock *BB) const {
    SmallVector<BasicBlock *, 4> Latches;
    L.getLoopLatches(Latches);
    return all_of(Latches, [&](const BasicBlock *Latch) { return DT.dominates(BB, Latch); });
  }

  // Whether the loop ends unless the test has one result, and there are other ways to end it.
  bool keepsGoing(const Loop &L, const ICmpInst &Test, bool &IfTrue) const {
    if (!Test.hasOneUse() || !Test.getOperand(0)->getType()->isIntOrPtrTy())
      return false;
    SmallVector<Loop::Edge, 4> Exits;
    L.getExitEdges(Exits);
    // `i < n && ...`: both meet in front of the branch that ends the loop
    auto *Met = dyn_cast<PHINode>(*Test.user_begin());
    auto *Branch = dyn_cast<BranchInst>(*Test.user_begin());
    if (!Met && Branch && Branch->isConditional() && isInEachRound(L, Test.getParent())) {
      for (unsigned Way : {0, 1}) {
        BasicBlock *To = Branch->getSuccessor(Way);
        if (!L.contains(To) && L.contains(Branch->getSuccessor(1 - Way))) {
          IfTrue = Way == 1;
          return Exits.size() > 1;
        }
        auto *First = dyn_cast<PHINode>(&To->front());
        if (First && isFalseFrom(*First, *Branch->getParent()))
          Met = First, IfTrue = Way == 1;
      }
    }
    auto *End = Met ? dyn_cast<BranchInst>(Met->getParent()->getTerminator()) : nullptr;
    return End && End->isConditional() && End->getCondition() == Met && L.contains(Met->getParent()) &&
           L.contains(End->getSuccessor(0)) && !L.contains(End->getSuccessor(1));
  }

  static bool isFalseFrom(const PHINode &Met, const BasicBlock &From) {
    int At = Met.getBasicBlockIndex(&From);
    auto *Constant = At >= 0 ? dyn_cast<ConstantInt>(Met.getIncomingValue(At)) : nullptr;
    return Constant && Constant->getType()->isIntegerTy(1) && Constant->isZero();
  }

  // What is added in each round to the variable that was just read; 0 if it is none, or not the same each time.
  int64_t stepOf(const Loop &L, const Value *V) const {
    while (isa<ZExtInst>(V) || isa<SExtInst>(V))
      V = cast<CastInst>(V)->getOperand(0);
    const AllocaInst *Variable = Of.readFrom(V);
    if (!Variable)
      return 0;
    SmallVector<StoreInst *, 2> Stores = Of.storesIn(L, Variable);
    if (Stores.size() != 1 || !isInEachRound(L, Stores[0]->getParent()))
      return 0;
    const Value *New = Stores[0]->getValueOperand();
    while (isa<TruncInst>(New))
      New = cast<CastInst>(New)->getOperand(0);
    if (auto *Binary = dyn_cast<BinaryOperator>(New)) {
      auto *By = dyn_cast<ConstantInt>(Binary->getOperand(1));
      const Value *Old = Binary->getOperand(0);
      while (isa<ZExtInst>(Old) || isa<SExtInst>(Old))
        Old = cast<CastInst>(Old)->getOperand(0);
      bool Adds = Binary->getOpcode() == Instruction::Add, Takes = Binary->getOpcode() == Instruction::Sub;
      if (!By || !(Adds || Takes) || Of.readFrom(Old) != Variable || By->getBitWidth() > 64)
        return 0;
      return Adds ? By->getSExtValue() : -By->getSExtValue();
    }
    auto *Address = dyn_cast<GetElementPtrInst>(New);
    APInt Bytes(DL.getIndexTypeSizeInBits(Variable->getAllocatedType()->isPointerTy() ? Variable->getAllocatedType() : Variable->getType()), 0);
    if (!Address || Of.readFrom(Address->getPointerOperand()) != Variable || !cast<GEPOperator>(Address)->accumulateConstantOffset(DL, Bytes))
      return 0;
    return Bytes.getSExtValue();
  }
};

} // namespace performance
