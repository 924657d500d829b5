// Mutations of effects: stores, calls, conditions, and the constants that are stored, passed and returned.
#pragma once

#include "values.h"

namespace mutants {

// How a call of the C library takes a number of bytes: the index of the argument, and what is one too many or too few.
struct SizeArgument {
  const char *Function;
  int Argument;
  int Step;
};

const SizeArgument SizeArguments[] = {
    {"malloc", 0, -1},  {"calloc", 0, -1},  {"realloc", 1, -1}, {"aligned_alloc", 1, -1}, {"_Znwm", 0, -1}, {"_Znam", 0, -1},
{"memcpy", 2, 1},   {"memmove", 2, 1},  {"memset", 2, 1},         {"memcmp", 2, 1}, {"strncpy", 2, 1},
    {"strncmp", 2, 1},  {"snprintf", 1, 1}, {"fgets", 1, 1},
};

class Effects {
public:
  Effects(Mutations &All, Function &F, AllocaInst *&ScratchOfCopy, Function &Nothing)
      : All(All), Scratch(ScratchOfCopy), Nothing(Nothing), IsSanitized(F.hasFnAttribute(Attribute::SanitizeAddress)) {
    for (Instruction &I : instructions(F)) {
      if (auto *Declare = dyn_cast<DbgDeclareInst>(&I))
        Variables.insert(Declare->getAddress());
      declaredByRecords(I, Variables, 0);
      // declarations become assignments where clang optimises, from LLVM 16 on
      if (isa<AllocaInst>(I) && I.getMetadata("DIAssignID"))
        Variables.insert(&I);
      auto *Return = dyn_cast<ReturnInst>(&I);
      auto *Load = Return ? dyn_cast_or_null<LoadInst>(Return->getReturnValue()) : nullptr;
      if (Load)
        Returned.insert(Load->getPointerOperand()->stripPointerCasts());
    }
  }

  // The largest store that may go to the scratch memory instead, in bytes.
  uint64_t scratchBytes() const { return Largest; }

  void visit(Instruction &I) {
    if (auto *Store = dyn_cast<StoreInst>(&I))
      store(*Store);
    else if (auto *Call = dyn_cast<CallBase>(&I))
      call(*Call);
    else if (auto *Branch = dyn_cast<BranchInst>(&I))
      branch(*Branch);
    else if (isa<ReturnInst>(I) && I.getNumOperands())
      constants(I, 0);
    else if (isa<SelectInst>(I)) {
      constants(I, 1);
      constants(I, 2);
    }
  }

private:
  Mutations &All;
  AllocaInst *&Scratch;
  Function &Nothing;
  bool IsSanitized;
  SmallPtrSet<const Value *, 16> Variables, Returned;
  uint64_t Largest = 0;

  void add(Instruction &I, int Operand, Operator Kind, std::string Was, std::string Became, MakeValue Make) {
    All.push_back({&I, Operand, Kind, std::move(Was), std::move(Became), std::move(Make)});
  }

  void constants(Instruction &I, int Operand) {
    auto *C = dyn_cast<ConstantInt>(I.getOperand(Operand));
    if (!C)
      return;
    for (const APInt &Other : insteadOf(C->getValue(), false)) {
      Constant *New = ConstantInt::get(C->getType(), Other);
      add(I, Operand, Operator::Constant, text(C->getValue()), text(Other),
          [New](IRBuilder<> &, Instruction *, Value *) -> Value * { return New; });
    }
  }

  void store(StoreInst &I) {
    Value *To = I.getPointerOperand();
    const Value *Variable = To->stripPointerCasts();
    bool IsTemporary = isa<AllocaInst>(Variable) && !Variables.count(Variable);
    if (isa<Argument>(I.getValueOperand()) && isa<AllocaInst>(Variable))
      return; // a parameter
    if (!IsTemporary || Returned.count(Variable))
      constants(I, 0);
    auto Size = I.getModule()->getDataLayout().getTypeStoreSize(I.getValueOperand()->getType());
    if (IsTemporary || I.isAtomic() || Size.isScalable() || I.getPointerAddressSpace() != 0)
      return;
    Largest = std::max<uint64_t>(Largest, Size.getKnownMinValue());
    AllocaInst *&ScratchOfCopy = Scratch;
    add(I, StoreInst::getPointerOperandIndex(), Operator::StoreDeleted, "assignment", "nothing",
        [&ScratchOfCopy](IRBuilder<> &B, Instruction *Copy, Value *) -> Value * {
          Value *Place = cast<StoreInst>(Copy)->getPointerOperand();
          return ScratchOfCopy ? B.CreatePointerCast(ScratchOfCopy, Place->getType()) : Place;
        });
  }

  void branch(BranchInst &I) {
    if (!I.isConditional() || isa<CmpInst>(I.getCondition()) || isa<Constant>(I.getCondition()) || isa<PHINode>(I.getCondition()))
      return;
    add(I, 0, Operator::ConditionNegated, "condition", "!condition",
        [](IRBuilder<> &B, Instruction *Copy, Value *) { return B.CreateNot(cast<BranchInst>(Copy)->getCondition()); });
  }

  static std::string called(const CallBase &I) {
    if (auto *F = dyn_cast<Function>(I.getCalledOperand()->stripPointerCasts())) {
      if (auto *Place = F->getSubprogram())
        return Place->getName().str() + "()";
      return F->getName().str() + "()";
    }
    return "call";
  }

  void call(CallBase &I) {
    if (auto *Memory = dyn_cast<MemIntrinsic>(&I)) {
      memory(*Memory);
      return;
    }
    auto *F = dyn_cast<Function>(I.getCalledOperand()->stripPointerCasts());
    StringRef Name = F ? F->getName() : "";
    bool OfLanguage = Name.substr(0, 5) == "__cxa" || Name.substr(0, 7) == "__clang" || Name.substr(0, 7) == "_Unwind";
    if (isa<IntrinsicInst>(I) || I.isInlineAsm() || I.isMustTailCall() || I.hasOperandBundles() || OfLanguage)
      return;
    for (unsigned At = 0; At < I.arg_size(); ++At)
      if (!I.paramHasAttr(At, Attribute::ImmArg))
        constants(I, At);
    if (F && IsSanitized)
      sizes(I, Name);
    if (I.use_empty())
      deleted(I);
    else if (behind(&I) && (I.getType()->isIntegerTy() || I.getType()->isFloatingPointTy() || I.getType()->isPointerTy()))
      add(I, ResultOf, Operator::ResultZero, called(I), I.getType()->isPointerTy() ? "null" : "0",
          [](IRBuilder<> &, Instruction *Copy, Value *) { return Constant::getNullValue(Copy->getType()); });
  }

  // Not where the result comes back in memory, which nobody else would write.
  void deleted(CallBase &I) {
    auto *Next = I.getNextNode();
    std::string Name = called(I);
    // destructors stand nowhere in the source
    if (Name[0] == '~' || I.doesNotReturn() || I.hasStructRetAttr() || (Next && isa<UnreachableInst>(Next)))
      return;
    Function &Instead = Nothing;
    unsigned Callee = &I.getCalledOperandUse() - I.op_begin();
    add(I, Callee, Operator::CallDeleted, Name, "nothing",
        [&Instead](IRBuilder<> &B, Instruction *Copy, Value *) {
          return B.CreatePointerCast(&Instead, cast<CallBase>(Copy)->getCalledOperand()->getType());
        });
  }

  // Copies that the compiler knows: of memory, and of structures.
  void memory(MemIntrinsic &I) {
    if (I.getIntrinsicID() == Intrinsic::memcpy_inline)
      return;
    const char *What = isa<MemSetInst>(I) ? "memset()" : "copy";
    add(I, 2, Operator::CallDeleted, What, "nothing",
        [](IRBuilder<> &, Instruction *Copy, Value *) { return Constant::getNullValue(Copy->getOperand(2)->getType()); });
    if (IsSanitized)
      size(I, 2, 1);
  }

  void sizes(CallBase &I, StringRef Name) {
    for (const SizeArgument &S : SizeArguments)
      if (Name == S.Function && unsigned(S.Argument) < I.arg_size())
        size(I, S.Argument, S.Step);
  }

  void size(CallBase &I, int Argument, int Step) {
    if (!I.getArgOperand(Argument)->getType()->isIntegerTy())
      return;
    add(I, Argument, Operator::SizeOffByOne, "size", Step < 0 ? "size - 1" : "size + 1",
        [Argument, Step](IRBuilder<> &B, Instruction *Copy, Value *) {
          Value *Size = cast<CallBase>(Copy)->getArgOperand(Argument);
          return B.CreateAdd(Size, ConstantInt::get(Size->getType(), Step, true));
        });
  }
};

} // namespace mutants
