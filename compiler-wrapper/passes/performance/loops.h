// Mutants of loops: rounds that repeat those before them, ways out that are not taken, calls that move into the loop.
#pragma once

#include "bounds.h"
#include "sites.h"
#include "library_costs.h"

namespace performance {

// A round is what runs from one arrival at the beginning of the loop to the next one: the code behind the last arrival, which
// leaves the loop, is none.
//
// loop-squared: each round repeats all rounds before it. Behind round i, the mutant is charged with the instructions of the
// rounds before i, those of functions that they have called included: n(n-1)/2 times those of a round if all are alike. That
// needs no place behind the loop: nothing is lost where it ends by an exception, longjmp or exit.
// early-exit-removed: where the loop ends, the mutant is charged with the rounds that were still to come, of the average length
// of those so far.
// call-unhoisted: behind each round, the mutant is charged with the instructions of the call in front of the loop.
class Loops {
public:
  Loops(Sites &OfF, Function &F) : OfF(OfF), F(F), DL(F.getParent()->getDataLayout()) {}

  void find() {
    DominatorTree DT(F);
    LoopInfo LI(DT);
    if (LI.empty())
      return;
    Variables Of(F);
    Bounds Limits(Of, DT, DL);
    // the utilities below keep all of this up to date
    for (Loop *L : LI.getLoopsInPreorder())
      find(*L, Of, Limits, DT, LI);
  }

  // What follows the calls that could be in a loop, before anything is inserted there.
  SmallVector<Instruction *, 16> placesBehindCalls() const {
    SmallVector<Instruction *, 16> Places;
    for (const Reader &R : Readers)
      Places.push_back(R.Call->getNextNode());
    return Places;
  }

  // Measures these calls.
  void emitCalls(ArrayRef<Instruction *> Behind) {
    for (unsigned At = 0; At < Readers.size(); ++At) {
      Reader &R = Readers[At];
      R.Cost = variable("call");
      IRBuilder<> Before(R.Call), After(Behind[At]);
      Value *Start = OfF.Emitted.counted(Before);
      // the weight of the call itself is counted with its block
      Value *Variable = After.CreateSub(OfF.Emitted.counted(After), Start);
      After.CreateStore(After.CreateAdd(Variable, After.getInt64(weightOf(*R.Call))), R.Cost);
    }
  }

  // In front of what else is at the beginning of the blocks.
  void emit() {
    for (Rounds &R : All)
      emit(R);
  }

private:
  struct Rounds {
    BasicBlock *Preheader, *Header;
    unsigned Site;
    Bound Limit;
    unsigned LimitSite;
    SmallVector<BasicBlock *, 4> Exits;
    SmallVector<unsigned, 2> Calls; // numbers of readers
  };

  struct Reader {
    CallInst *Call;
    unsigned Site;
    AllocaInst *Cost;
  };

  Sites &OfF;
  Function &F;
  const DataLayout &DL;
  SmallVector<Rounds, 8> All;
  SmallVector<Reader, 4> Readers;

  static const DILocation *placeOf(const Loop &L) {
    const DILocation *Place = L.getStartLoc().get();
    return Place && Place->getLine() && !isOfSystem(Place->getFilename()) ? Place : nullptr;
  }

  void find(Loop &L, const Variables &Of, const Bounds &Limits, DominatorTree &DT, LoopInfo &LI) {
    const DILocation *Place = placeOf(L);
    if (!Place || L.getHeader()->isEHPad())
      return;
    // before blocks are split
    Bound Limit = Limits.find(L);
    SmallVector<CallInst *, 2> Calls = callsBefore(L, Of, DT, LI);
    BasicBlock *Preheader = L.getLoopPreheader();
    if (!Preheader)
      Preheader = InsertPreheaderForLoop(&L, &DT, &LI, nullptr, false);
    if (!Preheader)
      return;
    Rounds R = {Preheader, L.getHeader(), OfF.add(LoopSquared, Place, "loop", "each round repeats those before it"), Limit, 0, {}, {}};
    if (Limit.Test) {
      formDedicatedExitBlocks(&L, &DT, &LI, nullptr, false);
      if (L.hasDedicatedExits()) {
        L.getUniqueExitBlocks(R.Exits);
        R.LimitSite = OfF.add(EarlyExitRemoved, Place, "loop", "it goes on to its bound");
      }
    }
    for (CallInst *Call : Calls) {
      std::string Name = Call->getCalledFunction()->getName().str() + "()";
      R.Calls.push_back(Readers.size());
      Readers.push_back({Call, OfF.add(CallUnhoisted, Call->getDebugLoc().get(), Name, "it is called in each round of the loop"), nullptr});
    }
    All.push_back(std::move(R));
  }

  // Calls in front of a loop that only read, and whose result is kept in a variable that the loop reads and does not change.
  SmallVector<CallInst *, 2> callsBefore(const Loop &L, const Variables &Of, const DominatorTree &DT, const LoopInfo &LI) const {
    SmallVector<CallInst *, 2> Calls;
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallInst>(&I);
      if (!Call || !place(*Call) || !Call->getCalledFunction() || isa<IntrinsicInst>(Call) || !onlyReads(*Call) || Call->isMustTailCall())
        continue;
      if (L.contains(Call->getParent()) || LI.getLoopFor(Call->getParent()) != L.getParentLoop() || !DT.dominates(Call, L.getHeader()))
        continue;
      const Value *Result = Call;
      while (Result->hasOneUse() && isa<CastInst>(*Result->user_begin()))
        Result = *Result->user_begin();
      auto *Store = Result->hasOneUse() ? dyn_cast<StoreInst>(*Result->user_begin()) : nullptr;
      auto *Variable = Store && Store->getValueOperand() == Result ? dyn_cast<AllocaInst>(Store->getPointerOperand()) : nullptr;
      if (!Variable || !Of.isPlain(Variable) || Of.storesTo(Variable).size() != 1)
        continue;
      if (any_of(Variable->users(), [&](const User *U) { return isa<LoadInst>(U) && L.contains(cast<Instruction>(U)->getParent()); }))
        Calls.push_back(Call);
    }
    return Calls;
  }

  AllocaInst *variable(const char *Name) {
    IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().begin());
    return B.CreateAlloca(B.getInt64Ty(), nullptr, Twine("quagmire.") + Name);
  }

  void emit(Rounds &R) {
    AllocaInst *Arrivals = variable("arrivals"), *Start = variable("start"), *Before = variable("before");
    AllocaInst *Left = R.Exits.empty() ? nullptr : variable("left");
    Emitter &E = OfF.Emitted;
    IRBuilder<> B(R.Preheader->getTerminator());
    auto Load = [&](AllocaInst *Variable) { return B.CreateLoad(B.getInt64Ty(), Variable); };
    for (AllocaInst *Variable : {Arrivals, Before, Left})
      if (Variable)
        B.CreateStore(B.getInt64(0), Variable);
    B.CreateStore(E.counted(B), Start);
    OfF.reach(B, R.Site);
    for (unsigned Call : R.Calls)
      OfF.reach(B, Readers[Call].Site);

    B.SetInsertPoint(behindVariables(*R.Header));
    // those behind this arrival are still to run
    Value *Done = Load(Arrivals);
    OfF.charge(B, R.Site, Done, Load(Before));
    B.CreateStore(B.CreateSub(E.counted(B), Load(Start)), Before);
    B.CreateStore(B.CreateAdd(Done, B.getInt64(1)), Arrivals);
    for (unsigned Call : R.Calls) {
      Value *Cost = B.CreateSelect(B.CreateIsNull(Done), B.getInt64(0), Load(Readers[Call].Cost));
      OfF.charge(B, Readers[Call].Site, Done, Cost);
    }
    if (!Left)
      return;
    B.SetInsertPoint(R.Limit.Test);
    B.CreateStore(Bounds::left(B, R.Limit, DL), Left);
    for (BasicBlock *Exit : R.Exits) {
      B.SetInsertPoint(behindVariables(*Exit));
      // without the one that it leaves
      Value *Unneeded = Load(Left);
      Unneeded = B.CreateSelect(B.CreateIsNull(Unneeded), Unneeded, B.CreateSub(Unneeded, B.getInt64(1)));
      Unneeded = B.CreateSelect(B.CreateICmpUGT(Unneeded, B.getInt64(MostRounds)), B.getInt64(0), Unneeded);
      Value *Round = B.CreateUDiv(B.CreateSub(E.counted(B), Load(Start)), Load(Arrivals));
      OfF.reach(B, R.LimitSite);
      OfF.charge(B, R.LimitSite, Unneeded, B.CreateMul(Unneeded, Round));
    }
  }
};

} // namespace performance
