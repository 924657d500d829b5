// Puts performance mutants into a program: places where it could be slower than it is, each with four gates, of which the
// later ones slow down large amounts only. The program computes what it would without them.
//
// Two operators (hashes.h, caches.h) have mutants that are not charged: what they cost is elsewhere, where elements collide or
// results are computed again. The program does what the chosen one does, and is run with it.
//
// All code counts its instructions, those of the IR before it is optimised, as a program in which costs are counted does
// (weight.h, library_costs.h). The code of a mutant charges: it adds the instructions that the mutant would cost to words of
// that mutant (struct qgm_performance_state of runtime/performance.h), and, if this mutant is chosen, spends them
// (__quagmire_burn).
//
// What a function leaves in its object file:
//   __qgm_performance   one record (struct qgm_mutant_function), with the text that ../mutants/table.h describes
// And per linked object one constructor that hands the records to the runtime, if there is one.
//
// The pass comes first, so that the code is still that of the source: variables are in memory, and nothing is inlined.

#include "caches.h"
#include "hashes.h"
#include "library_calls.h"
#include "loops.h"

namespace {

using namespace mutants;
using namespace performance;

class Performance {
public:
  explicit Performance(Module &M) : M(M), Emitted(M), Tables(M, {"__qgm_performance", "__quagmire_register_performance"}) {}

  bool run() {
    SmallVector<Function *, 64> Functions;
    for (Function &F : M)
      if (isCounted(F))
        Functions.push_back(&F);
    for (Function *F : Functions)
      mutate(*F);
    if (Functions.empty())
      return false;
    // what is called counts, even if it does nothing else
    for (Function &F : M)
      if (!F.isIntrinsic())
        forgetEffects(F);
    Tables.finish();
    return true;
  }

private:
  Module &M;
  Emitter Emitted;
  Table Tables;

  static bool isCounted(const Function &F) {
    bool IsOutside = F.isDeclaration() || F.hasAvailableExternallyLinkage() || F.hasFnAttribute(Attribute::Naked) || isResolver(F);
    return !IsOutside && !beginsWithOneOf(F.getName(), {"__sanitizer_", "__asan_", "__quagmire_", "qgm_"});
  }

  void mutate(Function &F) {
    SmallVector<std::pair<BasicBlock *, uint64_t>, 32> Weights;
    for (BasicBlock &BB : F) {
      uint64_t Weight = 0;
      for (Instruction &I : BB)
        Weight += weightOf(I);
      Weights.push_back({&BB, Weight});
    }
    library::Charges Library(F, true);
    Sites OfF(Emitted, F);
    Loops OfLoops(OfF, F);
    LibraryCalls OfCalls(OfF, Library);
    Hashes OfHashes(OfF, F);
    Caches OfCaches(OfF, F);
    if (!isForeign(F) && !isCoroutine(F)) {
      // before blocks are split
      OfHashes.find();
      OfCaches.find();
      OfLoops.find();
      OfCalls.find(F);
    }
    OfF.create(Tables);
    // each part inserts in front of what is there: behind a call, the cost of the call comes first
    SmallVector<Instruction *, 16> Behind = OfLoops.placesBehindCalls();
    Library.forEach([&](IRBuilder<> &B, Value *Units) { Emitted.count(B, B.CreateZExt(Units, B.getInt64Ty())); });
    OfLoops.emitCalls(Behind);
    OfCalls.emit();
    OfHashes.emit();
    OfCaches.emit();
    for (auto &[BB, Weight] : Weights)
      if (Weight) {
        IRBuilder<> B(behindVariables(*BB));
        Emitted.count(B, B.getInt64(Weight));
      }
    OfLoops.emit();
  }

  // Takes away what says that a function writes nothing: it counts.
  template <typename T> static void forgetEffectsOf(T &Callee) {
    for (const char *Name : {"memory", "readnone", "readonly", "writeonly", "argmemonly", "inaccessiblememonly",
                             "inaccessiblemem_or_argmemonly", "speculatable"}) {
      Attribute::AttrKind Kind = Attribute::getAttrKindFromName(Name);
      if (Kind != Attribute::None && Callee.getAttributes().hasFnAttr(Kind))
        Callee.removeFnAttr(Kind);
    }
  }

  static void forgetEffects(Function &F) {
    forgetEffectsOf(F);
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (!isa<IntrinsicInst>(Call) && !Call->isInlineAsm())
          forgetEffectsOf(*Call);
  }
};

bool mutate(Module &M) { return Performance(M).run(); }

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "quagmire-performance", "1", [](PassBuilder &PB) {
            addAtStart<mutate>(PB);
          }};
}
