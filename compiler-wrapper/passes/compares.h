// What comparisons compare. No branch that is counted is added or changed, and nothing weighs more.
//
// Handed to the runtime, in runs whose comparisons are recorded (runtime/comparisons.c), are the operands of
//   - == and != between integers of 2 to 8 bytes of which neither is a constant: a checksum that is computed and the one that
//     the input has, a length and what is there.
//   - == and != with a magic number, and each case of a switch that is one: three bytes of it or more are neither 0 nor 0xff,
//     as in the names of chunks, tables and boxes. It is a token, too (tokens.h), but an input has many places for one.
//   - memcmp, strcmp and the like, and words that code compares byte by byte (words.h).
//   - hashes, and the bytes that they are made of (hashed.h).
// Mutation hardly guesses these, and programs hardly compare them in their innermost loops.
//
// QUAGMIRE_COMPARES: progress slots beside that, and all other operands. A search that only sees which branch is taken has
// to guess all bytes of `memcmp(p, "<!ATTLIST", 9)` at once; one that sees how many are right finds them one after the
// other. Slots are u32 words behind the counts of the function's edges, which become 1 when a comparison got so far and are
// never more. What gets slots:
//   - == and != of integers of 2 to 8 bytes with a constant: slot k - 1 is for k equal bytes, wherever they are, so that
//     the order in which a program puts numbers together does not matter. All bytes equal is what the branch shows.
//   - those whose result goes into `a && b` that was folded into one branch, of single bytes too: one slot for equal.
//   - switch: as for == with each case.
//   - memcmp, strcmp and the like: a call of __quagmire_compare (runtime/comparisons.c) before them; slot k - 1 is for the
//     first k bytes.
// Numbers that fit into a byte, positive or negative, are left out, and so are counters of loops: they are hit anyway.
// Operands are recorded of all these, and of every other comparison of integers of 2 to 8 bytes but those of counters.
// Each costs some instructions in every run. libxml2 takes a fifth longer and libpng, which compares in its innermost loops,
// three times as long: that is why this is not the default.
#pragma once

#include "hashed.h"
#include "words.h"

namespace compares {

#ifdef QUAGMIRE_COMPARES
const bool Everything = true;
#else
const bool Everything = false;
#endif

// Kinds of operands, as in runtime/quagmire.h (enum qgm_compared).
enum OperandKind { Bytes = 0, Text = 1, Fold = 2 };

// A library function that compares its first two arguments.
struct Comparison {
  const char *Name;
  unsigned Compares;
  // Index of the argument that limits the length; 0 for none.
  unsigned Length = 0;
  // The length is an int: if negative, nothing is read.
  bool Signed = false;
  // The first argument is a std::string of libstdc++: pointer and length are its first two words.
  bool IsString = false;
};

inline const Comparison *comparison(StringRef Name) {
  static const Comparison Known[] = {
      {"memcmp", Bytes, 2},
      {"bcmp", Bytes, 2},
      {"strcmp", Text},
      {"strncmp", Text, 2},
      {"strcasecmp", Text | Fold},
      {"strncasecmp", Text | Fold, 2},
      {"xmlStrEqual", Text},
      {"xmlStrcmp", Text},
      {"xmlStrncmp", Text, 2, true},
      {"xmlStrcasecmp", Text | Fold},
      {"xmlStrncasecmp", Text | Fold, 2, true},
      {"g_strcmp0", Text},
      {"g_ascii_strcasecmp", Text | Fold},
      {"g_ascii_strncasecmp", Text | Fold, 2},
      {"OPENSSL_memcmp", Bytes, 2},
      {"CRYPTO_memcmp", Bytes, 2},
      // std::string::compare(const char *) const, which == calls
      {"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareEPKc", Text, 0, false, true},
  };
  for (const Comparison &C : Known)
    if (Name == C.Name)
      return &C;
  return nullptr;
}

// The comparisons of one function that are shown. Created before anything else is inserted into it.
class Probes {
public:
  explicit Probes(Function &F) : M(*F.getParent()), C(F.getContext()), I32(Type::getInt32Ty(C)), Words(F), Hashes(F) {
    for (BasicBlock &BB : F)
      for (Instruction &I : BB)
        if (auto *Compare = dyn_cast<ICmpInst>(&I))
          look(*Compare);
        else if (auto *Switch = dyn_cast<SwitchInst>(&I))
          look(*Switch);
        else if (auto *Call = dyn_cast<CallBase>(&I))
          look(*Call);
  }

  // Number of slots needed.
  unsigned slots() const { return Slots; }

  // Inserts the code; the slots are those of Table, of type Ty, from First on.
  void insert(ArrayType *Ty, GlobalVariable *Table, unsigned First) {
    TableTy = Ty;
    TableOf = Table;
    for (const Site &S : Sites) {
      unsigned Slot = First + S.Slot;
      if (auto *Compare = dyn_cast<ICmpInst>(S.At)) {
        if (bytesOf(Compare->getOperand(0)->getType()) > 1)
          record(Compare, Compare->getOperand(0), Compare->getOperand(1));
        IRBuilder<> IRB(Compare->getNextNode());
        if (S.Number > S.Whole)
          equalBytes(IRB, Compare->getOperand(0), Compare->getOperand(1), Slot);
        if (S.Whole)
          hit(IRB, Slot + S.Number - 1, Compare->getPredicate() == CmpInst::ICMP_EQ ? Compare : IRB.CreateNot(Compare));
      } else if (auto *Switch = dyn_cast<SwitchInst>(S.At)) {
        IRBuilder<> IRB(Switch);
        if (Everything)
          for (Value *Case : S.Cases) {
            equalBytes(IRB, Switch->getCondition(), Case, Slot);
            Slot += bytesOf(Case->getType()) - 1;
          }
        record(Switch, S.Cases, Switch->getCondition());
      } else {
        callRuntime(*cast<CallBase>(S.At), *S.Known, Slot, S.Number);
      }
    }
    for (const words::Pair &P : Words.Pairs)
      record(P);
    for (const hashed::Start &S : Hashes.Starts)
      record(S);
    for (const hashed::Result &R : Hashes.Results)
      record(R);
    for (Instruction *Remainder : Hashes.Remainders)
      recordRemainder(*Remainder);
  }

private:
  struct Site {
    Instruction *At;
    unsigned Slot;
    unsigned Number;
    // 1 if the last slot is for equal operands.
    unsigned Whole = 0;
    const Comparison *Known = nullptr;
    SmallVector<Value *, 1> Cases = {};
  };

  // Maximum number of cases that are shown of a switch, and of slots of a call.
  static const unsigned MostCases = 16, MostBytes = 32;

  Module &M;
  LLVMContext &C;
  IntegerType *I32;
  words::Finder Words;
  hashed::Finder Hashes;
  SmallVector<Site, 16> Sites;
  unsigned Slots = 0, Records = 0;
  ArrayType *TableTy = nullptr;
  GlobalVariable *TableOf = nullptr;

  void add(Site S) {
    S.Slot = Slots;
    Slots += S.Number;
    Sites.push_back(S);
  }

  static unsigned bytesOf(Type *T) {
    auto *Int = dyn_cast<IntegerType>(T);
    return Int && Int->getBitWidth() % 8 == 0 && Int->getBitWidth() <= 64 ? Int->getBitWidth() / 8 : 0;
  }

  static bool isLong(const ConstantInt &Number) {
    const APInt &V = Number.getValue();
    return std::min(V.getActiveBits(), (~V).getActiveBits()) > 8;
  }

  static bool isMagic(const ConstantInt &Number) {
    unsigned Telling = 0;
    for (unsigned Byte = 0; Byte < Number.getBitWidth() / 8; ++Byte) {
      uint64_t Value = Number.getValue().extractBitsAsZExtValue(8, 8 * Byte);
      Telling += Value != 0 && Value != 0xff;
    }
    return Telling >= 3;
  }

  // Whether a value is a loop counter: a constant is added to it in each iteration.
  static bool isCounter(const Value *V) {
    if (auto *Cast = dyn_cast<CastInst>(V))
      V = Cast->getOperand(0);
    if (const Value *Before = iterations::beforeStep(V))
      V = Before;
    auto *Phi = dyn_cast<PHINode>(V);
    return Phi && iterations::isStepped(*Phi);
  }

  void look(ICmpInst &Compare) {
    unsigned Size = bytesOf(Compare.getOperand(0)->getType());
    if (!Size)
      return;
    auto *Right = dyn_cast<ConstantInt>(Compare.getOperand(1)), *Left = dyn_cast<ConstantInt>(Compare.getOperand(0));
    // two constants: clang -O0 leaves such things
    bool Recorded = Size > 1 && !(Left && Right) && !isCounter(Compare.getOperand(0)) && !isCounter(Compare.getOperand(1));
    if (!Compare.isEquality() || !Everything) {
      const ConstantInt *Constant = Right ? Right : Left;
      if (Recorded && (Everything || (Compare.isEquality() && (!Constant || isMagic(*Constant)))))
        add({&Compare, 0, 0});
      return;
    }
    // a branch of its own shows that the operands are equal
    bool Folded = any_of(Compare.users(), [](const User *U) {
      auto *Binary = dyn_cast<BinaryOperator>(U);
      return isa<SelectInst>(U) || (Binary && Binary->isBitwiseLogicOp());
    });
    if (Size == 1) {
      if (Folded)
        add({&Compare, 0, 1, 1});
      return;
    }
    if (!Recorded)
      return;
    bool Slotted = (Left || Right) && isLong(Right ? *Right : *Left);
    add({&Compare, 0, Slotted ? Size - 1 + Folded : 0, Slotted && Folded});
  }

  void look(SwitchInst &Switch) {
    unsigned Size = bytesOf(Switch.getCondition()->getType());
    if (Size < 2 || isCounter(Switch.getCondition()))
      return;
    Site S = {&Switch, 0, 0};
    for (auto Case : Switch.cases())
      if ((Everything ? isLong(*Case.getCaseValue()) : isMagic(*Case.getCaseValue())) && S.Cases.size() < MostCases)
        S.Cases.push_back(Case.getCaseValue());
    S.Number = Everything ? S.Cases.size() * (Size - 1) : 0;
    if (!S.Cases.empty())
      add(std::move(S));
  }

  void look(CallBase &Call) {
    const Function *Callee = Call.getCalledFunction();
    const Comparison *Known = Callee ? comparison(Callee->getName()) : nullptr;
    // another function of the same name?
    if (!Known || Call.arg_size() < (Known->Length ? 3u : 2u) || !Call.getArgOperand(0)->getType()->isPointerTy() ||
        !Call.getArgOperand(1)->getType()->isPointerTy() ||
        (Known->Length && !Call.getArgOperand(Known->Length)->getType()->isIntegerTy()))
      return;
    uint64_t Number = MostBytes;
    for (unsigned Side : {0u, 1u}) {
      StringRef Constant;
      if (getConstantStringInfo(Call.getArgOperand(Side), Constant) && !Constant.empty() &&
          (Known->Compares & Text || !constantLength(Call, *Known)))
        Number = std::min<uint64_t>(Number, Constant.size());
    }
    if (ConstantInt *Length = constantLength(Call, *Known))
      Number = std::min(Number, Length->getValue().getLimitedValue());
    if (Number)
      add({&Call, 0, Everything ? unsigned(Number) : 0, 0, Known});
  }

  static ConstantInt *constantLength(CallBase &Call, const Comparison &Known) {
    return Known.Length ? dyn_cast<ConstantInt>(Call.getArgOperand(Known.Length)) : nullptr;
  }

  Value *slot(IRBuilder<> &IRB, unsigned Index) { return IRB.CreateConstInBoundsGEP2_32(TableTy, TableOf, 0, Index); }

  // Sets the slot to 1 if Is.
  void hit(IRBuilder<> &IRB, unsigned Index, Value *Is) {
    Value *Slot = slot(IRB, Index);
    LoadInst *Before = IRB.CreateAlignedLoad(I32, Slot, Align(4));
    mine(Before);
    mine(IRB.CreateAlignedStore(mine(IRB.CreateOr(Before, mine(IRB.CreateZExt(Is, I32)))), Slot, Align(4)));
  }

  // Sets the first slot if one byte is equal, the next one if two are, up to all but one.
  void equalBytes(IRBuilder<> &IRB, Value *A, Value *B, unsigned First) {
    Type *Int = A->getType();
    unsigned Size = bytesOf(Int);
    auto Each = [&](uint8_t Byte) { return ConstantInt::get(Int, APInt::getSplat(8 * Size, APInt(8, Byte))); };
    // the highest bit of each byte that differs, and how many of them there are
    Value *Differ = IRB.CreateXor(A, B);
    Value *Carry = IRB.CreateAdd(IRB.CreateAnd(Differ, Each(0x7f)), Each(0x7f));
    Value *Bits = IRB.CreateLShr(IRB.CreateAnd(IRB.CreateOr(Carry, Differ), Each(0x80)), 7);
    Value *Number = IRB.CreateLShr(IRB.CreateMul(Bits, Each(1)), 8 * (Size - 1));
    for (unsigned Equal = 1; Equal < Size; ++Equal)
      hit(IRB, First + Equal - 1, IRB.CreateICmpULE(Number, ConstantInt::get(Int, Size - Equal)));
  }

  void callRuntime(CallBase &Call, const Comparison &Known, unsigned First, unsigned Number) {
    IntegerType *Word = M.getDataLayout().getIntPtrType(C);
    PointerType *Ptr = pointerTo(Type::getInt8Ty(C));
    Function *Compare = declared("__quagmire_compare", {Ptr, Ptr, Word, pointerTo(I32), I32, I32});
    // slots are set in every run
    IRBuilder<> IRB(Number ? whereNotNull(Compare, &Call) : whereRecorded(&Call));
    Value *A = Call.getArgOperand(0), *B = Call.getArgOperand(1), *Most = ConstantInt::getAllOnesValue(Word);
    if (Known.IsString) {
      Value *Start = IRB.CreatePointerCast(A, pointerTo(Ptr));
      A = mine(IRB.CreateLoad(Ptr, Start));
      Value *Second = IRB.CreatePointerCast(Call.getArgOperand(0), pointerTo(Word));
      Most = mine(IRB.CreateLoad(Word, IRB.CreateConstInBoundsGEP1_32(Word, Second, 1)));
    }
    if (Known.Length) {
      Value *Length = Call.getArgOperand(Known.Length);
      if (Known.Signed) {
        Value *Zero = ConstantInt::get(Length->getType(), 0);
        Length = IRB.CreateSelect(IRB.CreateICmpSLT(Length, Zero), Zero, Length);
      }
      Most = IRB.CreateZExtOrTrunc(Length, Word);
    }
    Value *Place = Number ? slot(IRB, First) : IRB.CreatePointerCast(place(IRB), pointerTo(I32));
    IRB.CreateCall(Compare, {IRB.CreatePointerCast(A, Ptr), IRB.CreatePointerCast(B, Ptr), Most, Place,
                             ConstantInt::get(I32, Number), ConstantInt::get(I32, Known.Compares)});
  }

  // An address of its own for each comparison, which is never read.
  Value *place(IRBuilder<> &IRB) {
    Type *Bytes = Type::getInt8Ty(C);
    Value *Code = IRB.CreatePointerCast(IRB.GetInsertBlock()->getParent(), pointerTo(Bytes));
    return IRB.CreateConstGEP1_32(Bytes, Code, Records++);
  }

  // Hands over operands that are compared at an instruction: each of Left with Right. A constant comes first.
  void record(Instruction *At, ArrayRef<Value *> Left, Value *Right) {
    Type *Word = Type::getInt64Ty(C);
    Function *Compared = declared("__quagmire_compared_numbers", {pointerTo(Type::getInt8Ty(C)), Word, Word, I32, I32});
    IRBuilder<> IRB(whereRecorded(At));
    for (Value *A : Left) {
      Value *B = Right;
      if (isa<ConstantInt>(B))
        std::swap(A, B);
      IRB.CreateCall(Compared, {place(IRB), IRB.CreateZExt(A, Word), IRB.CreateZExt(B, Word),
                                ConstantInt::get(I32, bytesOf(A->getType())), ConstantInt::get(I32, isa<ConstantInt>(A))});
    }
  }

  // Hands over where two words are.
  void record(const words::Pair &P) {
    PointerType *Ptr = pointerTo(Type::getInt8Ty(C));
    Function *Compared = declared("__quagmire_compared_words", {Ptr, Ptr, Ptr});
    Instruction *Where = whereRecorded(P.Before);
    iterations::insertCopies(P.Copies, Where);
    IRBuilder<> IRB(Where);
    Value *Place = place(IRB);
    IRB.CreateCall(Compared, {Place, IRB.CreatePointerCast(P.First, Ptr), IRB.CreatePointerCast(P.Second, Ptr)});
  }

  // Hands over where bytes begin that a number is made of.
  void record(const hashed::Start &S) {
    PointerType *Ptr = pointerTo(Type::getInt8Ty(C));
    Function *Begins = declared("__quagmire_hash_begins", {Ptr});
    Instruction *Where = whereRecorded(S.Before);
    iterations::insertCopies(S.Copies, Where);
    IRBuilder<> IRB(Where);
    IRB.CreateCall(Begins, {IRB.CreatePointerCast(S.Address, Ptr)});
  }

  // Hands over that number.
  void record(const hashed::Result &R) {
    Type *Word = Type::getInt64Ty(C);
    Function *Hashed = declared("__quagmire_hashed", {pointerTo(Type::getInt8Ty(C)), Word, I32});
    IRBuilder<> IRB(whereRecorded(R.Before));
    Value *Place = place(IRB);
    IRB.CreateCall(Hashed, {Place, IRB.CreateZExt(R.Number, Word), ConstantInt::get(I32, R.IsFinal)});
  }

  // Hands over what is divided by what.
  void recordRemainder(Instruction &Remainder) {
    Type *Word = Type::getInt64Ty(C);
    Function *Reduced = declared("__quagmire_reduced", {Word, Word});
    IRBuilder<> IRB(whereRecorded(&Remainder));
    IRB.CreateCall(Reduced, {IRB.CreateZExt(Remainder.getOperand(0), Word), IRB.CreateZExt(Remainder.getOperand(1), Word)});
  }

  // A function of the runtime. Null in objects that are loaded into programs without it, as its variables are.
  Function *declared(const char *Name, ArrayRef<Type *> Arguments) {
    if (Function *Known = M.getFunction(Name))
      return Known;
    auto *Ty = FunctionType::get(Type::getVoidTy(C), Arguments, false);
    auto *F = Function::Create(Ty, GlobalValue::ExternalWeakLinkage, Name, M);
    F->addFnAttr(Attribute::NoUnwind);
    return F;
  }

  // A block before an instruction, run if a symbol of the runtime is there.
  static Instruction *whereNotNull(GlobalValue *Symbol, Instruction *Before) {
    return SplitBlockAndInsertIfThen(IRBuilder<>(Before).CreateIsNotNull(Symbol), Before, false);
  }

  // One that is run while comparisons are recorded. In other runs nothing but two tests is left of it.
  Instruction *whereRecorded(Instruction *Before) {
    const char *Name = "__quagmire_recording";
    GlobalVariable *Recording = M.getGlobalVariable(Name);
    if (!Recording)
      Recording = new GlobalVariable(M, I32, false, GlobalValue::ExternalWeakLinkage, nullptr, Name);
    IRBuilder<> IRB(whereNotNull(Recording, Before));
    Value *IsOn = IRB.CreateIsNotNull(mine(IRB.CreateAlignedLoad(I32, Recording, Align(4))));
    return SplitBlockAndInsertIfThen(IsOn, &*IRB.GetInsertPoint(), false, MDBuilder(C).createBranchWeights(1, 1 << 20));
  }
};

} // namespace compares
