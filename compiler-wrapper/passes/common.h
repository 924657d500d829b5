// What all passes share: names of functions, paths of files, marks of inserted code, and how a linked object meets the runtime.
#pragma once

#include "compat.h"

#include <string>

inline bool isOneOf(StringRef Name, std::initializer_list<StringRef> Names) {
  return any_of(Names, [&](StringRef Other) { return Name == Other; });
}

inline bool beginsWithOneOf(StringRef Name, std::initializer_list<StringRef> Prefixes) {
  return any_of(Prefixes, [&](StringRef Prefix) { return Name.substr(0, Prefix.size()) == Prefix; });
}

// The path of a source, with the folder of the compiler if it is relative to that.
inline std::string pathOf(const DIFile *File) {
  if (!File)
    return "";
  if (sys::path::is_absolute(File->getFilename()) || File->getDirectory().empty())
    return File->getFilename().str();
  return (File->getDirectory() + "/" + File->getFilename()).str();
}

// The first place of a block where code can be inserted, behind the variables of the function.
inline Instruction *behindVariables(BasicBlock &BB) {
  BasicBlock::iterator At = BB.getFirstInsertionPt();
  while (At != BB.end() && isa<AllocaInst>(&*At))
    ++At;
  return &*At;
}

// Sanitizers, by the attribute of the functions that they look at.
const std::pair<Attribute::AttrKind, const char *> SanitizersOfFunctions[] = {
    {Attribute::SanitizeAddress, "address"},
    {Attribute::SanitizeHWAddress, "hwaddress"},
    {Attribute::SanitizeMemory, "memory"},
    {Attribute::SanitizeThread, "thread"},
};

// Excludes what is inserted from sanitizers.
template <typename T> T *mine(T *V) {
  if (auto *I = dyn_cast<Instruction>(V))
    I->setMetadata(I->getContext().getMDKindID("nosanitize"), MDNode::get(I->getContext(), {}));
  return V;
}

// Adds to a number in memory.
inline void addTo(IRBuilder<> &IRB, Value *Slot, Value *More, Align Aligned) {
  LoadInst *Before = IRB.CreateAlignedLoad(More->getType(), Slot, Aligned);
  mine(Before);
  mine(IRB.CreateAlignedStore(mine(IRB.CreateAdd(Before, More)), Slot, Aligned));
}

// A function that each linked object has once, whatever the number of its modules.
inline Function *onceForObject(Module &M, FunctionType *Ty, const std::string &Name) {
  auto *F = Function::Create(Ty, GlobalValue::LinkOnceODRLinkage, Name, M);
  F->setVisibility(GlobalValue::HiddenVisibility);
  F->setComdat(M.getOrInsertComdat(Name));
  F->addFnAttr(Attribute::NoUnwind);
  return F;
}

// The bound of a section, which the linker defines.
inline Constant *boundOf(Module &M, const std::string &Name, PointerType *Ptr) {
  GlobalVariable *G = M.getNamedGlobal(Name);
  if (!G) {
    G = new GlobalVariable(M, Type::getInt8Ty(M.getContext()), false, GlobalValue::ExternalWeakLinkage, nullptr, Name);
    G->setVisibility(GlobalValue::HiddenVisibility);
  }
  return ConstantExpr::getPointerCast(G, Ptr);
}

// A constructor or destructor that passes the bounds of sections to a function of the runtime. That is a weak reference: a
// shared library works in a program without the runtime.
inline Function *hookOfObject(Module &M, const std::string &Name, const char *Callee, std::initializer_list<const char *> Sections) {
  LLVMContext &C = M.getContext();
  auto *Ptr = pointerTo(Type::getInt8Ty(C));
  Function *F = onceForObject(M, FunctionType::get(Type::getVoidTy(C), false), Name);
  SmallVector<Type *, 4> Types(2 * Sections.size(), Ptr);
  auto *CallTy = FunctionType::get(Type::getVoidTy(C), Types, false);
  auto *Target = dyn_cast<Function>(M.getOrInsertFunction(Callee, CallTy).getCallee());
  BasicBlock *Test = BasicBlock::Create(C, "", F), *Call = BasicBlock::Create(C, "", F), *Done = BasicBlock::Create(C, "", F);
  IRBuilder<> IRB(Test);
  if (Target && Target->isDeclaration()) {
    Target->setLinkage(GlobalValue::ExternalWeakLinkage);
    IRB.CreateCondBr(IRB.CreateIsNotNull(Target), Call, Done);
    IRB.SetInsertPoint(Call);
    SmallVector<Value *, 4> Arguments;
    for (const char *Section : Sections)
      for (const char *End : {"__start_", "__stop_"})
        Arguments.push_back(boundOf(M, std::string(End) + Section, Ptr));
    IRB.CreateCall(CallTy, Target, Arguments);
    IRB.CreateBr(Done);
  } else {
    IRB.CreateBr(Call);
    IRBuilder<>(Call).CreateBr(Done);
  }
  IRBuilder<>(Done).CreateRetVoid();
  return F;
}

// A pass that also runs with -O0, where passes are skipped by default. `Change` says whether it has changed anything.
template <bool (*Change)(Module &)> struct RequiredPass : PassInfoMixin<RequiredPass<Change>> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    return Change(M) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

// Has a pass come first, so that the code is still that of the source.
template <bool (*Change)(Module &)> void addAtStart(PassBuilder &PB) {
  PB.registerPipelineStartEPCallback([](ModulePassManager &MPM, auto...) { MPM.addPass(RequiredPass<Change>()); });
}
