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
#ifndef QUAGMIRE_LINES_H
#define QUAGMIRE_LINES_H

#include "weight.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

// Distance between two globals in bytes, a constant of the linker.
inline llvm::Constant *distance(llvm::GlobalVariable *From, llvm::GlobalVariable *To) {
  llvm::Module &M = *From->getParent();
  llvm::Type *Int = M.getDataLayout().getIntPtrType(M.getContext());
  llvm::Constant *Bytes = llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(To, Int),
                                                     llvm::ConstantExpr::getPtrToInt(From, Int));
  llvm::Type *I32 = llvm::Type::getInt32Ty(M.getContext());
  return Int == I32 ? Bytes : llvm::ConstantExpr::getTrunc(Bytes, I32);
}

// The texts that the tables of a module refer to, without duplicates.
class Texts {
public:
  explicit Texts(llvm::Module &M) : M(M) {}

  llvm::GlobalVariable *get(llvm::StringRef Text) {
    llvm::GlobalVariable *&G = Known[Text];
    if (!G) {
      llvm::Constant *Init = llvm::ConstantDataArray::getString(M.getContext(), Text);
      G = new llvm::GlobalVariable(M, Init->getType(), true, llvm::GlobalValue::PrivateLinkage, Init, "__qgm_string");
      G->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
      G->setAlignment(llvm::Align(1));
      G->setSection("__qgm_strings");
    }
    return G;
  }

private:
  llvm::Module &M;
  llvm::StringMap<llvm::GlobalVariable *> Known;
};

// The table of one function. Groups are added in order, before anything is inserted into them.
class LineTable {
public:
  explicit LineTable(const llvm::Function &F) : F(F), Own(F.getSubprogram()) {}

  // Whether the table has any entries.
  explicit operator bool() const { return Own; }

  template <typename Blocks> void add(const Blocks &BlocksOfIt) {
    ++Count;
    std::map<std::pair<unsigned, unsigned>, uint64_t> Lines;
    for (const llvm::BasicBlock *BB : BlocksOfIt)
      for (const llvm::Instruction &I : *BB)
        if (uint64_t Weight = weightOf(I))
          Lines[at(I.getDebugLoc().get())] += Weight;
    number(Lines.size());
    for (const auto &L : Lines)
      line(L.first, L.second);
  }

  // Adds the group of a charge, behind those of counters and sums.
  void addCharge(const llvm::Instruction &Call) {
    ++Count;
    number(1);
    line(at(Call.getDebugLoc().get()), 1);
  }

  // `Create` makes the global variable from an initialiser, which is replaced once there is something to measure
  // distances from.
  template <typename Create> llvm::GlobalVariable *emit(Texts &T, Create CreateTable) {
    llvm::SmallString<64> Bytes;
    llvm::raw_svector_ostream Out(Bytes);
    llvm::encodeULEB128(Instances.size(), Out);
    for (const auto &Known : Instances) {
      llvm::encodeULEB128(Known.second.Place, Out);
      llvm::encodeULEB128(Known.second.Into, Out);
    }
    llvm::encodeULEB128(Count, Out);
    Out << Text;
    llvm::LLVMContext &C = F.getContext();
    llvm::Type *I32 = llvm::Type::getInt32Ty(C);
    auto *PlacesTy = llvm::ArrayType::get(I32, 2 * Places.size());
    llvm::Constant *Numbers = llvm::ConstantDataArray::getString(C, Bytes, false);
    auto *Ty = llvm::StructType::get(C, {I32, I32, PlacesTy, Numbers->getType()});
    llvm::GlobalVariable *Table = CreateTable(llvm::Constant::getNullValue(Ty));
    llvm::SmallVector<llvm::Constant *, 32> Distances;
    for (const auto &Place : Places) {
      Distances.push_back(distance(Table, T.get(Place.first.first)));
      Distances.push_back(distance(Table, T.get(Place.first.second)));
    }
    Table->setInitializer(llvm::ConstantStruct::get(
        Ty, {llvm::ConstantInt::get(I32, Places.size()), llvm::ConstantInt::get(I32, Bytes.size()),
             llvm::ConstantArray::get(PlacesTy, Distances), Numbers}));
    return Table;
  }

private:
  using Place = std::pair<std::string, std::string>;
  using Instance = std::pair<const llvm::DILocation *, std::pair<const llvm::DISubprogram *, const llvm::DIFile *>>;
  struct Numbers {
    unsigned Place;
    unsigned Into;
  };

  const llvm::Function &F;
  const llvm::DISubprogram *Own;
  llvm::MapVector<Place, unsigned, std::map<Place, unsigned>> Places;
  llvm::MapVector<Instance, Numbers> Instances;
  llvm::SmallString<256> Text;
  llvm::raw_svector_ostream Groups{Text};
  unsigned Count = 0;
  unsigned Line = 0;

  void number(uint64_t N) { llvm::encodeULEB128(N, Groups); }

  void line(std::pair<unsigned, unsigned> Place, uint64_t Instructions) {
    number(Place.first);
    llvm::encodeSLEB128(int64_t(Place.second) - int64_t(Line), Groups);
    Line = Place.second;
    number(Instructions);
  }

  // The instance and line of a location; without a location, the function itself and line 0.
  std::pair<unsigned, unsigned> at(const llvm::DILocation *Loc) {
    const llvm::DISubprogram *Function = Loc ? Loc->getScope()->getSubprogram() : Own;
    const llvm::DIFile *File = Loc ? Loc->getFile() : Own->getFile();
    const llvm::DILocation *InlinedAt = Loc ? Loc->getInlinedAt() : nullptr;
    Instance I{InlinedAt, {Function, File}};
    auto Known = Instances.find(I);
    if (Known == Instances.end()) {
      unsigned Into = InlinedAt ? at(InlinedAt).first + 1 : 0;
      unsigned Next = Places.size();
      unsigned Of = Places.insert({{path(File), name(Function)}, Next}).first->second;
      Known = Instances.insert({I, Numbers{Of, Into}}).first;
    }
    return {Known - Instances.begin(), Loc ? Loc->getLine() : 0};
  }

  // The linkage name if there is one: it distinguishes overloaded C++ functions.
  std::string name(const llvm::DISubprogram *Function) const {
    if (!Function->getLinkageName().empty())
      return Function->getLinkageName().str();
    // debug information of line tables only has short names: the symbol of the function itself says more
    if (Function == Own && F.getName().substr(0, 2) == "_Z")
      return F.getName().str();
    return Function->getName().str();
  }

  static std::string path(const llvm::DIFile *File) {
    if (!File)
      return "";
    if (llvm::sys::path::is_absolute(File->getFilename()) || File->getDirectory().empty())
      return File->getFilename().str();
    return (File->getDirectory() + "/" + File->getFilename()).str();
  }
};

#endif
