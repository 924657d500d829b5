// The sites of a function: its rows of the table, and the state that the runtime gets.
#pragma once

#include "emitter.h"
#include "table.h"

namespace performance {

using namespace mutants;

// How the cost of a mutant gets known: it is charged by each run, or the program is run with the mutant, since the cost is
// elsewhere.
enum class Costs { Charged, Run };

// The operators: names, which reports and JSON use (an interface), what amounts are counted in, how their cost gets known, and
// the file that says where they apply.
struct Operator {
  const char *Name, *Unit;
  Costs How;
};

const Operator LoopSquared = {"loop-squared", "rounds", Costs::Charged};            // loops.h
const Operator EarlyExitRemoved = {"early-exit-removed", "rounds", Costs::Charged}; // bounds.h
const Operator CallUnhoisted = {"call-unhoisted", "rounds", Costs::Charged};        // loops.h
const Operator ReallocCopies = {"realloc-copies", "bytes", Costs::Charged};         // library_calls.h
const Operator DowngradedSort = {"library-call-downgraded", "elements", Costs::Charged};
const Operator DowngradedSearch = {"library-call-downgraded", "bytes", Costs::Charged};
const Operator HashDegraded = {"hash-degraded", "hashes", Costs::Run}; // hashes.h
const Operator CacheDropped = {"cache-dropped", "hits", Costs::Run};   // caches.h

class Sites {
public:
  Sites(Emitter &Emitted, Function &F) : Emitted(Emitted), F(F) {}

  // Adds a site. `Became` says what the mutant does there.
  unsigned add(const Operator &Kind, const DILocation *Place, const std::string &Was, const char *Became) {
    const char *Run = Kind.How == Costs::Run ? "\trun" : "";
    for (uint64_t Gate : Gates)
      Lines.push_back({Place, std::string(Kind.Name) + '\t' + Was + '\t' + Became + '\t' + std::to_string(Gate) + '\t' + Kind.Unit + Run});
    return Number++;
  }

  // After the last site: adds the function to the table.
  void create(Table &Tables) {
    if (!Number)
      return;
    Module &M = Emitted.module();
    LLVMContext &C = M.getContext();
    Comdat *Group = groupOf(F);
    auto *I64 = Type::getInt64Ty(C);
    auto *WordsTy = ArrayType::get(I64, Number * WordsOfSite), *PastTy = ArrayType::get(I64, Number);
    auto *Ptr = pointerTo(Type::getInt8Ty(C));
    auto Make = [&](Type *Ty, Constant *Initial, const char *Suffix) {
      auto *G = new GlobalVariable(M, Ty, false, GlobalValue::InternalLinkage, Initial, F.getName() + Suffix);
      G->setAlignment(Align(8));
      // the runtime writes to it
      G->setExternallyInitialized(true);
      share(*G, Group);
      return G;
    };
    GlobalVariable *Words = Make(WordsTy, Constant::getNullValue(WordsTy), ".quagmire_words");
    auto *StateTy = StructType::get(C, {Ptr, PastTy});
    SmallVector<Constant *, 16> Never(Number, ConstantInt::get(I64, UINT64_MAX));
    State = Make(StateTy, ConstantStruct::get(StateTy, {ConstantExpr::getPointerCast(Words, Ptr), ConstantArray::get(PastTy, Never)}),
                 ".quagmire_state");
    Tables.add(F, Lines, State, Group);
  }

  void reach(IRBuilder<> &B, unsigned Site) { Emitted.reach(B, State, Site); }
  void charge(IRBuilder<> &B, unsigned Site, Value *Amount, Value *Cost) { Emitted.charge(B, State, Site, Amount, Cost); }
  Value *degrade(IRBuilder<> &B, unsigned Site, Value *Hash, Value *Mask) { return Emitted.degrade(B, State, Site, Hash, Mask); }
  Value *keep(IRBuilder<> &B, unsigned Site, Value *Hit) { return Emitted.keep(B, State, Site, Hit); }

  Emitter &Emitted;

private:
  Function &F;
  GlobalVariable *State = nullptr;
  SmallVector<Line, 32> Lines;
  unsigned Number = 0;
};

} // namespace performance
