// Records the deepest stack of a run: the lowest stack pointer of the thread, updated at the entry of functions.
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

// Defined weakly in every object, so that none depends on the runtime; the dynamic linker merges the definitions.
inline GlobalVariable *lowest(Module &M, Type *Word) {
  const char *Name = "__quagmire_lowest_stack";
  if (GlobalVariable *G = M.getNamedGlobal(Name))
    return G;
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

// At the entry, before the first instruction behind its variables: if the stack pointer is below the lowest that this thread had,
// it becomes the lowest. The blocks that this adds have no counters, and are not counted.
inline void track(Function &F, Instruction *At) {
  if (!mayGoDeep(F))
    return;
  Module &M = *F.getParent();
  LLVMContext &C = M.getContext();
  std::string Target = targetOf(M);
  const char *Register = nullptr;
  if (beginsWithOneOf(Target, {"x86_64"}))
    Register = "rsp";
  else if (beginsWithOneOf(Target, {"i386", "i486", "i586", "i686"}))
    Register = "esp";
  else if (beginsWithOneOf(Target, {"aarch64", "arm64"}))
    Register = "sp";
  if (!Register)
    return;
  IRBuilder<> IRB(At);
  Type *Word = M.getDataLayout().getIntPtrType(C);
  Function *Read = intrinsic(M, Intrinsic::read_register, {Word});
  Value *Name = MetadataAsValue::get(C, MDNode::get(C, MDString::get(C, Register)));
  Value *Now = IRB.CreateCall(Read, {Name});
  GlobalVariable *Lowest = lowest(M, Word);
  LoadInst *Before = IRB.CreateLoad(Word, Lowest);
  mine(Before);
  Value *Deeper = IRB.CreateICmpULT(Now, Before);
  MDNode *Rarely = MDBuilder(C).createBranchWeights(1, 100000);
  IRBuilder<> Cold(SplitBlockAndInsertIfThen(Deeper, At, false, Rarely));
  mine(Cold.CreateStore(Now, Lowest));
}

} // namespace stack
