// The table of mutants: a record of each function, and the constructor that hands all of them to the runtime.
#pragma once

#include "places.h"

namespace mutants {

// The COMDAT of what belongs to a function; null if there is one such function in the program.
inline Comdat *groupOf(Function &F) {
  bool IsShared = F.hasComdat() || F.hasLinkOnceLinkage();
  return IsShared ? F.getParent()->getOrInsertComdat((F.getName() + ".quagmire").str()) : nullptr;
}

// The linkage of what belongs to a function: of an inline function, the linker keeps one copy under one name.
inline void share(GlobalObject &G, Comdat *Group) {
  if (!Group)
    return;
  G.setComdat(Group);
  G.setLinkage(GlobalValue::LinkOnceODRLinkage);
  G.setVisibility(GlobalValue::HiddenVisibility);
}

// A mutant in the table: its place, and its fields behind that, separated by tabs.
struct Line {
  const DILocation *Place;
  std::string Fields;
  bool IsEquivalent = false;
};

// The section of the records, which is a C name, and the function of the runtime that gets them.
struct Names {
  const char *Section, *Register;
};

class Table {
public:
  Table(Module &M, Names Of)
      : Of(Of), M(M), C(M.getContext()), I32(Type::getInt32Ty(C)), Ptr(pointerTo(Type::getInt8Ty(C))),
        Record(StructType::get(C, {Ptr, Ptr, I32, I32})) {}

  void add(Function &F, ArrayRef<Line> All, GlobalVariable *State, Comdat *Group) {
    std::string Text = texts(F, All);
    Constant *Bytes = ConstantDataArray::getString(C, Text, false);
    auto *TextOfF = new GlobalVariable(M, Bytes->getType(), true, GlobalValue::PrivateLinkage, Bytes, "__qgm_mutant_texts");
    TextOfF->setSection("__qgm_mutant_texts");
    Constant *Fields[] = {ConstantExpr::getPointerCast(State, Ptr), ConstantExpr::getPointerCast(TextOfF, Ptr),
                          ConstantInt::get(I32, All.size()), ConstantInt::get(I32, Text.size())};
    auto *Whole = new GlobalVariable(M, Record, true, GlobalValue::PrivateLinkage, ConstantStruct::get(Record, Fields),
                                     Of.Section);
    Whole->setSection(Of.Section);
    Whole->setAlignment(Align(8));
    // it goes where the linker drops the function
    Whole->addMetadata(LLVMContext::MD_associated, *MDNode::get(C, ValueAsMetadata::get(State)));
    if (Group)
      for (GlobalVariable *G : {TextOfF, Whole})
        G->setComdat(Group);
    Kept.push_back(Whole);
  }

  // Whether there is a function.
  bool finish() {
    if (Kept.empty())
      return false;
    appendToCompilerUsed(M, Kept);
    Function *Constructor = hookOfObject(M, std::string(Of.Section) + "_ctor", Of.Register, {Of.Section});
    appendToGlobalCtors(M, Constructor, 1, Constructor);
    return true;
  }

private:
  Names Of;
  Module &M;
  LLVMContext &C;
  IntegerType *I32;
  PointerType *Ptr;
  StructType *Record;
  SmallVector<GlobalValue *, 64> Kept;

  // A line with the names for the linker and for people; before the mutants of a file, `=` and its path; of each mutant,
  // line, column, operator, what it is and what it becomes; of those that cost time, the gate and its unit. Fields
  // are separated by tabs. At the end `~` and the numbers of those that are equivalent, from 0, if there are any.
  static std::string texts(const Function &F, ArrayRef<Line> All) {
    std::string Text;
    raw_string_ostream Out(Text);
    Out << F.getName() << '\t' << F.getSubprogram()->getName() << '\n';
    std::string File;
    for (const Line &One : All) {
      std::string Here = pathOf(One.Place->getFile());
      if (Here != File)
        Out << '=' << Here << '\n';
      File = Here;
      Out << One.Place->getLine() << '\t' << One.Place->getColumn() << '\t' << One.Fields << '\n';
    }
    char Before = '~';
    for (size_t Number = 0; Number < All.size(); ++Number)
      if (All[Number].IsEquivalent) {
        Out << Before << Number;
        Before = ',';
      }
    if (Before == ',')
      Out << '\n';
    return Out.str();
  }
};

} // namespace mutants
