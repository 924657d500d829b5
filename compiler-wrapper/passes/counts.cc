// Counts how often every edge of a program is executed, exactly and inline.
//
// Edge level as SanitizerCoverage understands it: critical edges are split, so that a block stands for the edge into
// it. Not every block needs a counter of its own:
//   - Blocks that always run equally often (one dominates the other, is post-dominated by it, and both are in the same
//     loop) share one.
//   - What flows in flows out: a block in which paths meet runs as often as its predecessors together, one in which
//     they part as often as its successors together. Such a block has no counter; its weight is added to theirs.
// The sum of count x weight over the counters is the same as over all blocks. A block with a call in its middle is
// counted as if the call came back, and so is what is left out here.
//
// What a function leaves in its object file (all of it lives and dies with the function: COMDAT, !associated):
//   __qgm_entry    one u32: how often the function was entered. All of a program's stand side by side, so that one
//                  scan over them tells which functions ran: nothing else of the others is looked at after a run.
//   __qgm_counts   the u32 counts of its other edges, and the progress slots of its comparisons (see compares.h).
//   __qgm_weights  how many IR instructions one execution of each edge stands for.
//   __qgm_pcs      the address of each edge's block.
//   __qgm_lines    which source lines the edges stand for, if there is debug information (see lines.h).
//   __qgm_funcs    one record that holds all of these together (struct qgm_function in runtime/quagmire.h).
// At the entry of functions that call others, the deepest stack of the thread is kept (__quagmire_lowest_stack).
// And per linked object one constructor that hands the table to the runtime, if there is one.
//
// The same source builds with LLVM 14 to 19 without a version test.

#include "compares.h"
#include "lines.h"
#include "stack.h"
#include "weight.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace {

const char *const CtorName = "quagmire.module_ctor";
const char *const DtorName = "quagmire.module_dtor";

class Counts {
public:
  explicit Counts(Module &M)
      : M(M), C(M.getContext()), I32(Type::getInt32Ty(C)), I8(Type::getInt8Ty(C)), Ptr(PointerType::getUnqual(I8)),
        Record(StructType::get(C, {Ptr, Ptr, Ptr, Ptr, I32, I32, I32, I32})), TextsOfModule(M) {}

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
  IntegerType *I8;
  PointerType *Ptr;
  StructType *Record;
  SmallVector<GlobalValue *, 64> Kept;
  Texts TextsOfModule;

  static bool wanted(const Function &F) {
    if (F.isDeclaration() || F.hasAvailableExternallyLinkage() || F.hasFnAttribute(Attribute::Naked) ||
        F.hasFnAttribute(Attribute::NoSanitizeCoverage) ||
        F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
      return false;
    StringRef Name = F.getName();
    for (const char *Prefix : {"__sanitizer_", "__asan_", "__ubsan_", "__quagmire_", "asan.module_", "quagmire."})
      if (Name.substr(0, strlen(Prefix)) == Prefix)
        return false;
    return !isa<UnreachableInst>(F.getEntryBlock().getTerminator()) || F.getEntryBlock().size() > 1;
  }

  // Instructions that cost something when the block runs.
  static uint64_t weightOf(const BasicBlock &BB) {
    return std::count_if(BB.begin(), BB.end(), [](const Instruction &I) { return weighs(I); });
  }

  static bool canCarry(const BasicBlock &BB) {
    return BB.getFirstInsertionPt() != BB.end() && !isa<UnreachableInst>(&*BB.getFirstInsertionPt());
  }

  // Blocks that run equally often, the first of which (it dominates the others) may carry a counter.
  struct Group {
    BasicBlock *Head;
    SmallVector<BasicBlock *, 4> Blocks;
    // Instructions of all blocks that one execution of it stands for.
    uint64_t Weight = 0;
    // Without a counter: the groups whose counts add up to its own. Empty for one that has a counter.
    SmallVector<unsigned, 4> Parts;
  };

  static SmallVector<Group, 32> group(Function &F, DominatorTree &DT, LoopInfo &LI, bool Share,
                                      DenseMap<const BasicBlock *, unsigned> &GroupOf) {
    PostDominatorTree PDT(F);
    SmallVector<Group, 32> Groups;
    for (BasicBlock *BB : depth_first(&F.getEntryBlock())) {
      // the order only has to visit dominators first and be the same every time
      if (!DT.getNode(BB) || (!canCarry(*BB) && BB != &F.getEntryBlock()))
        continue;
      unsigned Own = Groups.size();
      if (Share) {
        auto *Node = DT.getNode(BB)->getIDom();
        for (unsigned Steps = 0; Node && Steps < 64; Node = Node->getIDom(), ++Steps) {
          BasicBlock *A = Node->getBlock();
          auto Found = GroupOf.find(A);
          if (Found == GroupOf.end() || LI.getLoopFor(A) != LI.getLoopFor(BB) || !PDT.dominates(BB, A))
            continue;
          Own = Found->second;
          break;
        }
      }
      if (Own == Groups.size()) {
        Groups.emplace_back();
        Groups.back().Head = BB;
      }
      GroupOf[BB] = Own;
      Groups[Own].Blocks.push_back(BB);
      Groups[Own].Weight += weightOf(*BB);
    }
    return Groups;
  }

  // The groups that run together as often as BB's predecessors (successors) do, if each of them leads only to (comes
  // only from) BB.
  template <typename Range, typename Only>
  static SmallVector<unsigned, 4> parts(BasicBlock *BB, Range Neighbours, Only OnlyNeighbour,
                                        const DenseMap<const BasicBlock *, unsigned> &GroupOf) {
    SmallVector<unsigned, 4> Parts;
    SmallPtrSet<const BasicBlock *, 8> Seen;
    for (BasicBlock *Other : Neighbours) {
      if (!Seen.insert(Other).second)
        continue;
      auto Found = GroupOf.find(Other);
      if (Found == GroupOf.end() || OnlyNeighbour(Other) != BB)
        return {};
      Parts.push_back(Found->second);
    }
    if (Parts.size() < 2)
      Parts.clear();
    return Parts;
  }

  // Whether the count of From depends on that of To; also true if that would take long to find out.
  static bool dependsOn(ArrayRef<Group> Groups, unsigned From, unsigned To, SmallDenseSet<unsigned, 16> &Seen) {
    if (From == To || Seen.size() > 256)
      return true;
    if (!Seen.insert(From).second)
      return false;
    for (unsigned Part : Groups[From].Parts)
      if (dependsOn(Groups, Part, To, Seen))
        return true;
    return false;
  }

  // Every group after all those whose parts it belongs to.
  static void dependentsFirst(ArrayRef<Group> Groups, unsigned At, SmallVectorImpl<bool> &Done,
                              SmallVectorImpl<unsigned> &Reversed) {
    if (Done[At])
      return;
    Done[At] = true;
    for (unsigned Part : Groups[At].Parts)
      dependentsFirst(Groups, Part, Done, Reversed);
    Reversed.push_back(At);
  }

  SmallVector<Group, 32> place(Function &F) {
    DominatorTree DT(F);
    LoopInfo LI(DT);
    ReversePostOrderTraversal<const Function *> Order(&F);
    using RPO = ReversePostOrderTraversal<const Function *>;
    // A second return of setjmp, and a cycle without a header, run blocks more often than their dominator.
    bool Share = !F.callsFunctionThatReturnsTwice() &&
                 !containsIrreducibleCFG<const BasicBlock *, const RPO, const LoopInfo>(Order, LI);
    DenseMap<const BasicBlock *, unsigned> GroupOf;
    SmallVector<Group, 32> Groups = group(F, DT, LI, Share, GroupOf);

    // The innermost ones first: where two blocks could stand for each other, the one that runs more often goes.
    SmallVector<unsigned, 32> Innermost;
    for (unsigned G = 1; G < Groups.size() && Share; ++G)
      Innermost.push_back(G);
    std::stable_sort(Innermost.begin(), Innermost.end(), [&](unsigned A, unsigned B) {
      return LI.getLoopDepth(Groups[A].Head) > LI.getLoopDepth(Groups[B].Head);
    });
    for (unsigned G : Innermost) {
      SmallVector<unsigned, 4> Parts;
      for (BasicBlock *BB : Groups[G].Blocks) {
        Parts = parts(BB, predecessors(BB), [](BasicBlock *P) { return P->getUniqueSuccessor(); }, GroupOf);
        if (Parts.empty())
          Parts = parts(BB, successors(BB), [](BasicBlock *S) { return S->getUniquePredecessor(); }, GroupOf);
        SmallDenseSet<unsigned, 16> Seen;
        for (unsigned Part : Parts)
          if (dependsOn(Groups, Part, G, Seen)) {
            Parts.clear();
            break;
          }
        if (!Parts.empty())
          break;
      }
      Groups[G].Parts = Parts;
    }

    // What a group weighs is added to each of its parts, from the sums down to the counters.
    SmallVector<bool, 32> Done(Groups.size(), false);
    SmallVector<unsigned, 32> Reversed;
    for (unsigned G = 0; G < Groups.size(); ++G)
      dependentsFirst(Groups, G, Done, Reversed);
    for (unsigned G : reverse(Reversed))
      for (unsigned Part : Groups[G].Parts)
        Groups[Part].Weight += Groups[G].Weight;
    return Groups;
  }

  void instrument(Function &F) {
    SplitAllCriticalEdges(F, CriticalEdgeSplittingOptions().setIgnoreUnreachableDests());
    SmallVector<Group, 32> Groups = place(F);
    SmallVector<const Group *, 32> Counters;
    for (const Group &G : Groups)
      if (G.Parts.empty())
        Counters.push_back(&G);
    compares::Probes Progress(F);
    unsigned Rest = Counters.size() - 1, Slots = Progress.slots();

    auto *EntryTy = ArrayType::get(I32, 1);
    auto *RestTy = ArrayType::get(I32, Rest + Slots);
    GlobalVariable *Entry = table(F, "__qgm_entry", ConstantAggregateZero::get(EntryTy), false);
    GlobalVariable *Others = Rest + Slots ? table(F, "__qgm_counts", ConstantAggregateZero::get(RestTy), false) : nullptr;

    SmallVector<Constant *, 32> Weights, Pcs;
    for (unsigned I = 0; I < Counters.size(); ++I) {
      Weights.push_back(ConstantInt::get(I32, std::min<uint64_t>(Counters[I]->Weight, UINT32_MAX)));
      Constant *Pc = I == 0 ? cast<Constant>(&F) : cast<Constant>(BlockAddress::get(Counters[I]->Head));
      Pcs.push_back(ConstantExpr::getPointerCast(Pc, Ptr));
    }
    auto *WeightTy = ArrayType::get(I32, Counters.size());
    auto *PcTy = ArrayType::get(Ptr, Counters.size());
    GlobalVariable *Weight = table(F, "__qgm_weights", ConstantArray::get(WeightTy, Weights), true);
    GlobalVariable *Pc = table(F, "__qgm_pcs", ConstantArray::get(PcTy, Pcs), true);
    GlobalVariable *Lines = lines(F, Groups);
    GlobalVariable *Whole = table(F, "__qgm_funcs", Constant::getNullValue(Record), true);
    Constant *Fields[] = {ConstantExpr::getPointerCast(Entry, Ptr),
                          Others ? ConstantExpr::getPointerCast(Others, Ptr) : ConstantPointerNull::get(Ptr),
                          ConstantExpr::getPointerCast(Weight, Ptr),
                          ConstantExpr::getPointerCast(Pc, Ptr),
                          ConstantInt::get(I32, Counters.size() + Slots),
                          Lines ? distance(Whole, Lines) : ConstantInt::get(I32, 0),
                          ConstantInt::get(I32, Slots),
                          ConstantInt::get(I32, 0)};
    Whole->setInitializer(ConstantStruct::get(Record, Fields));

    stack::track(F);
    for (unsigned I = 0; I < Counters.size(); ++I)
      increment(*Counters[I]->Head, I == 0 ? EntryTy : RestTy, I == 0 ? Entry : Others, I == 0 ? 0 : I - 1);
    Progress.insert(RestTy, Others, Rest);
  }

  // Null without debug information.
  GlobalVariable *lines(Function &F, ArrayRef<Group> Groups) {
    LineTable Table(F);
    if (!Table)
      return nullptr;
    for (const Group &G : Groups)
      Table.add(G.Parts, G.Blocks);
    return Table.emit(TextsOfModule, [&](Constant *Init) { return table(F, "__qgm_lines", Init, true); });
  }

  void increment(BasicBlock &BB, ArrayType *Ty, GlobalVariable *Table, unsigned Index) {
    BasicBlock::iterator At = BB.getFirstInsertionPt();
    while (isa<AllocaInst>(&*At))
      ++At;
    IRBuilder<> IRB(&*At);
    Value *Slot = IRB.CreateConstInBoundsGEP2_32(Ty, Table, 0, Index);
    LoadInst *Load = IRB.CreateAlignedLoad(I32, Slot, Align(4));
    Value *Sum = IRB.CreateAdd(Load, ConstantInt::get(I32, 1));
    StoreInst *Store = IRB.CreateAlignedStore(Sum, Slot, Align(4));
    MDNode *Mine = MDNode::get(C, {});
    unsigned NoSanitize = C.getMDKindID("nosanitize");
    for (Value *V : {static_cast<Value *>(Load), Sum, static_cast<Value *>(Store)})
      if (auto *I = dyn_cast<Instruction>(V))
        I->setMetadata(NoSanitize, Mine);
  }

  GlobalVariable *table(Function &F, const char *Section, Constant *Init, bool Constant) {
    auto *G = new GlobalVariable(M, Init->getType(), Constant, GlobalValue::PrivateLinkage, Init, Section);
    G->setSection(Section);
    G->setAlignment(Init->getType() == Record || StringRef(Section) == "__qgm_pcs" ? Align(8) : Align(4));
    if (F.hasComdat())
      G->setComdat(F.getComdat());
    G->addMetadata(LLVMContext::MD_associated, *MDNode::get(C, ValueAsMetadata::get(&F)));
    Kept.push_back(G);
    return G;
  }

  GlobalVariable *bound(const Twine &Name) {
    std::string Text = Name.str();
    if (GlobalVariable *G = M.getNamedGlobal(Text))
      return G;
    auto *G = new GlobalVariable(M, I8, false, GlobalValue::ExternalWeakLinkage, nullptr, Text);
    G->setVisibility(GlobalValue::HiddenVisibility);
    return G;
  }

  // One function per linked object (COMDAT folds the modules' copies) that passes the tables' bounds to `Callee`,
  // which is a weak reference: a shared library works in a program without the runtime.
  Function *hook(const char *Name, const char *Callee) {
    auto *Void = FunctionType::get(Type::getVoidTy(C), false);
    auto *F = Function::Create(Void, GlobalValue::LinkOnceODRLinkage, Name, M);
    F->setVisibility(GlobalValue::HiddenVisibility);
    F->setComdat(M.getOrInsertComdat(Name));
    F->addFnAttr(Attribute::NoUnwind);
    auto *CallTy = FunctionType::get(Type::getVoidTy(C), {Ptr, Ptr, Ptr, Ptr}, false);
    auto *Target = dyn_cast<Function>(M.getOrInsertFunction(Callee, CallTy).getCallee());
    BasicBlock *Test = BasicBlock::Create(C, "", F), *Call = BasicBlock::Create(C, "", F),
               *Done = BasicBlock::Create(C, "", F);
    IRBuilder<> IRB(Test);
    if (Target && Target->isDeclaration()) {
      Target->setLinkage(GlobalValue::ExternalWeakLinkage);
      IRB.CreateCondBr(IRB.CreateIsNotNull(Target), Call, Done);
      IRB.SetInsertPoint(Call);
      SmallVector<Value *, 4> Args;
      for (const char *Bound : {"__start___qgm_funcs", "__stop___qgm_funcs", "__start___qgm_entry", "__stop___qgm_entry"})
        Args.push_back(ConstantExpr::getPointerCast(bound(Bound), Ptr));
      IRB.CreateCall(CallTy, Target, Args);
      IRB.CreateBr(Done);
    } else {
      IRB.CreateBr(Call);
      IRBuilder<>(Call).CreateBr(Done);
    }
    IRBuilder<>(Done).CreateRetVoid();
    return F;
  }

  void registerTables() {
    Function *Ctor = hook(CtorName, "__quagmire_register");
    Function *Dtor = hook(DtorName, "__quagmire_unregister");
    appendToGlobalCtors(M, Ctor, 1, Ctor);
    appendToGlobalDtors(M, Dtor, 1, Dtor);
  }
};

struct CountsPass : PassInfoMixin<CountsPass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    return Counts(M).run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  // also with -O0, where passes are skipped by default
  static bool isRequired() { return true; }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "quagmire-counts", "1", [](PassBuilder &PB) {
            PB.registerOptimizerLastEPCallback([](ModulePassManager &MPM, auto...) { MPM.addPass(CountsPass()); });
          }};
}
