// Puts all mutants of a program into one build: small faults, of which a number chooses one when the program runs.
//
// Each function stays as it is but for one test at its entry, and gets two copies:
//   the mutated copy   holds all mutants of the function as choices between values; it runs while one of them is selected
//   the probing copy   computes what the original does, and notes in a byte of each mutant whether it is reached, and
//                      whether its value differs from the original one
// Copies are not optimised: that keeps the time of compiling low, and little of a run is spent in them.
//
// What a function leaves in its object file:
//   __qgm_mutant_state  struct qgm_mutant_state of runtime/mutants.h: which of its mutants is selected, and where the bytes
//                       of the probing copy are. 0 as long as nobody asks for a mutant.
//   __qgm_mutant_texts  its name, and a line for each mutant: place, operator, what it is in the source and what it becomes
//   __qgm_mutants       one record that holds these together (struct qgm_mutant_function)
// And per linked object one constructor that hands the records to the runtime, if there is one.
//
// The pass comes first, so that the code is still that of the source. Inline functions may be inlined before the linker
// chooses one of their copies: what belongs to them has names of its own, in one COMDAT, of which the linker keeps one.

#include "effects.h"
#include "equivalents.h"
#include "table.h"
#include "values.h"

namespace {

using namespace mutants;

// Number of the probing copy; mutants count from 1.
const uint32_t Probes = UINT32_MAX;

class Mutants {
public:
  explicit Mutants(Module &M)
      : M(M), C(M.getContext()), I32(Type::getInt32Ty(C)), Ptr(pointerTo(Type::getInt8Ty(C))),
        State(StructType::get(C, {Ptr, I32, I32})), Tables(M, {"__qgm_mutants", "__quagmire_register_mutants"}) {}

  bool run() {
    SmallVector<Function *, 64> Functions;
    for (Function &F : M)
      if (!isOutside(F))
        Functions.push_back(&F);
    for (Function *F : Functions)
      mutate(*F);
    return Tables.finish();
  }

private:
  Module &M;
  LLVMContext &C;
  IntegerType *I32;
  PointerType *Ptr;
  StructType *State;
  Table Tables;
  Equivalents Same;
  Function *Nothing = nullptr;

  // Functions that are no code under test, or cannot be copied.
  static bool isOutside(const Function &F) {
    if (isForeign(F) || isResolver(F) || F.isVarArg() || F.hasSection() || F.hasFnAttribute(Attribute::Naked) || isCoroutine(F))
      return true;
    // addresses of blocks stay those of the original
    for (const BasicBlock &BB : F)
      if (BB.hasAddressTaken() || isa<CallBrInst>(BB.getTerminator()) || BB.getTerminatingMustTailCall())
        return true;
    return any_of(instructions(F), definesSymbol);
  }

  // Whether it is inline assembly with a label that every copy would define.
  static bool definesSymbol(const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    const auto *Assembly = Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr;
    if (!Assembly)
      return false;
    StringRef Text = Assembly->getAsmString();
    SmallVector<StringRef, 8> Lines;
    SplitString(Text, Lines, "\n;");
    return any_of(Lines, [](StringRef Line) {
      Line = Line.trim();
      StringRef Name = Line.take_while([](char Of) { return isAlnum(Of) || Of == '_' || Of == '.' || Of == '$'; });
      // numbers are for use nearby, and a name with ${:uid} ends before the brace: it differs in every copy
      return !Name.empty() && !isDigit(Name[0]) && Line.substr(Name.size()).ltrim().take_front() == ":";
    });
  }

  void mutate(Function &F) {
    AllocaInst *Scratch = nullptr;
    Mutations All;
    Values OfValues(All);
    Effects OfEffects(All, F, Scratch, nothing());
    for (Instruction &I : instructions(F))
      if (place(I)) {
        OfValues.visit(I);
        OfEffects.visit(I);
      }
    if (All.empty())
      return;
    std::vector<bool> Equivalent = Same.of(F, All);
    Comdat *Group = groupOf(F);
    GlobalVariable *StateOfF = variable(F, Group);

    ValueToValueMapTy Mutated, Probing;
    Function *MutatedCopy = copy(F, Group, ".quagmire_mutants", Mutated);
    Function *ProbingCopy = copy(F, Group, ".quagmire_probes", Probing);
    {
      IRBuilder<> B(&*MutatedCopy->getEntryBlock().getFirstInsertionPt());
      if (OfEffects.scratchBytes()) {
        Scratch = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), OfEffects.scratchBytes()));
        Scratch->setAlignment(Align(16));
      }
      select(All, Mutated, B.CreateLoad(I32, B.CreateStructGEP(State, StateOfF, 1)));
    }
    Scratch = nullptr;
    IRBuilder<> B(&*ProbingCopy->getEntryBlock().getFirstInsertionPt());
    probe(All, Probing, B.CreateLoad(Ptr, B.CreateStructGEP(State, StateOfF, 0)));
    Tables.add(F, lines(All, Equivalent), StateOfF, Group);
    for (Function *Copy : {MutatedCopy, ProbingCopy})
      stripDebugInfo(*Copy);
    test(F, StateOfF, MutatedCopy, ProbingCopy);
  }

  static SmallVector<Line, 64> lines(ArrayRef<Mutation> All, const std::vector<bool> &Equivalent) {
    SmallVector<Line, 64> Lines;
    for (size_t Number = 0; Number < All.size(); ++Number) {
      const Mutation &M = All[Number];
      Lines.push_back({place(*M.At), std::string(name(M.Kind)) + '\t' + M.Was + '\t' + M.Became, Equivalent[Number]});
    }
    return Lines;
  }

  // What is called instead of a deleted call.
  Function &nothing() {
    if (!Nothing) {
      Nothing = Function::Create(FunctionType::get(Type::getVoidTy(C), false), GlobalValue::InternalLinkage, "quagmire.nothing", M);
      Nothing->addFnAttr(Attribute::NoInline);
      IRBuilder<>(BasicBlock::Create(C, "", Nothing)).CreateRetVoid();
    }
    return *Nothing;
  }

  GlobalVariable *variable(Function &F, Comdat *Group) {
    auto *G = new GlobalVariable(M, State, false, GlobalValue::InternalLinkage, Constant::getNullValue(State),
                                 F.getName() + ".quagmire_state");
    G->setSection("__qgm_mutant_state");
    G->setAlignment(Align(8));
    // the runtime writes to it
    G->setExternallyInitialized(true);
    share(*G, Group);
    return G;
  }

  Function *copy(Function &F, Comdat *Group, const char *Suffix, ValueToValueMapTy &Copies) {
    Function *Copy = CloneFunction(&F, Copies);
    Copy->setName(F.getName() + Suffix);
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setVisibility(GlobalValue::DefaultVisibility);
    Copy->setDLLStorageClass(GlobalValue::DefaultStorageClass);
    Copy->setUnnamedAddr(GlobalValue::UnnamedAddr::None);
    Copy->setComdat(nullptr);
    share(*Copy, Group);
    for (Attribute::AttrKind Kind : {Attribute::AlwaysInline, Attribute::InlineHint, Attribute::MinSize, Attribute::OptimizeForSize})
      Copy->removeFnAttr(Kind);
    Copy->addFnAttr(Attribute::NoInline);
    Copy->addFnAttr(Attribute::OptimizeNone);
    return Copy;
  }

  // At its entry, the original calls a copy if a number is set.
  void test(Function &F, GlobalVariable *StateOfF, Function *MutatedCopy, Function *ProbingCopy) {
    BasicBlock *Entry = &F.getEntryBlock();
    BasicBlock::iterator First = Entry->begin();
    while (isa<AllocaInst>(&*First))
      ++First;
    BasicBlock *Original = Entry->splitBasicBlock(First);
    BasicBlock *Other = BasicBlock::Create(C, "", &F);
    Entry->getTerminator()->eraseFromParent();
    IRBuilder<> B(Entry);
    LoadInst *Number = B.CreateLoad(I32, B.CreateStructGEP(State, StateOfF, 1));
    mine(Number);
    Value *IsOriginal = B.CreateICmpEQ(Number, ConstantInt::get(I32, 0));
    B.CreateCondBr(IsOriginal, Original, Other, MDBuilder(C).createBranchWeights(1 << 20, 1));
    B.SetInsertPoint(Other);
    // calls in functions with debug information need a place
    B.SetCurrentDebugLocation(DILocation::get(C, F.getSubprogram()->getLine(), 0, F.getSubprogram()));
    Value *Copy = B.CreateSelect(B.CreateICmpEQ(Number, ConstantInt::get(I32, Probes)), ProbingCopy, MutatedCopy);
    SmallVector<Value *, 8> Arguments;
    for (Argument &A : F.args())
      Arguments.push_back(&A);
    CallInst *Call = B.CreateCall(F.getFunctionType(), Copy, Arguments);
    Call->setCallingConv(F.getCallingConv());
    AttributeList Attributes = F.getAttributes();
    Call->setAttributes(Attributes.removeFnAttributes(C));
    Call->addFnAttr(Attribute::Cold);
    if (F.getReturnType()->isVoidTy())
      B.CreateRetVoid();
    else
      B.CreateRet(Call);
  }
};

bool mutate(Module &M) { return Mutants(M).run(); }

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "quagmire-mutants", "1", [](PassBuilder &PB) {
            addAtStart<mutate>(PB);
          }};
}
