// Memory by place: how deep the stack was where a function was entered, and the bytes that each of its calls of an allocator
// got. A function that calls others has slots for it behind its charges, u32 each: one for the stack, then one for each call.
// They are neither edges nor instructions: only their maxima count, in campaigns that look for memory.
#pragma once

#include "stack.h"

namespace memory {

// Sources of the size of an allocation.
enum Size {
  Argument, // argument Arg
  Product,  // argument Arg times the next one
};

struct Allocator {
  const char *Name;
  Size How;
  unsigned Arg;
  // The block may be an old one that has become larger: the sum of all sizes would be that of memory which nobody has at once.
  bool Moves;
};

inline const Allocator *allocator(StringRef Name) {
  static const Allocator Functions[] = {
      {"malloc", Argument, 0, false},
      {"calloc", Product, 0, false},
      {"realloc", Argument, 1, true},
      {"reallocarray", Product, 1, true},
      {"aligned_alloc", Argument, 1, false},
      {"memalign", Argument, 1, false},
      // operator new, of one and of several, aligned, and without exceptions
      {"_Znwm", Argument, 0, false},
      {"_Znam", Argument, 0, false},
      {"_ZnwmSt11align_val_t", Argument, 0, false},
      {"_ZnamSt11align_val_t", Argument, 0, false},
      {"_ZnwmRKSt9nothrow_t", Argument, 0, false},
      {"_ZnamRKSt9nothrow_t", Argument, 0, false},
  };
  for (const Allocator &A : Functions)
    if (Name == A.Name)
      return &A;
  return nullptr;
}

// The slots of one function. Created before anything else is inserted into it.
class Slots {
public:
  // Has none unless `IsWanted`.
  Slots(Function &F, bool IsWanted) : C(F.getContext()), Stack(IsWanted && stack::isTracked(F)) {
    if (!Stack)
      return;
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        look(*Call);
  }

  unsigned size() const { return Stack ? 1 + Sites.size() : 0; }

  // Inserts the code; the slots are those of Table, of type Ty, from First on. `Start` is the first place of the function behind
  // its variables; `Recurs` is as in stack::track.
  void insert(ArrayType *Ty, GlobalVariable *Table, unsigned First, Instruction *Start, bool Recurs) {
    if (!Stack)
      return;
    auto At = [&](IRBuilder<> &IRB, unsigned Slot) { return IRB.CreateConstInBoundsGEP2_32(Ty, Table, 0, First + Slot); };
    IRBuilder<> AtStart(Start);
    stack::track(Start, At(AtStart, 0), Recurs);
    unsigned Slot = 0;
    for (const Site &S : Sites) {
      IRBuilder<> IRB(isCountedBefore(*S.At) ? cast<Instruction>(S.At) : S.At->getNextNode());
      // positions in the middle of others' locations would give these instructions a line
      IRB.SetCurrentDebugLocation(S.At->getDebugLoc());
      raise(IRB, At(IRB, ++Slot), got(IRB, S), S.A->Moves);
    }
  }

private:
  struct Site {
    CallBase *At;
    const Allocator *A;
  };

  LLVMContext &C;
  bool Stack;
  SmallVector<Site, 4> Sites;

  void look(CallBase &Call) {
    const Function *Callee = Call.getCalledFunction();
    const Allocator *A = Callee && Callee->isDeclaration() ? allocator(Callee->getName()) : nullptr;
    if (!A || !Call.getType()->isPointerTy() || Call.arg_size() < A->Arg + (A->How == Product ? 2 : 1))
      return;
    for (unsigned Arg = A->Arg; Arg < A->Arg + (A->How == Product ? 2 : 1); ++Arg)
      if (!Call.getArgOperand(Arg)->getType()->isIntegerTy())
        return;
    Sites.push_back({&Call, A});
  }

  // Behind a call that may throw, or that the function ends with, there is no place in its block.
  static bool isCountedBefore(const CallBase &Call) {
    return !isa<CallInst>(Call) || cast<CallInst>(Call).isMustTailCall();
  }

  // Bytes that a call got, as a u32: none if it failed, as what nobody can have would be the largest for ever.
  Value *got(IRBuilder<> &IRB, const Site &S) {
    IntegerType *I64 = IRB.getInt64Ty();
    Value *Most = ConstantInt::get(I64, UINT32_MAX);
    auto AtMost = [&](Value *V) { return IRB.CreateSelect(IRB.CreateICmpULT(V, Most), V, Most); };
    auto Number = [&](unsigned Arg) { return AtMost(IRB.CreateZExtOrTrunc(S.At->getArgOperand(Arg), I64)); };
    Value *Bytes = Number(S.A->Arg);
    if (S.A->How == Product)
      Bytes = AtMost(IRB.CreateMul(Bytes, Number(S.A->Arg + 1)));
    Bytes = IRB.CreateTrunc(Bytes, IRB.getInt32Ty());
    return isCountedBefore(*S.At) ? Bytes : IRB.CreateSelect(IRB.CreateIsNull(S.At), IRB.getInt32(0), Bytes);
  }

  // Adds to a slot, which stays at its largest number, or makes it the larger one.
  void raise(IRBuilder<> &IRB, Value *Slot, Value *Bytes, bool IsLargest) {
    Value *Before = mine(IRB.CreateAlignedLoad(IRB.getInt32Ty(), Slot, Align(4)));
    Value *Now = IsLargest ? IRB.CreateSelect(IRB.CreateICmpULT(Before, Bytes), Bytes, Before)
                           : IRB.CreateBinaryIntrinsic(Intrinsic::uadd_sat, Before, Bytes);
    mine(IRB.CreateAlignedStore(Now, Slot, Align(4)));
  }
};

} // namespace memory
