// Records the deepest stack of a run, of all of it and by function: the lowest stack pointer of the thread, updated at the entry
// of functions.
#pragma once

#include "common.h"

namespace stack {

// Whether a function can deepen the stack noticeably: it calls others, or has a large frame. A leaf with a small frame
// is not instrumented. To be asked before calls are inserted.
inline bool mayGoDeep(const Function &F) {
  const uint64_t LargeFrame = 256;
  uint64_t Frame = 0;
  const DataLayout &Layout = F.getParent()->getDataLayout();
  for (const BasicBlock &BB : F)
    for (const Instruction &I : BB) {
      if (auto *Alloca = dyn_cast<AllocaInst>(&I)) {
        auto Size = Alloca->getAllocationSizeInBits(Layout);
        Frame += Size ? Size->getKnownMinValue() / 8 : LargeFrame;
      } else if (auto *Call = dyn_cast<CallBase>(&I)) {
        if (!isa<IntrinsicInst>(I) && !Call->isInlineAsm())
          return true;
      }
    }
  return Frame >= LargeFrame;
}

// Resolvers of ifuncs and functions that they call: in a static program they run before thread-local storage exists.
inline SmallPtrSet<const Function *, 8> runBeforeThreads(Module &M) {
  SmallPtrSet<const Function *, 8> Known;
  SmallVector<const Function *, 8> Open;
  auto Add = [&](const Value *Called) {
    auto *F = dyn_cast<Function>(Called->stripPointerCasts());
    if (F && Known.insert(F).second)
      Open.push_back(F);
  };
  for (const GlobalIFunc &I : M.ifuncs())
    Add(I.getResolver());
  while (!Open.empty())
    for (const Instruction &I : instructions(*Open.pop_back_val()))
      if (auto *Call = dyn_cast<CallBase>(&I))
        Add(Call->getCalledOperand());
  return Known;
}

// Variables of a thread, defined weakly in every object, so that none depends on the runtime; the dynamic linker merges the
// definitions.
inline GlobalVariable *ofThread(Module &M, const char *Name) {
  if (GlobalVariable *G = M.getNamedGlobal(Name))
    return G;
  Type *Word = M.getDataLayout().getIntPtrType(M.getContext());
  return new GlobalVariable(M, Word, false, GlobalValue::WeakAnyLinkage, ConstantInt::get(Word, 0), Name, nullptr,
                            GlobalValue::InitialExecTLSModel);
}

// Moves variables of fixed size to the start of the entry block, which may be split then: behind it they would move the stack
// pointer when they run. Returns the first instruction after them.
inline Instruction *gatherVariables(Function &F) {
  Instruction *At = behindVariables(F.getEntryBlock());
  SmallVector<AllocaInst *, 8> Later;
  for (auto I = At->getIterator(); I != F.getEntryBlock().end(); ++I)
    if (auto *Alloca = dyn_cast<AllocaInst>(&*I); Alloca && isa<ConstantInt>(Alloca->getArraySize()))
      Later.push_back(Alloca);
  for (AllocaInst *Alloca : Later)
    moveTo(*Alloca, At);
  return At;
}

// The register with the stack pointer; null on machines where it is not known.
inline const char *pointer(const Module &M) {
  std::string Target = targetOf(M);
  if (beginsWithOneOf(Target, {"x86_64"}))
    return "rsp";
  if (beginsWithOneOf(Target, {"i386", "i486", "i586", "i686"}))
    return "esp";
  return beginsWithOneOf(Target, {"aarch64", "arm64"}) ? "sp" : nullptr;
}

// Whether the function tells how deep the stack is. To be asked before calls are inserted.
inline bool isTracked(const Function &F) { return mayGoDeep(F) && pointer(*F.getParent()); }

// Functions that call themselves, directly or through others of the module.
inline SmallPtrSet<const Function *, 32> recursive(Module &M) {
  SmallPtrSet<const Function *, 32> Found;
  CallGraph Graph(M);
  for (auto Circle = scc_begin(&Graph); !Circle.isAtEnd(); ++Circle)
    if (Circle.hasCycle())
      for (CallGraphNode *Node : *Circle)
        if (Node->getFunction())
          Found.insert(Node->getFunction());
  return Found;
}

// At the entry of a function, before the first instruction behind its variables: if the stack pointer is below the lowest that this
// thread had, it becomes the lowest, and `Depth`, a u32, how deep that is. Where a function recurs, its own deepest entry is
// recorded, whatever others had on the stack before: what grows with the input is seen before it is the deepest of all. The
// blocks that this adds have no counters, and are not counted.
inline void track(Instruction *At, Value *Depth, bool Recurs) {
  Module &M = *At->getModule();
  LLVMContext &C = M.getContext();
  IRBuilder<> IRB(At);
  Type *Word = M.getDataLayout().getIntPtrType(C);
  Function *Read = intrinsic(M, Intrinsic::read_register, {Word});
  Value *Name = MetadataAsValue::get(C, MDNode::get(C, MDString::get(C, pointer(M))));
  Value *Now = IRB.CreateCall(Read, {Name});
  GlobalVariable *Lowest = ofThread(M, "__quagmire_lowest_stack"), *Highest = ofThread(M, "__quagmire_highest_stack");
  auto Load = [&](IRBuilder<> &IRB, Value *From, Type *Ty) { return mine(IRB.CreateLoad(Ty, From)); };
  auto DepthNow = [&](IRBuilder<> &IRB) { return IRB.CreateSub(Load(IRB, Highest, Word), Now); };
  // in other threads both are 0, and nothing is deeper: half of the addresses of 64 bits are negative
  bool IsOwn = Recurs && Word->getIntegerBitWidth() == 64;
  Value *Deeper = IsOwn ? IRB.CreateICmpSGT(DepthNow(IRB), IRB.CreateZExt(Load(IRB, Depth, IRB.getInt32Ty()), Word))
                        : IRB.CreateICmpULT(Now, Load(IRB, Lowest, Word));
  MDNode *Rarely = MDBuilder(C).createBranchWeights(1, 100000);
  IRBuilder<> Cold(SplitBlockAndInsertIfThen(Deeper, At, false, Rarely));
  Value *Before = Load(Cold, Lowest, Word);
  mine(Cold.CreateStore(Cold.CreateSelect(Cold.CreateICmpULT(Now, Before), Now, Before), Lowest));
  mine(Cold.CreateStore(Cold.CreateZExtOrTrunc(DepthNow(Cold), Cold.getInt32Ty()), Depth));
}

} // namespace stack
