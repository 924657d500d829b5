// The code that counts, charges and does what chosen mutants do, in functions of each module that are inlined everywhere.
#pragma once

#include "common.h"

namespace performance {

// The gates: a mutant slows down what lies past so many rounds, elements or bytes.
const uint64_t Gates[] = {0, 16, 256, 4096};
const unsigned GatesOfSite = 4;

// Words of a site: how often it was reached, and what is charged to it, by the last gate that the amount is past.
const unsigned WordsOfSite = 1 + GatesOfSite;

class Emitter {
public:
  explicit Emitter(Module &M)
      : M(M), C(M.getContext()), I64(Type::getInt64Ty(C)), Ptr(pointerTo(Type::getInt8Ty(C))) {}

  // Adds to the instructions of the process.
  void count(IRBuilder<> &B, Value *Instructions) { add(B, instructions(), Instructions); }

  // The instructions so far.
  Value *counted(IRBuilder<> &B) { return load(B, instructions()); }

  // Notes that a site runs.
  void reach(IRBuilder<> &B, Value *State, unsigned Site) {
    B.CreateCall(reached(), {B.CreatePointerCast(State, Ptr), B.getInt64(Site)});
  }

  // Charges a site with what it would cost for this amount, and spends it if the mutant is chosen.
  void charge(IRBuilder<> &B, Value *State, unsigned Site, Value *Amount, Value *Cost) {
    B.CreateCall(charged(), {B.CreatePointerCast(State, Ptr), B.getInt64(Site), Amount, Cost});
  }

  // The hash that a function returns, degraded if the mutant is chosen.
  Value *degrade(IRBuilder<> &B, Value *State, unsigned Site, Value *Hash, Value *Mask) {
    return B.CreateCall(degraded(), {B.CreatePointerCast(State, Ptr), B.getInt64(Site), Hash, Mask});
  }

  // Whether a test of a cache stays the hit that it is: 0 if it is none, or the mutant is chosen.
  Value *keep(IRBuilder<> &B, Value *State, unsigned Site, Value *Hit) {
    return B.CreateCall(kept(), {B.CreatePointerCast(State, Ptr), B.getInt64(Site), Hit});
  }

  Module &module() { return M; }

private:
  Module &M;
  LLVMContext &C;
  IntegerType *I64;
  PointerType *Ptr;
  GlobalVariable *Instructions = nullptr;
  Function *Reached = nullptr, *Charged = nullptr, *Degraded = nullptr, *Kept = nullptr;

  LoadInst *load(IRBuilder<> &B, Value *From) { return mine(B.CreateAlignedLoad(I64, From, Align(8))); }

  void add(IRBuilder<> &B, Value *To, Value *More) { addTo(B, To, More, Align(8)); }

  // One for all objects: that of the runtime, which the executable exports.
  GlobalVariable *instructions() {
    if (!Instructions)
      Instructions = new GlobalVariable(M, I64, false, GlobalValue::WeakAnyLinkage, ConstantInt::get(I64, 0), "__quagmire_instructions");
    Instructions->setAlignment(Align(8));
    return Instructions;
  }

  Function *helper(const char *Name, unsigned Numbers, Type *Result) {
    SmallVector<Type *, 4> Arguments(1 + Numbers, I64);
    Arguments[0] = Ptr;
    auto *F = Function::Create(FunctionType::get(Result, Arguments, false), GlobalValue::InternalLinkage, Name, M);
    F->addFnAttr(Attribute::AlwaysInline);
    F->addFnAttr(Attribute::NoUnwind);
    // otherwise it would not be inlined into functions that have them
    for (const auto &Known : SanitizersOfFunctions)
      if (any_of(M, [&](const Function &Other) { return Other.hasFnAttribute(Known.first); }))
        F->addFnAttr(Known.first);
    return F;
  }

  // The word `Index` of a site, of which the state holds the first of all.
  Value *word(IRBuilder<> &B, Value *State, Value *Site, Value *Index) {
    Value *Slot = B.CreatePointerCast(State, pointerTo(Ptr));
    Value *Words = mine(B.CreateAlignedLoad(Ptr, Slot, Align(8)));
    Value *At = B.CreateAdd(B.CreateMul(Site, B.getInt64(WordsOfSite)), Index);
    return B.CreateGEP(I64, B.CreatePointerCast(Words, pointerTo(I64)), At);
  }

  Function *reached() {
    if (Reached)
      return Reached;
    Reached = helper("quagmire.reach", 1, Type::getVoidTy(C));
    IRBuilder<> B(BasicBlock::Create(C, "", Reached));
    add(B, word(B, Reached->getArg(0), Reached->getArg(1), B.getInt64(0)), B.getInt64(1));
    B.CreateRetVoid();
    return Reached;
  }

  Function *charged() {
    if (Charged)
      return Charged;
    Charged = helper("quagmire.charge", 3, Type::getVoidTy(C));
    Value *State = Charged->getArg(0), *Site = Charged->getArg(1), *Amount = Charged->getArg(2), *Cost = Charged->getArg(3);
    BasicBlock *Entry = BasicBlock::Create(C, "", Charged), *Burn = BasicBlock::Create(C, "", Charged),
               *Done = BasicBlock::Create(C, "", Charged);
    IRBuilder<> B(Entry);
    Value *Last = B.getInt64(1);
    for (unsigned Gate = 1; Gate < GatesOfSite; ++Gate)
      Last = B.CreateAdd(Last, B.CreateZExt(B.CreateICmpUGT(Amount, B.getInt64(Gates[Gate])), I64));
    add(B, word(B, State, Site, Last), Cost);
    B.CreateCondBr(B.CreateICmpUGT(Amount, past(B, State, Site)), Burn, Done);
    B.SetInsertPoint(Burn);
    B.CreateCall(runtime("__quagmire_burn", FunctionType::get(B.getVoidTy(), {I64}, false)), {Cost});
    B.CreateBr(Done);
    IRBuilder<>(Done).CreateRetVoid();
    return Charged;
  }

  Function *degraded() {
    if (Degraded)
      return Degraded;
    Degraded = helper("quagmire.degrade", 3, I64);
    Value *State = Degraded->getArg(0), *Site = Degraded->getArg(1), *Hash = Degraded->getArg(2), *Mask = Degraded->getArg(3);
    BasicBlock *Entry = BasicBlock::Create(C, "", Degraded), *Chosen = BasicBlock::Create(C, "", Degraded),
               *Done = BasicBlock::Create(C, "", Degraded);
    IRBuilder<> B(Entry);
    add(B, word(B, State, Site, B.getInt64(0)), B.getInt64(1));
    Value *Past = past(B, State, Site);
    B.CreateCondBr(B.CreateICmpEQ(Past, B.getInt64(UINT64_MAX)), Done, Chosen);
    B.SetInsertPoint(Chosen);
    Value *Other = B.CreateCall(runtime("__quagmire_degraded", FunctionType::get(I64, {I64, I64, I64}, false)), {Hash, Mask, Past});
    B.CreateBr(Done);
    B.SetInsertPoint(Done);
    PHINode *Both = B.CreatePHI(I64, 2);
    Both->addIncoming(Hash, Entry);
    Both->addIncoming(Other, Chosen);
    B.CreateRet(Both);
    return Degraded;
  }

  Function *kept() {
    if (Kept)
      return Kept;
    Kept = helper("quagmire.keep", 2, I64);
    Value *State = Kept->getArg(0), *Site = Kept->getArg(1), *Hit = Kept->getArg(2);
    IRBuilder<> B(BasicBlock::Create(C, "", Kept));
    Value *Hits = word(B, State, Site, B.getInt64(0));
    Value *IsKept = B.CreateICmpULT(load(B, Hits), past(B, State, Site));
    add(B, Hits, Hit);
    B.CreateRet(B.CreateAnd(Hit, B.CreateZExt(IsKept, I64)));
    return Kept;
  }

  // The amount past which a site does what its chosen mutant does; the largest number if none is chosen.
  Value *past(IRBuilder<> &B, Value *State, Value *Site) {
    Value *Numbers = B.CreatePointerCast(State, pointerTo(I64));
    return load(B, B.CreateGEP(I64, Numbers, B.CreateAdd(Site, B.getInt64(1))));
  }

  // A function of the runtime: a shared library works in a program without it.
  FunctionCallee runtime(const char *Name, FunctionType *Ty) {
    FunctionCallee Callee = M.getOrInsertFunction(Name, Ty);
    if (auto *F = dyn_cast<Function>(Callee.getCallee()))
      F->setLinkage(GlobalValue::ExternalWeakLinkage);
    return Callee;
  }
};

} // namespace performance
