// Costs of functions of the C library (off with QUAGMIRE_NO_LIBRARY_COSTS): what they do is not compiled with this pass, so
// that a program which spends its time in strlen or memmove would have no costs there.
//
// A call costs instructions of its caller, at the line of the call:
//   - a fixed number, and all of the cost where the length is a constant: part of the weight of the block.
//   - a number that depends on a length: a charge, a u32 behind the counts and progress slots of the caller, to which the
//     caller adds where it calls. One for each call in the code. Charges are no edges: they have no buckets and no weights,
//     but a line (see lines.h).
// Lengths are those that the function had to look at, by its arguments or by what it has found. They depend on nothing else,
// so that the same run has the same cost.
#pragma once

#include "library_functions.h"

namespace library {

inline uint64_t scaled(uint64_t Length, int Shift) {
  Length = std::min(Length, Largest);
  return std::min(Shift < 0 ? Length << -Shift : Length >> Shift, Largest);
}

// The most that the length of a call can be, where that is known: a limit that is constant, or a string that is.
inline uint64_t mostOf(const CallBase &C, const Known &K) {
  uint64_t Most = UINT64_MAX;
  auto Limit = [&](unsigned Arg) {
    if (auto *Number = dyn_cast<ConstantInt>(C.getArgOperand(Arg)))
      Most = std::min(Most, Number->getValue().getLimitedValue());
  };
  auto Text = [&](unsigned Arg) {
    StringRef Constant;
    if (getConstantStringInfo(C.getArgOperand(Arg), Constant))
      Most = std::min<uint64_t>(Most, Constant.size());
  };
  switch (K.How) {
  case Nothing:
    return 0;
  case Bytes:
  case Found:
    Limit(K.Arg);
    break;
  case FoundInText:
    Text(0);
    break;
  case CommonText:
  case CommonFolded:
    Text(0);
    Text(1);
    [[fallthrough]];
  case Common:
    if (K.Arg)
      Limit(K.Arg);
    break;
  default:
    break;
  }
  return Most;
}

inline bool isConstant(const CallBase &C, const Known &K) {
  return K.How == Bytes && isa<ConstantInt>(C.getArgOperand(K.Arg));
}

// Instructions that a call stands for besides itself, whatever its length: part of a weight.
inline uint64_t fixedCost(const Instruction &I) {
  const Known *K = called(I);
  if (!K)
    return 0;
  auto &C = cast<CallBase>(I);
  if (!isConstant(C, *K))
    return K->Fixed;
  // of an intrinsic with a constant length the compiler often makes instructions
  return scaled(mostOf(C, *K), K->Shift) + (isa<MemIntrinsic>(C) ? 0 : K->Fixed);
}

// The charges of one function. Created before anything else is inserted into it.
class Charges {
public:
  // Has none unless `IsWanted`.
  Charges(Function &F, bool IsWanted) : M(*F.getParent()), C(F.getContext()), I32(Type::getInt32Ty(C)) {
    if (!IsWanted)
      return;
    for (BasicBlock &BB : F)
      for (Instruction &I : BB)
        if (const Known *K = called(I))
          look(cast<CallBase>(I), *K);
  }

  // The calls with a charge, in the order of the charges.
  SmallVector<const Instruction *, 16> calls() const {
    SmallVector<const Instruction *, 16> Calls;
    for (const Site &S : Sites)
      Calls.push_back(S.At);
    return Calls;
  }

  unsigned size() const { return Sites.size(); }

  // Inserts the code; the charges are those of Table, of type Ty, from First on.
  void insert(ArrayType *Ty, GlobalVariable *Table, unsigned First) {
    forEach([&](IRBuilder<> &IRB, Value *Units) {
      addTo(IRB, IRB.CreateConstInBoundsGEP2_32(Ty, Table, 0, First++), Units, Align(4));
    });
  }

  // Inserts, at each call, what computes its instructions (a u32), and has `Add` insert what adds them up.
  void forEach(function_ref<void(IRBuilder<> &, Value *Units)> Add) {
    for (const Site &S : Sites) {
      IRBuilder<> IRB(isMeasuredBefore(*S.K) ? cast<Instruction>(S.At) : S.At->getNextNode());
      // positions in the middle of others' locations would give these instructions a line
      IRB.SetCurrentDebugLocation(S.At->getDebugLoc());
      Add(IRB, units(IRB, length(IRB, *S.At, *S.K), S.K->Shift));
    }
  }

  // Inserts what computes the length that a call has worked on: behind it, unless that is known before.
  Value *length(IRBuilder<> &IRB, CallBase &Call, const Known &K) {
    auto Argument = [&](unsigned Arg) { return IRB.CreatePointerCast(Call.getArgOperand(Arg), pointer()); };
    switch (K.How) {
    case Bytes:
      return number(IRB, Call, K.Arg);
    case Product:
      // each is limited, so that the product fits
      return atMost(IRB, IRB.CreateMul(atMost(IRB, number(IRB, Call, K.Arg), LargestCleared),
                                       atMost(IRB, number(IRB, Call, K.Arg + 1), 1 << 14)),
                    LargestCleared);
    case Result:
      return IRB.CreateZExtOrTrunc(&Call, word());
    case Found: {
      Value *Distance = IRB.CreateSub(IRB.CreatePtrToInt(&Call, word()), IRB.CreatePtrToInt(Argument(0), word()));
      return IRB.CreateSelect(IRB.CreateIsNull(&Call), number(IRB, Call, K.Arg), Distance);
    }
    case FoundInText:
      return IRB.CreateCall(scanned(), {Argument(0), IRB.CreatePointerCast(&Call, pointer())});
    case WholeText:
      return IRB.CreateCall(scanned(), {Argument(K.Arg), ConstantPointerNull::get(pointer())});
    case Common:
    case CommonText:
    case CommonFolded: {
      Value *Most = K.Arg ? number(IRB, Call, K.Arg) : ConstantInt::getAllOnesValue(word());
      // as enum qgm_compared in runtime/quagmire.h
      unsigned Kind = K.How == Common ? 0 : K.How == CommonText ? 1 : 3;
      return IRB.CreateCall(common(), {Argument(0), Argument(1), Most, ConstantInt::get(I32, Kind)});
    }
    case Sorted: {
      Value *Items = atMost(IRB, number(IRB, Call, K.Arg), Largest);
      // the number of its bits, in floating point: as exact as it is short
      Value *Bits = IRB.CreateBinaryIntrinsic(Intrinsic::ctlz, Items, IRB.getFalse());
      return IRB.CreateMul(Items, IRB.CreateSub(ConstantInt::get(word(), word()->getBitWidth()), Bits));
    }
    case Nothing:
      break;
    }
    return ConstantInt::get(word(), 0);
  }

  static bool isMeasuredBefore(const Known &K) { return K.How == Bytes || K.How == Product || K.How == Sorted; }

private:
  struct Site {
    CallBase *At;
    const Known *K;
  };

  Module &M;
  LLVMContext &C;
  IntegerType *I32;
  SmallVector<Site, 16> Sites;

  void look(CallBase &Call, const Known &K) {
    // behind a call that may throw, or that the function ends with, there is no place in its block
    bool HasPlace = isMeasuredBefore(K) || (isa<CallInst>(Call) && !cast<CallInst>(Call).isMustTailCall());
    if (HasPlace && !isConstant(Call, K) && scaled(mostOf(Call, K), K.Shift) > 0)
      Sites.push_back({&Call, &K});
  }

  IntegerType *word() { return M.getDataLayout().getIntPtrType(C); }
  PointerType *pointer() { return pointerTo(Type::getInt8Ty(C)); }

  Value *number(IRBuilder<> &IRB, CallBase &Call, unsigned Arg) {
    return IRB.CreateZExtOrTrunc(Call.getArgOperand(Arg), word());
  }

  Value *atMost(IRBuilder<> &IRB, Value *V, uint64_t Most) {
    Value *Limit = ConstantInt::get(V->getType(), Most);
    return IRB.CreateSelect(IRB.CreateICmpULT(V, Limit), V, Limit);
  }

  Value *units(IRBuilder<> &IRB, Value *Length, int Shift) {
    Length = Shift < 0 ? IRB.CreateShl(atMost(IRB, Length, Largest), -Shift) : IRB.CreateLShr(Length, Shift);
    return IRB.CreateZExtOrTrunc(atMost(IRB, Length, Largest), I32);
  }

  // One function per linked object with this name; its body is to be written if `IsNew`.
  Function *helper(const char *Name, ArrayRef<Type *> Arguments, bool &IsNew) {
    Function *F = M.getFunction(Name);
    IsNew = !F;
    if (F)
      return F;
    return onceForObject(M, FunctionType::get(word(), Arguments, false), Name);
  }

  // Distance from a string's start to what was found in it; without that, the length of the string.
  Function *scanned() {
    bool IsNew;
    Function *F = helper("quagmire.scanned", {pointer(), pointer()}, IsNew);
    if (!IsNew)
      return F;
    Value *Start = F->getArg(0), *FoundAt = F->getArg(1);
    BasicBlock *Test = BasicBlock::Create(C, "", F), *Near = BasicBlock::Create(C, "", F),
               *Whole = BasicBlock::Create(C, "", F);
    IRBuilder<> IRB(Test);
    IRB.CreateCondBr(IRB.CreateIsNull(FoundAt), Whole, Near);
    IRB.SetInsertPoint(Near);
    IRB.CreateRet(IRB.CreateSub(IRB.CreatePtrToInt(FoundAt, word()), IRB.CreatePtrToInt(Start, word())));
    IRB.SetInsertPoint(Whole);
    FunctionCallee Strlen = M.getOrInsertFunction("strlen", FunctionType::get(word(), {pointer()}, false));
    IRB.CreateRet(IRB.CreateCall(Strlen, {Start}));
    return F;
  }

  // Number of bytes that two pieces of memory have in common at their start. The runtime is asked only if the first byte
  // is equal (without case: always), and if there is one.
  Function *common() {
    bool IsNew;
    Function *F = helper("quagmire.common", {pointer(), pointer(), word(), I32}, IsNew);
    if (!IsNew)
      return F;
    const char *Callee = "__quagmire_common";
    Function *Target = M.getFunction(Callee);
    if (!Target)
      Target = Function::Create(F->getFunctionType(), GlobalValue::ExternalWeakLinkage, Callee, M);
    BasicBlock *Entry = BasicBlock::Create(C, "", F), *First = BasicBlock::Create(C, "", F),
               *Test = BasicBlock::Create(C, "", F), *Ask = BasicBlock::Create(C, "", F),
               *None = BasicBlock::Create(C, "", F);
    IRBuilder<> IRB(Entry);
    IRB.CreateCondBr(IRB.CreateIsNull(F->getArg(2)), None, First);
    IRB.SetInsertPoint(First);
    Type *Byte = Type::getInt8Ty(C);
    Value *Equal = IRB.CreateICmpEQ(mine(IRB.CreateLoad(Byte, F->getArg(0))), mine(IRB.CreateLoad(Byte, F->getArg(1))));
    IRB.CreateCondBr(IRB.CreateOr(Equal, IRB.CreateICmpUGT(F->getArg(3), ConstantInt::get(I32, 1))), Test, None);
    IRB.SetInsertPoint(Test);
    IRB.CreateCondBr(IRB.CreateIsNotNull(Target), Ask, None);
    IRB.SetInsertPoint(Ask);
    IRB.CreateRet(IRB.CreateCall(F->getFunctionType(), Target,
                                 {F->getArg(0), F->getArg(1), F->getArg(2), F->getArg(3)}));
    IRBuilder<>(None).CreateRet(ConstantInt::get(word(), 0));
    return F;
  }
};

} // namespace library

// Weight of an instruction, what it costs when its block runs: 1, and more if it calls a function of the C library.
inline uint64_t weightOf(const Instruction &I) {
  if (isa<PHINode>(I) || isa<DbgInfoIntrinsic>(I) || I.isLifetimeStartOrEnd())
    return 0;
  return 1 + library::fixedCost(I);
}
