// Mutants of caches: what is stored is computed again. Caches are tests of a place in memory that skip what computes it.
#pragma once

#include "addresses.h"
#include "hashes.h"

namespace performance {

// A branch that goes one way if something is stored already, and computes and stores it the other way.
struct Cache {
  BranchInst *Test;
  // Which of the two ways is that of a hit.
  unsigned Hit;
};

// A test of what is in memory.
struct Tested {
  const LoadInst *Load;
  CmpInst::Predicate How;
  // What it is compared with; null for a number that is not 0.
  const Value *With;
};

class Caching {
public:
  Caching(Function &F, const Variables &Of) : F(F), Places(Of), DT(F), LI(DT) {}

  SmallVector<Cache, 4> find() const {
    SmallVector<Cache, 4> Found;
    for (BasicBlock &BB : F) {
      auto *Branch = dyn_cast<BranchInst>(BB.getTerminator());
      if (!Branch || !Branch->isConditional() || Branch->getSuccessor(0) == Branch->getSuccessor(1))
        continue;
      Tested Test = testedBy(Branch->getCondition());
      if (!Test.Load)
        continue;
      for (unsigned Hit : {0, 1})
        if (isCache(*Branch, Test, Hit)) {
          Found.push_back({Branch, Hit});
          break;
        }
    }
    return Found;
  }

private:
  Function &F;
  Addresses Places;
  DominatorTree DT;
  LoopInfo LI;

  // The test of shared memory that makes a condition true.
  Tested testedBy(const Value *Condition) const {
    bool IsNegated = false;
    for (auto *Not = dyn_cast<BinaryOperator>(Condition); Not && Not->getOpcode() == Instruction::Xor;
         Not = dyn_cast<BinaryOperator>(Condition)) {
      IsNegated = !IsNegated;
      Condition = Not->getOperand(0);
    }
    Tested Test = {nullptr, CmpInst::ICMP_NE, nullptr};
    if (auto *Compared = dyn_cast<ICmpInst>(Condition)) {
      Test = {loaded(Compared->getOperand(0)), Compared->getPredicate(), Compared->getOperand(1)};
      if (!isTested(Test.Load))
        Test = {loaded(Compared->getOperand(1)), Compared->getSwappedPredicate(), Compared->getOperand(0)};
    } else {
      Test.Load = loaded(Condition);
    }
    if (!isTested(Test.Load))
      Test.Load = nullptr;
    if (IsNegated)
      Test.How = CmpInst::getInversePredicate(Test.How);
    return Test;
  }

  bool isTested(const LoadInst *Load) const { return Load && Load->isSimple() && Places.isShared(Load->getPointerOperand()); }

  // The load of a number, or of a bit field.
  static const LoadInst *loaded(const Value *V) {
    for (;;) {
      auto *Binary = dyn_cast<BinaryOperator>(V);
      bool IsField = Binary && isa<Constant>(Binary->getOperand(1)) &&
                     (Binary->getOpcode() == Instruction::And || Binary->getOpcode() == Instruction::LShr);
      if (!IsField && !isa<CastInst>(V))
        return dyn_cast<LoadInst>(V);
      V = cast<Instruction>(V)->getOperand(0);
    }
  }

  bool isCache(const BranchInst &Branch, const Tested &Test, unsigned Hit) const {
    const BasicBlock *OfHit = Branch.getSuccessor(Hit), *OfMiss = Branch.getSuccessor(1 - Hit);
    const Loop *Around = LI.getLoopFor(Branch.getParent());
    // what ends a loop would not end it
    if (Around && Around->contains(OfHit) != Around->contains(OfMiss))
      return false;
    CmpInst::Predicate Misses = Hit == 0 ? CmpInst::getInversePredicate(Test.How) : Test.How;
    const Value *At = Test.Load->getPointerOperand();
    SmallVector<const StoreInst *, 8> Stored;
    bool IsSet = false;
    for (const BasicBlock &BB : F)
      for (const Instruction &I : BB) {
        auto *Store = dyn_cast<StoreInst>(&I);
        if (!Store || !Places.isShared(Store->getPointerOperand()))
          continue;
        bool IsSame = Places.isSame(At, Store->getPointerOperand());
        if (IsSame && DT.dominates(OfHit, &BB))
          return false;
        if (!DT.dominates(OfMiss, &BB))
          continue;
        if (IsSame && Places.changes(At, [&](const BasicBlock *In) { return DT.dominates(OfMiss, In); }))
          return false;
        if (IsSame && !ends(Test, Misses, *Store))
          return false;
        IsSet |= IsSame && comesAfterWork(*Store, OfMiss);
        Stored.push_back(Store);
      }
    return IsSet && isReused(Branch, Test, OfMiss, Stored);
  }

  // Whether the next test is a hit after this store.
  bool ends(const Tested &Test, CmpInst::Predicate Misses, const StoreInst &Store) const {
    const Value *New = Store.getValueOperand();
    auto *With = dyn_cast_or_null<Constant>(Test.With);
    // the key of the last result
    if (Test.With && !With)
      return Misses == CmpInst::ICMP_NE && Places.isSame(New, Test.With);
    auto *Number = dyn_cast<ConstantInt>(New);
    auto *Against = dyn_cast_or_null<ConstantInt>(With);
    if (Number && (Against || !With)) {
      APInt Limit = Against ? Against->getValue() : APInt(Number->getBitWidth(), 0);
      return !ICmpInst::compare(Number->getValue().zextOrTrunc(Limit.getBitWidth()), Limit, Misses);
    }
    if (isa<ConstantPointerNull>(New))
      return false;
    return Misses != CmpInst::ICMP_NE;
  }

  // Whether a call that may take long, or a loop, comes before a store in the blocks of a miss.
  bool comesAfterWork(const StoreInst &Store, const BasicBlock *OfMiss) const {
    SmallPtrSet<const BasicBlock *, 16> Seen;
    SmallVector<const BasicBlock *, 16> Open;
    auto Add = [&](const BasicBlock *To) {
      for (const BasicBlock *From : predecessors(To))
        if (DT.dominates(OfMiss, From) && Seen.insert(From).second)
          Open.push_back(From);
    };
    for (const Instruction *I = Store.getPrevNode(); I; I = I->getPrevNode())
      if (isWork(*I))
        return true;
    Add(Store.getParent());
    while (!Open.empty()) {
      const BasicBlock *BB = Open.pop_back_val();
      if (LI.isLoopHeader(BB) || any_of(*BB, [](const Instruction &I) { return isWork(I); }))
        return true;
      Add(BB);
    }
    return false;
  }

  // Whether an instruction may take long: a call, but not one that makes room, or writes a message.
  static bool isWork(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || isa<IntrinsicInst>(Call) || Call->doesNotReturn())
      return false;
    const Function *Callee = Call->getCalledFunction();
    if (!Callee)
      return true;
    if (Callee->doesNotReturn() || (Callee->isDeclaration() && Callee->isVarArg()))
      return false;
    return !beginsWithOneOf(Callee->getName(), {"_Znw", "_Zna", "_Zdl", "_Zda", "__cxa_"}) &&
           none_of(wordsOf(sourceNameOf(*Callee)), [](StringRef Word) {
             return Word.contains("alloc") || isOneOf(Word, {"free", "strdup", "new", "create", "open", "close", "lock", "unlock"});
           });
  }

  // Whether something that is stored by a miss is read elsewhere, or a flag of the program says that all is there.
  bool isReused(const BranchInst &Branch, const Tested &Test, const BasicBlock *OfMiss, ArrayRef<const StoreInst *> Stored) const {
    auto *Flag = dyn_cast<GlobalVariable>(Test.Load->getPointerOperand()->stripPointerCasts());
    if (Flag && Flag->getName().substr(0, 4) == "_ZGV")
      return false;
    if (Flag || any_of(Test.Load->users(), [](const User *U) { return isa<StoreInst>(U); }))
      return true;
    for (const Instruction &I : instructions(F)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || Load == Test.Load || DT.dominates(OfMiss, Load->getParent()) || !DT.dominates(Branch.getParent(), Load->getParent()))
        continue;
      if (any_of(Stored, [&](const StoreInst *Store) { return Places.isSame(Load->getPointerOperand(), Store->getPointerOperand()); }))
        return true;
    }
    return false;
  }
};

// cache-dropped: the test of a cache says that nothing is stored, although something is. Past a gate, after so many hits.
class Caches {
public:
  Caches(Sites &OfF, Function &F) : OfF(OfF), F(F) {}

  void find() {
    for (const Cache &One : Caching(F, Variables(F)).find())
      if (const DILocation *Place = place(*One.Test))
        Found.push_back({One, OfF.add(CacheDropped, Place, "test", "it finds nothing stored")});
  }

  void emit() {
    for (const Site &S : Found) {
      IRBuilder<> B(S.Of.Test);
      auto Turned = [&](Value *Condition) { return S.Of.Hit == 0 ? Condition : B.CreateNot(Condition); };
      Value *Hit = B.CreateZExt(Turned(S.Of.Test->getCondition()), B.getInt64Ty());
      S.Of.Test->setCondition(Turned(B.CreateTrunc(OfF.keep(B, S.Number, Hit), B.getInt1Ty())));
    }
  }

private:
  struct Site {
    Cache Of;
    unsigned Number;
  };

  Sites &OfF;
  Function &F;
  SmallVector<Site, 4> Found;
};

} // namespace performance
