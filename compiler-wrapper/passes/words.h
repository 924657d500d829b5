// Words that code compares byte by byte, in loops of its own: strcasecmp of a library that has its own, a keyword in the
// table of a lexer, the name of an end tag. What is handed to the runtime is where both words are when the comparison
// begins, and it looks what is there (runtime/comparisons.c). Of a loop that goes along both, that is before the loop; no
// instruction is added to its iterations.
#pragma once

#include "common.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

namespace words {

// What a constant is added to: an integer, or a pointer. Null if nothing is.
inline const Value *beforeStep(const Value *V) {
  if (auto *Pointer = dyn_cast<GetElementPtrInst>(V))
    return Pointer->hasAllConstantIndices() ? Pointer->getPointerOperand() : nullptr;
  auto *Add = dyn_cast<BinaryOperator>(V);
  bool IsStep = Add && (Add->getOpcode() == Instruction::Add || Add->getOpcode() == Instruction::Sub);
  return IsStep && isa<ConstantInt>(Add->getOperand(1)) ? Add->getOperand(0) : nullptr;
}

// Whether a constant is added to a value in each iteration of a loop.
inline bool isStepped(const PHINode &Phi) {
  return any_of(Phi.incoming_values(), [&](const Use &In) { return beforeStep(In) == &Phi; });
}

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
  // Copies of the pair that is being made, by what they are copies of.
  std::map<Instruction *, Instruction *> Copied;

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
    auto Moves = [&](const Read &R) { return R.IsFirstOf || moves(R.By->getPointerOperand(), Around); };
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

  // Whether an address is computed from what is stepped in each iteration.
  static bool moves(Value *V, const Loop &Around) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !Around.contains(I))
      return false;
    if (auto *Phi = dyn_cast<PHINode>(I))
      return Phi->getParent() == Around.getHeader() && isStepped(*Phi);
    return isCopyable(*I) && any_of(I->operands(), [&](Use &Part) { return moves(Part, Around); });
  }

  static bool isCopyable(const Instruction &I) {
    return isa<CastInst>(I) || isa<GetElementPtrInst>(I) || (isa<BinaryOperator>(I) && isa<ConstantInt>(I.getOperand(1)));
  }

  void beforeLoop(Value *First, Value *Second, const Loop &Around) {
    BasicBlock *Entry = Around.getLoopPredecessor();
    if (!Entry || !(isa<BranchInst>(Entry->getTerminator()) || isa<SwitchInst>(Entry->getTerminator())))
      return;
    Pair P = {Entry->getTerminator(), nullptr, nullptr};
    Copied.clear();
    P.First = atEntry(First, Around, P.Copies);
    P.Second = P.First ? atEntry(Second, Around, P.Copies) : nullptr;
    if (P.Second) {
      Pairs.push_back(std::move(P));
      return;
    }
    for (Instruction *Copy : reverse(P.Copies))
      Copy->deleteValue();
  }

  // A value as it is when the loop is entered. Null if it cannot be known then.
  Value *atEntry(Value *V, const Loop &Around, SmallVectorImpl<Instruction *> &Copies) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !Around.contains(I))
      return V;
    if (auto *Phi = dyn_cast<PHINode>(I))
      return Phi->getParent() == Around.getHeader() ? Phi->getIncomingValueForBlock(Around.getLoopPredecessor()) : nullptr;
    if (!isCopyable(*I))
      return nullptr;
    if (Instruction *Known = Copied[I])
      return Known;
    SmallVector<Value *, 4> Parts;
    for (Use &Part : I->operands()) {
      Parts.push_back(atEntry(Part, Around, Copies));
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
};

} // namespace words
