// Numbers that loops make of bytes by multiplying, shifting, exclusive or and tables, one state after the other: hashes,
// checksums, and numbers in text as well. What is handed to the runtime is where the bytes begin, the state behind the loop, and
// what is made of it by arithmetic until it is used (runtime/hashes.c). No instruction is added to
// the iterations of that loop. Operands of remainders are handed over too: that is how many tables look at a hash.
#pragma once

#include "iterations.h"

#include <memory>

namespace hashed {

// A number that is made of bytes, and the instruction before which it is known.
struct Result {
  Instruction *Before;
  Value *Number;
  // It is used as it is, and not mixed further.
  bool IsFinal;
};

// Where bytes begin that a number is made of, and the instruction before which that is known.
struct Start {
  Instruction *Before;
  Value *Address;
  // Instructions that compute the address there, in their order.
  SmallVector<Instruction *, 4> Copies = {};
};

// Hash functions of others, by the index of the argument where the bytes begin.
inline int bytesOfKnown(StringRef Name) {
  static const std::pair<const char *, int> Known[] = {
      {"_ZSt11_Hash_bytesPKvmm", 0}, {"_ZSt15_Fnv_hash_bytesPKvmm", 0}, {"g_str_hash", 0}, {"XXH32", 0}, {"XXH64", 0},
      {"XXH3_64bits", 0},            {"crc32", 1},                      {"crc32_z", 1},    {"adler32", 1},
  };
  for (const auto &[Other, Index] : Known)
    if (Name == Other)
      return Index;
  return -1;
}

// Those of one function.
class Finder {
public:
  explicit Finder(Function &F) {
    for (BasicBlock &BB : F)
      for (Instruction &I : BB)
        if (auto *Phi = dyn_cast<PHINode>(&I))
          look(*Phi);
        else if (auto *Call = dyn_cast<CallBase>(&I))
          look(*Call);
        else if (I.getOpcode() == Instruction::URem && isHash(I.getType()))
          Remainders.push_back(&I);
    addFinal();
  }

  SmallVector<Start, 2> Starts;
  SmallVector<Result, 4> Results;
  SmallVector<Instruction *, 2> Remainders;

private:
  // Maximum number of exits of a loop where its state is shown, of numbers that are made of states, and of instructions that
  // are looked at for each.
  static const unsigned MostExits = 4, MostFinal = 16, MostSteps = 256;

  std::unique_ptr<DominatorTree> Dominators;
  std::unique_ptr<LoopInfo> Loops;
  // Loops that make such numbers.
  SmallPtrSet<const Loop *, 4> Mixing;

  // What a value in a loop is computed from.
  struct Parts {
    bool OfState = false, IsMixed = false;
    // The first read of bytes, or null: before the loop, or else in it.
    Instruction *Before = nullptr, *Read = nullptr;

    void add(const Parts &Other, const DominatorTree &Order) {
      OfState |= Other.OfState;
      IsMixed |= Other.IsMixed;
      if (!Before)
        Before = Other.Before;
      // loops are unrolled
      if (!Read || (Other.Read && Order.dominates(Other.Read, Read)))
        Read = Other.Read;
    }
  };

  // From where an instruction reads, or null.
  static Value *addressOf(Instruction &I) {
    if (auto *Copy = dyn_cast<MemCpyInst>(&I))
      return Copy->getRawSource();
    auto *Load = dyn_cast<LoadInst>(&I);
    return Load ? Load->getPointerOperand() : nullptr;
  }

  static bool isHash(const Type *T) { return T->isIntegerTy(32) || T->isIntegerTy(64); }

  const Loop *loopWithHeader(BasicBlock *BB) {
    if (!Loops) {
      Dominators = std::make_unique<DominatorTree>(*BB->getParent());
      Loops = std::make_unique<LoopInfo>(*Dominators);
    }
    const Loop *Around = Loops->getLoopFor(BB);
    return Around && Around->getHeader() == BB && Around->getLoopLatch() ? Around : nullptr;
  }

  // Whether a value is what a state becomes in an iteration.
  struct Walk {
    const Loop &Around;
    const PHINode &State;
    const DominatorTree &Order;
    SmallPtrSet<const Value *, 32> Seen = {};

    Parts of(Value *V) {
      auto *I = dyn_cast<Instruction>(V);
      if (I == &State)
        return {true};
      if (!I || !Around.contains(I) || Seen.size() >= MostSteps || !Seen.insert(I).second)
        return {};
      if (auto *Phi = dyn_cast<PHINode>(I))
        return Phi->getParent() == Around.getHeader() ? ofOtherState(*Phi) : ofOperands(*Phi);
      if (auto *Load = dyn_cast<LoadInst>(I))
        return ofLoad(*Load);
      if (auto *Select = dyn_cast<SelectInst>(I)) {
        Parts P = of(Select->getTrueValue());
        P.add(of(Select->getFalseValue()), Order);
        return P;
      }
      bool Mixes = isMixing(*I);
      if (!Mixes && !isa<BinaryOperator>(I) && !isa<CastInst>(I) && !isa<GetElementPtrInst>(I))
        return {};
      Parts P = ofOperands(*I);
      P.IsMixed |= Mixes && P.OfState;
      return P;
    }

  private:
    static bool isMixing(const Instruction &I) {
      switch (I.getOpcode()) {
      case Instruction::Mul:
      case Instruction::Shl:
      case Instruction::LShr:
      case Instruction::AShr:
      case Instruction::Xor:
        return true;
      default:
        auto *Call = dyn_cast<IntrinsicInst>(&I);
        return Call && (Call->getIntrinsicID() == Intrinsic::fshl || Call->getIntrinsicID() == Intrinsic::fshr);
      }
    }

    Parts ofOperands(User &I) {
      Parts All;
      for (Use &Operand : I.operands())
        All.add(of(Operand), Order);
      return All;
    }

    static LoadInst *loadOf(Value *V) {
      while (V && isa<CastInst>(V))
        V = cast<CastInst>(V)->getOperand(0);
      return dyn_cast_or_null<LoadInst>(V);
    }

    // Another number that is kept from iteration to iteration: the byte that comes next, or a part of the state.
    Parts ofOtherState(PHINode &Phi) {
      if (iterations::isStepped(Phi))
        return {};
      Value *Next = Phi.getIncomingValueForBlock(Around.getLoopLatch());
      Parts P = of(Next);
      // a part of the state may begin as the key of a hash, which is no byte of the input
      if (Around.getLoopPredecessor() && loadOf(Next) && P.Read)
        P.Before = loadOf(Phi.getIncomingValueForBlock(Around.getLoopPredecessor()));
      return P;
    }

    // Whether bytes of the input may be read by this instruction.
    bool isRead(Instruction &I) {
      Value *Address = addressOf(I);
      return Address && Address->getType()->getPointerAddressSpace() == 0 && iterations::moves(Address, Around);
    }

    // The instruction that copies bytes to a variable in each iteration, or null.
    Instruction *copyTo(Value *Address) {
      auto *Variable = dyn_cast<AllocaInst>(getUnderlyingObject(Address));
      if (!Variable)
        return nullptr;
      for (User *U : Variable->users())
        if (auto *Copy = dyn_cast<MemCpyInst>(U))
          if (Copy->getRawDest() == Variable && Around.contains(Copy) && isRead(*Copy))
            return Copy;
      return nullptr;
    }

    // A byte or more of them, or an element of a table.
    Parts ofLoad(LoadInst &Load) {
      Value *Address = Load.getPointerOperand();
      if (Load.getType()->isIntegerTy() && isRead(Load))
        return {false, false, nullptr, &Load};
      if (Instruction *Copy = copyTo(Address))
        return {false, false, nullptr, Copy};
      Parts P = of(Address);
      P.IsMixed |= P.OfState;
      return P;
    }
  };

  void look(PHINode &Phi) {
    if (!isHash(Phi.getType()) || iterations::isStepped(Phi))
      return;
    const Loop *Around = loopWithHeader(Phi.getParent());
    if (!Around)
      return;
    Value *Next = Phi.getIncomingValueForBlock(Around->getLoopLatch());
    Parts P = Walk{*Around, Phi, *Dominators}.of(Next);
    iterations::AtEntry Entry(*Around);
    Instruction *First = P.Before ? P.Before : P.Read;
    if (!P.OfState || !P.IsMixed || !First || !Entry.end())
      return;
    Value *Address = Entry.of(addressOf(*First));
    if (!Address)
      return;
    unsigned Before = Results.size();
    addExits(*Around, Phi, Next, Before);
    if (Results.size() == Before)
      return;
    // a state of several numbers has one beginning
    if (Mixing.insert(Around).second)
      Starts.push_back({Entry.end(), Address, Entry.take()});
  }

  void addExits(const Loop &Around, PHINode &State, Value *Next, unsigned Before) {
    SmallVector<Loop::Edge, 4> Exits;
    Around.getExitEdges(Exits);
    auto *Computed = dyn_cast<Instruction>(Next);
    for (const auto &[From, To] : Exits) {
      // critical edges are split
      if (To->isEHPad() || To->getSinglePredecessor() != From || Results.size() - Before >= MostExits)
        continue;
      bool IsComputed = !Computed || Dominators->dominates(Computed, From->getTerminator());
      Results.push_back({behindVariables(*To), IsComputed ? Next : &State, false});
    }
  }

  // Arithmetic whose result is another form of a hash. A part of it that depends on something else is a use: the bits that a
  // table of some size looks at.
  static bool isForm(const Instruction &I) {
    if (isa<PHINode>(I) || isa<CastInst>(I) || isa<SelectInst>(I))
      return I.getType()->isIntegerTy();
    if (auto *Call = dyn_cast<IntrinsicInst>(&I))
      return Call->getIntrinsicID() == Intrinsic::fshl || Call->getIntrinsicID() == Intrinsic::fshr;
    bool IsPart = I.getOpcode() == Instruction::And || I.getOpcode() == Instruction::URem || I.getOpcode() == Instruction::LShr;
    return isa<BinaryOperator>(I) && (!IsPart || isa<ConstantInt>(I.getOperand(1)));
  }

  // Adds what is made of states where it is used: behind their loops, whose iterations stay as they are.
  void addFinal() {
    SmallPtrSet<Instruction *, 32> Seen;
    SmallVector<Instruction *, 32> Next;
    auto See = [&](Value *V) {
      auto *I = dyn_cast<Instruction>(V);
      if (I && Seen.size() < MostSteps && Seen.insert(I).second)
        Next.push_back(I);
    };
    auto IsIn = [&](const Instruction &I) {
      const Loop *Around = Loops ? Loops->getLoopFor(I.getParent()) : nullptr;
      return Around && Mixing.count(Around);
    };
    for (const Result &R : Results)
      See(R.Number);
    unsigned States = Results.size();
    for (unsigned At = 0; At < Next.size(); ++At) {
      Instruction *I = Next[At];
      bool IsUsed = false;
      for (User *U : I->users()) {
        auto *By = cast<Instruction>(U);
        if (IsIn(*By))
          continue;
        if (isForm(*By))
          See(By);
        else
          IsUsed = true;
      }
      bool IsState = any_of(ArrayRef<Result>(Results).take_front(States), [&](const Result &R) { return R.Number == I; });
      if (!IsUsed || IsState || !isHash(I->getType()) || I->isTerminator() || Results.size() >= States + MostFinal)
        continue;
      Results.push_back({isa<PHINode>(I) ? behindVariables(*I->getParent()) : I->getNextNode(), I, true});
    }
  }

  void look(CallBase &Call) {
    // nothing may stand between such a call and its return
    if (Call.isMustTailCall())
      return;
    const Function *Callee = Call.getCalledFunction();
    int Index = Callee && Callee->isDeclaration() ? bytesOfKnown(Callee->getName()) : -1;
    if (Index < 0 || unsigned(Index) >= Call.arg_size() || !Call.getArgOperand(Index)->getType()->isPointerTy() || !isHash(Call.getType()))
      return;
    Instruction *Behind = Call.getNextNode();
    if (auto *Invoke = dyn_cast<InvokeInst>(&Call)) {
      BasicBlock *To = Invoke->getNormalDest();
      Behind = To->getSinglePredecessor() ? behindVariables(*To) : nullptr;
    }
    if (!Behind)
      return;
    Starts.push_back({&Call, Call.getArgOperand(Index)});
    Results.push_back({Behind, &Call, true});
  }
};

} // namespace hashed
