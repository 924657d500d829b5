// Words that code compares byte by byte, in loops of its own: strcasecmp of a library that has its own, a keyword in the
// table of a lexer, the name of an end tag. What is handed to the runtime is where both words are when the comparison
// begins, and it looks what is there (runtime/comparisons.c). Of a loop that goes along both, that is before the loop; no
// instruction is added to its iterations.
#pragma once

#include "iterations.h"

#include <memory>
#include <set>
#include <utility>

namespace words {

// Two words that are compared, and the instruction before which their addresses are known.
struct Pair {
  Instruction *Before;
  Value *First, *Second;
  // Instructions that compute these addresses there, in their order.
  SmallVector<Instruction *, 4> Copies = {};
};

// The pairs of one function.
class Finder {
public:
  explicit Finder(Function &F) {
    for (BasicBlock &BB : F)
      for (Instruction &I : BB)
        if (auto *Compare = dyn_cast<ICmpInst>(&I))
          look(*Compare);
  }

  SmallVector<Pair, 4> Pairs;

private:
  std::unique_ptr<DominatorTree> Dominators;
  std::unique_ptr<LoopInfo> Loops;
  // Addresses that were looked at: a loop may compare bytes as they are, and then folded.
  std::set<std::pair<Value *, Value *>> Known;

  // How one byte is read. In a loop, what is read at its end may be compared in its next iteration.
  struct Read {
    LoadInst *By = nullptr;
    const Loop *IsFirstOf = nullptr;
  };

  const Loop *loopAround(BasicBlock *BB) {
    if (!Loops) {
      Dominators = std::make_unique<DominatorTree>(*BB->getParent());
      Loops = std::make_unique<LoopInfo>(*Dominators);
    }
    return Loops->getLoopFor(BB);
  }

  // The read that an integer comes from: as it is, or after letters were folded by arithmetic, by a table or by a function.
  Read readOf(Value *V, unsigned Depth = 8) {
    const Loop *IsFirstOf = nullptr;
    for (; Depth; --Depth) {
      if (isa<CastInst>(V) && V->getType()->isIntegerTy()) {
        V = cast<CastInst>(V)->getOperand(0);
      } else if (auto *Binary = dyn_cast<BinaryOperator>(V)) {
        if (!isa<ConstantInt>(Binary->getOperand(1)))
          return {};
        V = Binary->getOperand(0);
      } else if (auto *Select = dyn_cast<SelectInst>(V)) {
        V = Select->getFalseValue();
      } else if (auto *Call = dyn_cast<CallInst>(V)) {
        if (Call->arg_size() != 1 || !Call->getArgOperand(0)->getType()->isIntegerTy())
          return {};
        V = Call->getArgOperand(0);
      } else if (auto *Phi = dyn_cast<PHINode>(V)) {
        const Loop *Around = loopAround(Phi->getParent());
        bool IsRead = any_of(Phi->incoming_values(), [&](const Use &In) {
          return isa<LoadInst>(In) && Around && Around->contains(cast<LoadInst>(In));
        });
        if (IsFirstOf || !IsRead || Around->getHeader() != Phi->getParent() || !Around->getLoopPredecessor())
          return {};
        IsFirstOf = Around;
        V = Phi->getIncomingValueForBlock(Around->getLoopPredecessor());
      } else if (auto *Load = dyn_cast<LoadInst>(V)) {
        auto *Pointer = dyn_cast<GetElementPtrInst>(Load->getPointerOperand());
        Read Index = Pointer ? readOf(Pointer->getOperand(Pointer->getNumOperands() - 1), Depth - 1) : Read();
        if (Index.By)
          return Index;
        bool IsByte = Load->getType()->isIntegerTy(8) && Load->getPointerAddressSpace() == 0;
        return IsByte ? Read{Load, IsFirstOf} : Read();
      } else {
        return {};
      }
    }
    return {};
  }

  void look(ICmpInst &Compare) {
    if (!Compare.isEquality() || !Compare.getOperand(0)->getType()->isIntegerTy())
      return;
    Read FirstRead = readOf(Compare.getOperand(0)), SecondRead = readOf(Compare.getOperand(1));
    if (!FirstRead.By || !SecondRead.By)
      return;
    Value *First = FirstRead.By->getPointerOperand(), *Second = SecondRead.By->getPointerOperand();
    if (First == Second || !Known.insert({First, Second}).second)
      return;
    const Loop *Around = loopAround(Compare.getParent());
    if (Around)
      lookInLoop(Compare, FirstRead, SecondRead, *Around);
    else
      Pairs.push_back({&Compare, First, Second});
  }

  void lookInLoop(ICmpInst &Compare, const Read &First, const Read &Second, const Loop &Around) {
    auto IsIn = [&](const Read &R) { return R.IsFirstOf ? R.IsFirstOf == &Around : Around.contains(R.By); };
    auto Moves = [&](const Read &R) { return R.IsFirstOf || iterations::moves(R.By->getPointerOperand(), Around); };
    // what was read before may have been overwritten, such as a quotation mark
    if (!(IsIn(First) && IsIn(Second)) && (First.IsFirstOf || Second.IsFirstOf || writes(Around)))
      return;
    if (!Moves(First) && !Moves(Second))
      Pairs.push_back({&Compare, First.By->getPointerOperand(), Second.By->getPointerOperand()});
    // else one byte is searched for
    else if (Moves(First) && Moves(Second))
      beforeLoop(First.By->getPointerOperand(), Second.By->getPointerOperand(), Around);
  }

  static bool writes(const Loop &Around) {
    return any_of(Around.blocks(), [](const BasicBlock *BB) { return any_of(*BB, [](const Instruction &I) { return I.mayWriteToMemory(); }); });
  }

  void beforeLoop(Value *First, Value *Second, const Loop &Around) {
    iterations::AtEntry Entry(Around);
    if (!Entry.end())
      return;
    Value *A = Entry.of(First), *B = A ? Entry.of(Second) : nullptr;
    if (B)
      Pairs.push_back({Entry.end(), A, B, Entry.take()});
  }
};

} // namespace words
