// LLVM, 14 to 22: its headers, and what differs between its versions. Nothing else asks which one it is.
#pragma once

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/Loads.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/FunctionComparator.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#if LLVM_VERSION_MAJOR < 17
#include "llvm/ADT/Triple.h"
#else
#include "llvm/TargetParser/Triple.h"
#endif
#if LLVM_VERSION_MAJOR < 22
#include "llvm/Passes/PassPlugin.h"
#else
#include "llvm/Plugins/PassPlugin.h"
#endif

using namespace llvm;

// Pointers have no type from LLVM 15 on, and asking for one with a type is on its way out.
inline PointerType *pointerTo(Type *Pointee) {
#if LLVM_VERSION_MAJOR < 17
  return PointerType::getUnqual(Pointee);
#else
  return PointerType::getUnqual(Pointee->getContext());
#endif
}

inline Function *intrinsic(Module &M, Intrinsic::ID Which, ArrayRef<Type *> Types) {
#if LLVM_VERSION_MAJOR < 20
  return Intrinsic::getDeclaration(&M, Which, Types);
#else
  return Intrinsic::getOrInsertDeclaration(&M, Which, Types);
#endif
}

// A text up to LLVM 20.
inline std::string targetOf(const Module &M) { return Triple(M.getTargetTriple()).str(); }

// Places are named by iterators from LLVM 20 on.
#if LLVM_VERSION_MAJOR < 20
inline void insertAt(Instruction &New, Instruction *Where) { New.insertBefore(Where); }
inline void moveTo(Instruction &Moved, Instruction *Where) { Moved.moveBefore(Where); }
#else
inline void insertAt(Instruction &New, Instruction *Where) { New.insertBefore(Where->getIterator()); }
inline void moveTo(Instruction &Moved, Instruction *Where) { Moved.moveBefore(Where->getIterator()); }
#endif

// Adds to the pipeline of link-time optimisation, of the whole program in the linker; LLVM 14 has nothing to call there.
template <typename Builder, typename Callback>
auto atEndOfLinkTimeOptimization(Builder &PB, Callback Add, int)
    -> decltype(PB.registerFullLinkTimeOptimizationLastEPCallback(Add)) {
  PB.registerFullLinkTimeOptimizationLastEPCallback(Add);
}
template <typename Builder, typename Callback> void atEndOfLinkTimeOptimization(Builder &, Callback, long) {}

// Adds the variables of the source that debug information names: by instructions up to LLVM 18, by records from 19 on.
template <typename Inst, typename Set>
auto declaredByRecords(Inst &I, Set &Variables, int) -> decltype(I.getDbgRecordRange(), void()) {
  for (auto &&Record : filterDbgVars(I.getDbgRecordRange()))
    if (Record.get().getNumVariableLocationOps())
      Variables.insert(Record.get().getVariableLocationOp(0));
}
template <typename Inst, typename Set> void declaredByRecords(Inst &, Set &, long) {}
