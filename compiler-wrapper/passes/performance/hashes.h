// Mutants of functions that hash: few different results, so that what is kept by them collides. Such functions are recognised by
// their names, and by loops that mix what they read into what is returned.
#pragma once

#include "sites.h"
#include "variables.h"

namespace performance {

// The words of a name in lower case: `xmlHashKey` and `xml_hash_key` have the same ones.
inline SmallVector<std::string, 8> wordsOf(StringRef Name) {
  SmallVector<std::string, 8> Words;
  char Before = '_';
  for (char Letter : Name) {
    bool IsUpper = Letter >= 'A' && Letter <= 'Z', WasLower = Before >= 'a' && Before <= 'z';
    if (isAlnum(Letter)) {
      if (!isAlnum(Before) || (IsUpper && WasLower))
        Words.emplace_back();
      Words.back() += toLower(Letter);
    }
    Before = Letter;
  }
  return Words;
}

inline bool isHashWord(StringRef Word) {
  if (beginsWithOneOf(Word, {"hash", "crc", "fnv", "murmur", "djb", "siphash", "jenkins", "adler", "xxh", "sdbm"}))
    return true;
  return Word.size() > 4 && Word.substr(Word.size() - 4) == "hash" && Word != "rehash";
}

// The name of a function in the source; of a function object, with that of its class.
inline std::string sourceNameOf(const Function &F) {
  const DISubprogram *Known = F.getSubprogram();
  std::string Name = Known ? Known->getName().split('<').first.str() : F.getName().str();
  if (Name == "operator()" && Known->getScope())
    Name = (Known->getScope()->getName().split('<').first + "_" + Name).str();
  return Name;
}

// Values that a function returns, as far as they are computed from its variables.
class Returned {
public:
  Returned(Function &F, const Variables &Of) : Of(Of) {
    for (BasicBlock &BB : F)
      if (auto *Return = dyn_cast<ReturnInst>(BB.getTerminator()))
        follow(Return->getReturnValue());
  }

  // Variables that they pass through.
  SmallPtrSet<const AllocaInst *, 8> Through;
  // Calls whose results they are.
  SmallVector<const CallBase *, 4> Calls;
  // Whether they are mixed out of others: xor, shifts, remainders, products with odd constants.
  bool IsMixed = false;

private:
  const Variables &Of;
  SmallPtrSet<const Value *, 32> Seen;

  void follow(const Value *V) {
    if (!Seen.insert(V).second)
      return;
    if (const AllocaInst *Variable = Of.readFrom(V)) {
      if (Through.insert(Variable).second)
        for (const StoreInst *Store : Of.storesTo(Variable))
          follow(Store->getValueOperand());
      return;
    }
    if (auto *Call = dyn_cast<CallBase>(V)) {
      Calls.push_back(Call);
      return;
    }
    auto *I = dyn_cast<Instruction>(V);
    auto *Binary = dyn_cast<BinaryOperator>(V);
    IsMixed |= Binary && mixes(*Binary);
    if (Binary || isa_and_nonnull<CastInst>(I) || isa_and_nonnull<PHINode>(I))
      for (const Value *Operand : I->operands())
        follow(Operand);
    if (auto *Choice = dyn_cast<SelectInst>(V)) {
      follow(Choice->getTrueValue());
      follow(Choice->getFalseValue());
    }
  }

  static bool mixes(const BinaryOperator &I) {
    auto *By = dyn_cast<ConstantInt>(I.getOperand(1));
    switch (I.getOpcode()) {
    case Instruction::Xor:
      return !By || !By->isMinusOne();
    case Instruction::Mul:
      return By && By->getValue()[0];
    case Instruction::Shl: // 1 << n is a size
      return !isa<Constant>(I.getOperand(0));
    case Instruction::URem:
      return true;
    default:
      return false;
    }
  }
};

// Loops that mix what they read into a variable.
class Mixers {
public:
  Mixers(Function &F, const Variables &Of) : Of(Of), DT(F), LI(DT) {}

  bool mix(const AllocaInst *Into) const {
    return Into->getAllocatedType()->isIntegerTy() && Into->getAllocatedType()->getIntegerBitWidth() >= 16 &&
           any_of(LI.getLoopsInPreorder(), [&](const Loop *L) { return mixes(*L, Into); });
  }

private:
  const Variables &Of;
  DominatorTree DT;
  LoopInfo LI;

  // What is done to the old value of the variable, and to what is read, until the new value is there.
  struct Steps {
    unsigned Old = 0;
    bool Reads = false, Xors = false, Shifts = false, Adds = false, Multiplies = false, LooksUp = false;
    SmallPtrSet<const Value *, 16> Seen;
  };

  // Not digits of a number, n * 10 + digit or (n << 4) + digit: factors are odd and large, and what is shifted is combined
  // with itself or by xor.
  bool mixes(const Loop &L, const AllocaInst *Into) const {
    Steps All;
    bool AddsToItself = false;
    for (const StoreInst *Store : Of.storesIn(L, Into)) {
      Steps One;
      follow(Store->getValueOperand(), L, Into, false, One);
      AddsToItself |= One.Old > 1 && One.Shifts && One.Adds;
      All.Old += One.Old;
      All.Reads |= One.Reads;
      All.Xors |= One.Xors;
      All.Shifts |= One.Shifts;
      All.Adds |= One.Adds;
      All.Multiplies |= One.Multiplies;
      All.LooksUp |= One.LooksUp;
    }
    return All.Old && All.Reads &&
           ((All.Xors && (All.Shifts || All.Multiplies || All.LooksUp)) || (All.Multiplies && All.Adds) || AddsToItself);
  }

  void follow(const Value *V, const Loop &L, const AllocaInst *Into, bool IsAddress, Steps &To) const {
    const AllocaInst *Variable = Of.readFrom(V);
    To.Old += Variable == Into;
    if (Variable == Into || !To.Seen.insert(V).second)
      return;
    if (Variable) {
      if (To.Seen.insert(Variable).second)
        for (const StoreInst *Store : Of.storesIn(L, Variable))
          follow(Store->getValueOperand(), L, Into, IsAddress, To);
      return;
    }
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L.contains(I->getParent()))
      return;
    if (auto *Load = dyn_cast<LoadInst>(I)) {
      To.Reads = true;
      unsigned Old = To.Old;
      follow(Load->getPointerOperand(), L, Into, true, To);
      To.LooksUp |= To.Old > Old;
      return;
    }
    if (auto *Binary = dyn_cast<BinaryOperator>(I))
      note(*Binary, IsAddress, To);
    if (isa<BinaryOperator>(I) || isa<CastInst>(I) || isa<PHINode>(I) || (IsAddress && isa<GetElementPtrInst>(I)))
      for (const Value *Operand : I->operands())
        follow(Operand, L, Into, IsAddress, To);
  }

  // Of addresses, only xor says something: others are steps through the input.
  static void note(const BinaryOperator &I, bool IsAddress, Steps &To) {
    bool HasConstant = isa<Constant>(I.getOperand(0)) || isa<Constant>(I.getOperand(1));
    auto *By = dyn_cast<ConstantInt>(I.getOperand(1));
    switch (I.getOpcode()) {
    case Instruction::Xor:
      To.Xors |= !HasConstant;
      break;
    case Instruction::Add:
    case Instruction::Sub:
      To.Adds |= !IsAddress && !HasConstant;
      break;
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
      To.Shifts |= !IsAddress;
      break;
    case Instruction::Mul:
      To.Multiplies |= !IsAddress && By && By->getValue()[0] && By->getValue().getLimitedValue() > 16;
      break;
    default:
      break;
    }
  }
};

// Whether a name is that of a function that has another one hash: `str_hash`, and not `add_to_hash`.
inline bool isFront(ArrayRef<std::string> Words) {
  auto IsOther = [](StringRef Word) {
    return isOneOf(Word, {"add", "insert", "put", "set", "find", "lookup", "remove", "delete", "del", "free", "init", "create", "destroy",
                          "cmp", "compare", "equal", "eq", "is", "has", "check", "verify", "print", "write", "read", "load", "save", "parse"});
  };
  return isHashWord(Words.back()) && none_of(Words, IsOther);
}

// Whether what is returned comes from a call of a function that has no mutants of its own.
inline bool hasForeignCall(const Returned &Values) {
  return any_of(Values.Calls, [](const CallBase *Call) {
    const Function *Callee = Call->getCalledFunction();
    return !Callee || Callee->isDeclaration() || none_of(wordsOf(sourceNameOf(*Callee)), isHashWord);
  });
}

inline bool returnsHash(Function &F, const Variables &Of) {
  auto *Result = dyn_cast<IntegerType>(F.getReturnType());
  if (!Result || Result->getBitWidth() < 16 || Result->getBitWidth() > 64 || F.arg_empty())
    return false;
  Returned Values(F, Of);
  auto Words = wordsOf(sourceNameOf(F));
  if (any_of(Words, isHashWord) && (Values.IsMixed || (isFront(Words) && hasForeignCall(Values))))
    return true;
  Mixers OfF(F, Of);
  return any_of(Values.Through, [&](const AllocaInst *Variable) { return OfF.mix(Variable); });
}

// hash-degraded: what the function returns is 0, or its lowest three bits. Past a gate, the first hashes that differ from each
// other stay as they are, and are those of a table with so few elements: a hash is the same each time that it is asked for.
class Hashes {
public:
  Hashes(Sites &OfF, Function &F) : OfF(OfF), F(F) {}

  void find() {
    for (BasicBlock &BB : F) {
      auto *Return = dyn_cast<ReturnInst>(BB.getTerminator());
      if (!Return)
        continue;
      if (BB.getTerminatingMustTailCall())
        return;
      Returns.push_back(Return);
    }
    if (Returns.empty() || !returnsHash(F, Variables(F)))
      return;
    std::string Name = F.getSubprogram()->getName().str() + "()";
    const DILocation *Place = DILocation::get(F.getContext(), F.getSubprogram()->getLine(), 0, F.getSubprogram());
    for (auto [Mask, Became] : {std::pair<uint64_t, const char *>{0, "it returns 0"}, {7, "it returns 3 bits"}})
      Found.push_back({Mask, OfF.add(HashDegraded, Place, Name, Became)});
  }

  void emit() {
    for (const Site &S : Found)
      for (ReturnInst *Return : Returns) {
        IRBuilder<> B(Return);
        Value *Hash = Return->getReturnValue();
        Value *Degraded = OfF.degrade(B, S.Number, B.CreateZExt(Hash, B.getInt64Ty()), B.getInt64(S.Mask));
        Return->setOperand(0, B.CreateTrunc(Degraded, Hash->getType()));
      }
  }

private:
  struct Site {
    uint64_t Mask;
    unsigned Number;
  };

  Sites &OfF;
  Function &F;
  SmallVector<ReturnInst *, 4> Returns;
  SmallVector<Site, 2> Found;
};

} // namespace performance
