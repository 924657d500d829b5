// Mutants of which LLVM's simplest optimizations make the same code as of the original: no input can tell them (trivial compiler equivalence,
// Papadakis et al., ICSE 2015). What it does not prove equal may be equivalent all the same.
#pragma once

#include "mutation.h"

#include <vector>

namespace mutants {

class Equivalents {
public:
  Equivalents() {
    PB.registerModuleAnalyses(MAM);
    PB.registerCGSCCAnalyses(CGAM);
    PB.registerFunctionAnalyses(FAM);
    PB.registerLoopAnalyses(LAM);
    PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
    // as text, since the classes differ between versions of LLVM; more passes take twice the time and find a seventh more
    cantFail(PB.parsePassPipeline(Passes, "sroa,early-cse"));
  }

  // For each mutation of a function, whether it is one of these.
  std::vector<bool> of(Function &F, ArrayRef<Mutation> All) {
    std::vector<bool> Same(All.size());
    // the work is that of all mutations times that of the function
    if (F.getInstructionCount() * All.size() > Most)
      return Same;
    // without what belongs to the debugger, copies take a third of the time
    ValueToValueMapTy Plain;
    Function *Base = CloneFunction(&F, Plain);
    stripDebugInfo(*Base);
    Function *Original = optimized(*Base, {});
    for (size_t Number = 0; Number < All.size(); ++Number) {
      Mutation One = All[Number];
      if (!isLikely(One.Kind))
        continue;
      One.At = copyOf(One, Plain);
      Function *Mutant = optimized(*Base, One);
      Same[Number] = FunctionComparator(Original, Mutant, &Globals).compare() == 0;
      drop(Mutant);
    }
    drop(Original);
    Base->eraseFromParent();
    return Same;
  }

private:
  // Instructions of a function times its mutations: about ten seconds.
  static const uint64_t Most = 2000000;

  PassBuilder PB;
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  FunctionPassManager Passes;
  GlobalNumberState Globals;

  // Whether mutants of an operator are worth the time: deleted effects never are equal, and of the two others one in 600 was.
  static bool isLikely(Operator Kind) {
    switch (Kind) {
    case Operator::StoreDeleted:
    case Operator::CallDeleted:
    case Operator::SizeOffByOne:
    case Operator::ComparisonNegated:
    case Operator::ResultZero:
      return false;
    default:
      return true;
    }
  }

  Function *optimized(Function &F, ArrayRef<Mutation> One) {
    ValueToValueMapTy Copies;
    Function *Copy = CloneFunction(&F, Copies);
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setComdat(nullptr);
    Copy->removeFnAttr(Attribute::OptimizeNone);
    select(One, Copies, ConstantInt::get(Type::getInt32Ty(F.getContext()), 1));
    Passes.run(*Copy, FAM);
    return Copy;
  }

  void drop(Function *Copy) {
    FAM.clear(*Copy, Copy->getName());
    Globals.erase(Copy);
    Copy->eraseFromParent();
  }
};

} // namespace mutants
