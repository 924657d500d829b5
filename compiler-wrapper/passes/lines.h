// Tables of the source lines that the counts of a function stand for.
//
// Lines come from the debug locations of the IR, which give the origin of every instruction and the functions that it was
// inlined into. Machine code has this for the first instruction of a block only by chance.
//
// One table for each function with debug information (__qgm_lines); the record in __qgm_funcs says how far away it is.
// A run never touches it, and it needs no relocation when the program starts: it refers to the texts by distance.
//   u32 places; u32 bytes;
//   { i32 file; i32 function; } of each place: distances in bytes, from the start of the table to the text
//   the rest are LEB128 numbers, `bytes` bytes of them:
//     instances, and for each of them: place; the instance that it was inlined into plus 1, or 0 for none. An instance is
//       a source function in a file; there are several where it was inlined several times, since their executions add up
//     groups, the counters first, then the sums, as in __qgm_weights and __qgm_sums, then the charges, and for each of them
//       lines, and for each of them: instance; line minus the line before it in the table (signed; 0 at the start);
//         how many instructions one execution of the group executes there
// Line 0 is for instructions that the compiler made up. The texts stand in __qgm_strings, where the linker keeps one of
// each.
#pragma once

#include "library_costs.h"

#include <map>

// Distance between two globals in bytes, a constant of the linker.
inline Constant *distance(GlobalVariable *From, GlobalVariable *To) {
  Module &M = *From->getParent();
  Type *Int = M.getDataLayout().getIntPtrType(M.getContext());
  Constant *Bytes = ConstantExpr::getSub(ConstantExpr::getPtrToInt(To, Int),
                                                     ConstantExpr::getPtrToInt(From, Int));
  Type *I32 = Type::getInt32Ty(M.getContext());
  return Int == I32 ? Bytes : ConstantExpr::getTrunc(Bytes, I32);
}

// The texts that the tables of a module refer to, without duplicates.
class Texts {
public:
  explicit Texts(Module &M) : M(M) {}

  GlobalVariable *get(StringRef Text) {
    GlobalVariable *&G = Known[Text];
    if (!G) {
      Constant *Init = ConstantDataArray::getString(M.getContext(), Text);
      G = new GlobalVariable(M, Init->getType(), true, GlobalValue::PrivateLinkage, Init, "__qgm_string");
      G->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
      G->setAlignment(Align(1));
      G->setSection("__qgm_strings");
    }
    return G;
  }

private:
  Module &M;
  StringMap<GlobalVariable *> Known;
};

// The table of one function. Groups are added in order, before anything is inserted into them.
class LineTable {
public:
  explicit LineTable(const Function &F) : F(F), Own(F.getSubprogram()) {}

  // Whether the function has debug information.
  explicit operator bool() const { return Own; }

  template <typename Blocks> void add(const Blocks &BlocksOfIt) {
    ++Count;
    std::map<std::pair<unsigned, unsigned>, uint64_t> Lines;
    for (const BasicBlock *BB : BlocksOfIt)
      for (const Instruction &I : *BB)
        if (uint64_t Weight = weightOf(I))
          Lines[at(I.getDebugLoc().get())] += Weight;
    number(Lines.size());
    for (const auto &L : Lines)
      line(L.first, L.second);
  }

  // Adds the group of a charge, behind those of counters and sums.
  void addCharge(const Instruction &Call) {
    ++Count;
    number(1);
    line(at(Call.getDebugLoc().get()), 1);
  }

  // `CreateTable` makes the global variable from an initialiser, which is replaced once there is something to measure
  // distances from.
  template <typename Create> GlobalVariable *emit(Texts &T, Create CreateTable) {
    SmallString<64> Bytes;
    raw_svector_ostream Out(Bytes);
    encodeULEB128(Instances.size(), Out);
    for (const auto &Known : Instances) {
      encodeULEB128(Known.second.Place, Out);
      encodeULEB128(Known.second.Into, Out);
    }
    encodeULEB128(Count, Out);
    Out << Text;
    LLVMContext &C = F.getContext();
    Type *I32 = Type::getInt32Ty(C);
    auto *PlacesTy = ArrayType::get(I32, 2 * Places.size());
    Constant *Numbers = ConstantDataArray::getString(C, Bytes, false);
    auto *Ty = StructType::get(C, {I32, I32, PlacesTy, Numbers->getType()});
    GlobalVariable *Table = CreateTable(Constant::getNullValue(Ty));
    SmallVector<Constant *, 32> Distances;
    for (const auto &Place : Places) {
      Distances.push_back(distance(Table, T.get(Place.first.first)));
      Distances.push_back(distance(Table, T.get(Place.first.second)));
    }
    Table->setInitializer(ConstantStruct::get(
        Ty, {ConstantInt::get(I32, Places.size()), ConstantInt::get(I32, Bytes.size()),
             ConstantArray::get(PlacesTy, Distances), Numbers}));
    return Table;
  }

private:
  using Place = std::pair<std::string, std::string>;
  using Instance = std::pair<const DILocation *, std::pair<const DISubprogram *, const DIFile *>>;
  struct Numbers {
    unsigned Place;
    unsigned Into;
  };

  const Function &F;
  const DISubprogram *Own;
  MapVector<Place, unsigned, std::map<Place, unsigned>> Places;
  MapVector<Instance, Numbers> Instances;
  SmallString<256> Text;
  raw_svector_ostream Groups{Text};
  unsigned Count = 0;
  unsigned Line = 0;

  void number(uint64_t N) { encodeULEB128(N, Groups); }

  void line(std::pair<unsigned, unsigned> Place, uint64_t Instructions) {
    number(Place.first);
    encodeSLEB128(int64_t(Place.second) - int64_t(Line), Groups);
    Line = Place.second;
    number(Instructions);
  }

  // The instance and line of a location; without a location, the function itself and line 0.
  std::pair<unsigned, unsigned> at(const DILocation *Loc) {
    const DISubprogram *Function = Loc ? Loc->getScope()->getSubprogram() : Own;
    const DIFile *File = Loc ? Loc->getFile() : Own->getFile();
    const DILocation *InlinedAt = Loc ? Loc->getInlinedAt() : nullptr;
    Instance I{InlinedAt, {Function, File}};
    auto Known = Instances.find(I);
    if (Known == Instances.end()) {
      unsigned Into = InlinedAt ? at(InlinedAt).first + 1 : 0;
      unsigned Next = Places.size();
      unsigned Of = Places.insert({{pathOf(File), name(Function)}, Next}).first->second;
      Known = Instances.insert({I, Numbers{Of, Into}}).first;
    }
    return {Known - Instances.begin(), Loc ? Loc->getLine() : 0};
  }

  // The linkage name if there is one: it distinguishes overloaded C++ functions.
  std::string name(const DISubprogram *Function) const {
    if (!Function->getLinkageName().empty())
      return Function->getLinkageName().str();
    // debug information of line tables only has short names: the symbol of the function itself says more
    if (Function == Own && F.getName().substr(0, 2) == "_Z")
      return F.getName().str();
    return Function->getName().str();
  }
};
