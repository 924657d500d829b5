// Counts how often every edge of a program is executed, exactly and inline.
//
// Edge level as SanitizerCoverage understands it: critical edges are split, so that a block stands for the edge into it.
// Not every block needs a counter of its own (placement.h); with QUAGMIRE_EVERY_BLOCK each has one. A block is counted
// where it begins: one that a call or a signal ends in its middle counts as a whole.
//
// What a function leaves in its object file (all of it lives and dies with the function: COMDAT, !associated):
//   __qgm_entry    one u32: how often the function was entered. All of a program's stand side by side, so that one
//                  scan over them tells which functions ran: nothing else of the others is looked at after a run.
//   __qgm_counts   the u32 counts of its other counters, the progress slots of its comparisons (see compares.h), the
//                  charges of its calls of the C library (see library_costs.h), and its memory (see memory.h).
//   __qgm_weights  of each counter, how many IR instructions one execution stands for, those of sums that it is part of
//                  included; behind those of all counters, for how many edges it stands by itself.
//   __qgm_sums     which counts follow from others: a u32, how many u16 come behind it; of each sum the number of edges
//                  that it stands for, how many parts it has, and the parts. Counters are numbered first and the sums
//                  behind them; a sum's parts come before it.
//   __qgm_lines    which source lines counters and sums stand for, if there is debug information (see lines.h).
//   __qgm_funcs    one record that holds all of these together (struct qgm_function in runtime/quagmire.h).
// At the entry of functions that call others, the deepest stack of the thread is kept (__quagmire_lowest_stack).
// And per linked object one constructor that hands the table to the runtime, if there is one, and a text that says how
// it was compiled (settings.h).
//
// The pass comes last, after all inlining: with link-time optimisation that is in the linker (lld), and the compiler adds
// nothing. compat.h knows the versions of LLVM.

#include "compares.h"
#include "lines.h"
#include "memory.h"
#include "placement.h"
#include "settings.h"
#include "tokens.h"

using placement::Group;
using placement::Placement;

namespace {

// Attribute of functions that are counted.
const char *const Counted = "quagmire-counted";

class Counts {
public:
  explicit Counts(Module &M)
      : M(M), C(M.getContext()), I32(Type::getInt32Ty(C)), Ptr(pointerTo(Type::getInt8Ty(C))),
        Record(StructType::get(C, {Ptr, Ptr, Ptr, Ptr, I32, I32, I32, I32, I32, I32})), TextsOfModule(M),
        BeforeThreads(stack::runBeforeThreads(M)), Recursive(stack::recursive(M)) {}

  bool run() {
    SmallVector<Function *, 64> Functions;
    for (Function &F : M)
      if (wanted(F))
        Functions.push_back(&F);
    for (Function *F : Functions)
      instrument(*F);
    if (Kept.empty())
      return false;
    appendToCompilerUsed(M, Kept);
    registerTables();
    return true;
  }

private:
  Module &M;
  LLVMContext &C;
  IntegerType *I32;
  PointerType *Ptr;
  StructType *Record;
  SmallVector<GlobalValue *, 64> Kept;
  Texts TextsOfModule;
  SmallPtrSet<const Function *, 8> BeforeThreads;
  SmallPtrSet<const Function *, 32> Recursive;

  static bool wanted(const Function &F) {
    if (F.isDeclaration() || F.hasAvailableExternallyLinkage() || F.hasFnAttribute(Attribute::Naked) ||
        F.hasFnAttribute(Attribute::NoSanitizeCoverage) ||
        F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) ||
        // clang tells of no_sanitize("coverage") only where SanitizerCoverage is on
        F.hasFnAttribute(Attribute::NoProfile) ||
        // IR that the wrapper has made comes in another command
        F.hasFnAttribute(Counted))
      return false;
    if (beginsWithOneOf(F.getName(), {"__sanitizer_", "__asan_", "__ubsan_", "__quagmire_", "asan.module_", "quagmire."}))
      return false;
    return !isa<UnreachableInst>(F.getEntryBlock().getTerminator()) || F.getEntryBlock().size() > 1;
  }

  void instrument(Function &F) {
    SplitAllCriticalEdges(F, CriticalEdgeSplittingOptions().setIgnoreUnreachableDests());
    Placement P = placement::Placer(F).place(placement::Shared);
    ArrayRef<Group> Counters = ArrayRef<Group>(P.Groups).take_front(P.Counters);
    compares::Probes Progress(F);
    // resolvers of ifuncs run before the addresses of functions are known
    library::Charges Charged(F, !BeforeThreads.count(&F));
    memory::Slots Memory(F, !BeforeThreads.count(&F));
    unsigned Rest = P.Counters - 1, Slots = Progress.slots(), Charges = Charged.size() + Memory.size();
    unsigned Words = Rest + Slots + Charges;

    auto *EntryTy = ArrayType::get(I32, 1);
    auto *RestTy = ArrayType::get(I32, Words);
    GlobalVariable *Entry = table(F, "__qgm_entry", ConstantAggregateZero::get(EntryTy), false);
    GlobalVariable *Others = Words ? table(F, "__qgm_counts", ConstantAggregateZero::get(RestTy), false) : nullptr;
    GlobalVariable *Weights = table(F, "__qgm_weights", weights(Counters), true);
    GlobalVariable *Sums = P.Groups.size() > P.Counters ? table(F, "__qgm_sums", sums(P), true) : nullptr;
    GlobalVariable *Lines = lines(F, P.Groups, Charged);
    GlobalVariable *Whole = table(F, "__qgm_funcs", Constant::getNullValue(Record), true);
    auto Pointer = [&](Constant *To) { return ConstantExpr::getPointerCast(To, Ptr); };
    auto Distance = [&](GlobalVariable *To) { return To ? distance(Whole, To) : ConstantInt::get(I32, 0); };
    Constant *Fields[] = {Pointer(Entry),
                          Others ? Pointer(Others) : ConstantPointerNull::get(Ptr),
                          Pointer(Weights),
                          Pointer(&F),
                          ConstantInt::get(I32, 1 + Words),
                          Distance(Lines),
                          ConstantInt::get(I32, Slots),
                          Distance(Sums),
                          ConstantInt::get(I32, Charges),
                          ConstantInt::get(I32, Memory.size())};
    Whole->setInitializer(ConstantStruct::get(Record, Fields));

    for (unsigned I = 0; I < Counters.size(); ++I)
      increment(whereCounted(Counters[I]), I == 0 ? EntryTy : RestTy, I == 0 ? Entry : Others, I == 0 ? 0 : I - 1);
    // these split blocks
    Instruction *Start = stack::gatherVariables(F);
    Memory.insert(RestTy, Others, Rest + Slots + Charged.size(), Start, Recursive.count(&F));
    Progress.insert(RestTy, Others, Rest);
    Charged.insert(RestTy, Others, Rest + Slots);
    F.addFnAttr(Counted);
  }

  Constant *weights(ArrayRef<Group> Counters) {
    SmallVector<uint32_t, 64> Numbers;
    for (const Group &G : Counters)
      Numbers.push_back(std::min<uint64_t>(G.Instructions, UINT32_MAX));
    for (const Group &G : Counters)
      Numbers.push_back(G.Blocks.size());
    return ConstantDataArray::get(C, Numbers);
  }

  Constant *sums(const Placement &P) {
    SmallVector<uint16_t, 64> Numbers;
    for (const Group &G : ArrayRef<Group>(P.Groups).drop_front(P.Counters)) {
      Numbers.push_back(G.Blocks.size());
      Numbers.push_back(G.Parts.size());
      Numbers.append(G.Parts.begin(), G.Parts.end());
    }
    return ConstantStruct::getAnon({ConstantInt::get(I32, Numbers.size()), ConstantDataArray::get(C, Numbers)});
  }

  // Null without debug information.
  GlobalVariable *lines(Function &F, ArrayRef<Group> Groups, const library::Charges &Charged) {
    LineTable Table(F);
    if (!Table)
      return nullptr;
    for (const Group &G : Groups)
      Table.add(G.Blocks);
    for (const Instruction *Call : Charged.calls())
      Table.addCharge(*Call);
    return Table.emit(TextsOfModule, [&](Constant *Init) { return table(F, "__qgm_lines", Init, true); });
  }

  static Instruction *whereCounted(const Group &G) {
    return G.AtEndOf ? G.AtEndOf->getTerminator() : behindVariables(*G.Blocks.front());
  }

  void increment(Instruction *At, ArrayType *Ty, GlobalVariable *Table, unsigned Index) {
    IRBuilder<> IRB(At);
    addTo(IRB, IRB.CreateConstInBoundsGEP2_32(Ty, Table, 0, Index), ConstantInt::get(I32, 1), Align(4));
  }

  GlobalVariable *table(Function &F, const char *Section, Constant *Init, bool Constant) {
    auto *G = new GlobalVariable(M, Init->getType(), Constant, GlobalValue::PrivateLinkage, Init, Section);
    G->setSection(Section);
    G->setAlignment(Init->getType() == Record ? Align(8) : Align(4));
    if (F.hasComdat())
      G->setComdat(F.getComdat());
    G->addMetadata(LLVMContext::MD_associated, *MDNode::get(C, ValueAsMetadata::get(&F)));
    Kept.push_back(G);
    return G;
  }

  void registerTables() {
    auto Hook = [&](const char *Name, const char *Callee) { return hookOfObject(M, Name, Callee, {"__qgm_funcs", "__qgm_entry"}); };
    Function *Ctor = Hook("quagmire.module_ctor", "__quagmire_register");
    Function *Dtor = Hook("quagmire.module_dtor", "__quagmire_unregister");
    appendToGlobalCtors(M, Ctor, 1, Ctor);
    appendToGlobalDtors(M, Dtor, 1, Dtor);
  }
};

bool recordTokens(Module &M) {
  tokens::Tokens(M).record();
  return false;
}

struct CountsPass : PassInfoMixin<CountsPass> {
  explicit CountsPass(OptimizationLevel Level) : Level(Level) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    settings::record(M, Level);
    recordTokens(M);
    return Counts(M).run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  // also with -O0, where passes are skipped by default
  static bool isRequired() { return true; }

private:
  OptimizationLevel Level;
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "quagmire-counts", "1", [](PassBuilder &PB) {
            auto Add = [](ModulePassManager &MPM, OptimizationLevel Level, auto...) {
              // what nobody calls any more would be kept by its tables
              MPM.addPass(GlobalDCEPass());
              MPM.addPass(CountsPass(Level));
            };
            // before optimisation
            addAtStart<recordTokens>(PB);
            PB.registerOptimizerLastEPCallback(Add);
            atEndOfLinkTimeOptimization(PB, Add, 0);
          }};
}
