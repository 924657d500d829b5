// Calls of the C library that could be slower: realloc that always copies, sorting and searching by worse algorithms.
#pragma once

#include "library_costs.h"
#include "sites.h"

namespace performance {

// Bytes that an instruction copies, as in library_functions.h.
const uint64_t CopiedAtOnce = 16;
// Instructions of a comparison of two elements, with the call.
const uint64_t Comparison = 16;
// Instructions for a byte that is looked at by itself.
const uint64_t ByteByByte = 4;
// Largest amount, so that products fit: larger ones make no sense.
const uint64_t LargestAmount = 1 << 28;

enum class Way { Copies, InsertionSort, LinearSearch, Bytes, Positions };

struct Downgrade {
  const char *Function;
  Way How;
  const char *Became;
};

const Downgrade Downgrades[] = {
    {"realloc", Way::Copies, "it copies each time"},
    {"qsort", Way::InsertionSort, "insertion sort"},
    {"bsearch", Way::LinearSearch, "linear search"},
    {"memchr", Way::Bytes, "byte by byte"},
    {"strchr", Way::Bytes, "byte by byte"},
    {"strchrnul", Way::Bytes, "byte by byte"},
    {"strstr", Way::Positions, "all of the needle at each position"},
    {"memmem", Way::Positions, "all of the needle at each position"},
};

class LibraryCalls {
public:
  LibraryCalls(Sites &OfF, library::Charges &Lengths) : OfF(OfF), Lengths(Lengths) {}

  void find(Function &F) {
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (const DILocation *Place = place(I))
          if (const Downgrade *Of = downgradeOf(*Call)) {
            const Operator &Kind = Of->How == Way::Copies ? ReallocCopies : isOfElements(Of->How) ? DowngradedSort : DowngradedSearch;
            Found.push_back({Call, Of, OfF.add(Kind, Place, std::string(Of->Function) + "()", Of->Became)});
          }
  }

  void emit() {
    for (const Site &S : Found) {
      IRBuilder<> B(isOfElements(S.Of->How) || S.Of->How == Way::Copies ? cast<Instruction>(S.Call) : S.Call->getNextNode());
      B.SetCurrentDebugLocation(S.Call->getDebugLoc());
      OfF.reach(B, S.Number);
      switch (S.Of->How) {
      case Way::Copies:
        copies(B, S);
        break;
      case Way::InsertionSort: {
        // n²/4 comparisons
        Value *Items = number(B, *S.Call, 1);
        OfF.charge(B, S.Number, Items, B.CreateMul(B.CreateMul(Items, Items), B.getInt64(Comparison / 4)));
        break;
      }
      case Way::LinearSearch: {
        // half of the elements
        Value *Items = number(B, *S.Call, 2);
        OfF.charge(B, S.Number, Items, B.CreateMul(Items, B.getInt64(Comparison / 2)));
        break;
      }
      case Way::Bytes:
      case Way::Positions:
        searches(B, S);
        break;
      }
    }
  }

private:
  struct Site {
    CallBase *Call;
    const Downgrade *Of;
    unsigned Number;
  };

  Sites &OfF;
  library::Charges &Lengths;
  SmallVector<Site, 8> Found;

  static bool isOfElements(Way How) { return How == Way::InsertionSort || How == Way::LinearSearch; }

  static const Downgrade *downgradeOf(const CallBase &Call) {
    const Function *Callee = Call.getCalledFunction();
    // headers have a body of bsearch for where it is inlined
    if (!Callee || !(Callee->isDeclaration() || Callee->hasAvailableExternallyLinkage()))
      return nullptr;
    for (const Downgrade &Of : Downgrades)
      if (Callee->getName() == Of.Function)
        return fits(Call, Of) ? &Of : nullptr;
    return nullptr;
  }

  // Whether it is the function that has this name in C.
  static bool fits(const CallBase &Call, const Downgrade &Of) {
    switch (Of.How) {
    case Way::Copies:
      return library::hasPointer(Call, 0) && library::hasNumber(Call, 1);
    case Way::InsertionSort:
      return library::hasPointer(Call, 0) && library::hasNumber(Call, 1);
    case Way::LinearSearch:
      return library::hasPointer(Call, 1) && library::hasNumber(Call, 2);
    default:
      // what is measured behind a call needs a place there
      auto *Plain = dyn_cast<CallInst>(&Call);
      return Plain && !Plain->isMustTailCall() && library::called(Call) &&
             (Of.How == Way::Bytes || library::hasPointer(Call, Call.arg_size() == 4 ? 2 : 1));
    }
  }

  Value *atMost(IRBuilder<> &B, Value *V) {
    V = B.CreateZExtOrTrunc(V, B.getInt64Ty());
    Value *Most = B.getInt64(LargestAmount);
    return B.CreateSelect(B.CreateICmpULT(V, Most), V, Most);
  }

  Value *number(IRBuilder<> &B, CallBase &Call, unsigned Argument) { return atMost(B, Call.getArgOperand(Argument)); }

  // The bytes of the old block, or those of the new one if it is smaller.
  void copies(IRBuilder<> &B, const Site &S) {
    Value *Old = atMost(B, ask(B, "malloc_usable_size", S.Call->getArgOperand(0)));
    Value *New = number(B, *S.Call, 1);
    Value *Bytes = B.CreateSelect(B.CreateICmpULT(Old, New), Old, New);
    OfF.charge(B, S.Number, Bytes, B.CreateUDiv(Bytes, B.getInt64(CopiedAtOnce)));
  }

  void searches(IRBuilder<> &B, const Site &S) {
    Value *Length = atMost(B, Lengths.length(B, *S.Call, *library::called(*S.Call)));
    Value *Cost = B.CreateMul(Length, B.getInt64(ByteByByte));
    if (S.Of->How == Way::Positions) {
      bool IsText = S.Call->arg_size() < 4;
      Value *Needle = IsText ? atMost(B, ask(B, "strlen", S.Call->getArgOperand(1))) : number(B, *S.Call, 3);
      Cost = B.CreateMul(Cost, Needle);
    }
    OfF.charge(B, S.Number, Length, Cost);
  }

  // Asks a function of the C library about memory.
  Value *ask(IRBuilder<> &B, const char *Name, Value *Of) {
    Module &M = OfF.Emitted.module();
    auto *Ptr = pointerTo(B.getInt8Ty());
    Type *Word = M.getDataLayout().getIntPtrType(M.getContext());
    return B.CreateCall(M.getOrInsertFunction(Name, FunctionType::get(Word, {Ptr}, false)), {B.CreatePointerCast(Of, Ptr)});
  }
};

} // namespace performance
