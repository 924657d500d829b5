// Tokens of the code: constants that it compares with something, which a search puts into inputs. A format behind magic
// numbers and keywords is reached that way without a dictionary of it. What is taken, as in the dictionaries that AFL++'s
// compiler makes, and for what that leaves out:
//   - text that is an argument of a call beside another pointer, if the result of the call decides a branch: strcmp and
//     its like, and what programs wrap around them
//   - text of tables: constant arrays with at least four tokens
//   - integers of 2 to 8 bytes in ==, !=, switch; in < and the like, with their neighbour. Numbers that fit into a byte, positive or
//     negative, are left out. In both byte orders
//   - bytes that are compared one after the other: p[0] == '<' && p[1] == '!'
// Each becomes a text "quagmire-token: 3c21" (bytes in hexadecimal digits) in the section .GCC.command.line, beside the
// settings (settings.h): no memory, nothing to do when the program starts, and linkers keep equal texts once. Looked for before
// optimisation, which turns calls into other code, and after it, which puts bytes together.

#pragma once

#include "common.h"

#include <map>
#include <set>
#include <string>

namespace tokens {

// Bytes of a token, and tokens of a table that is one.
const unsigned Shortest = 2, Longest = 32, FewestOfTable = 4;
// Cases of a switch: one with more is a table of numbers, such as that of Unicode.
const unsigned MostCases = 256;
// Tokens that begin with one comparison of a byte.
const unsigned MostWithBeginning = 64;

class Tokens {
public:
  explicit Tokens(Module &M) : M(M) {}

  void record() {
    for (const GlobalVariable &G : M.globals())
      if (G.isConstant() && G.hasInitializer() && !isOurs(G.getName()))
        table(*G.getInitializer());
    for (Function &F : M)
      if (!F.isDeclaration() && !isOurs(F.getName()))
        look(F);
    NamedMDNode *Texts = Found.empty() ? nullptr : M.getOrInsertNamedMetadata("llvm.commandline");
    for (const std::string &Token : Found)
      Texts->addOperand(MDNode::get(M.getContext(), MDString::get(M.getContext(), "quagmire-token: " + toHex(Token, true))));
  }

private:
  Module &M;
  std::set<std::string> Found;

  // A byte that is compared with a constant: where it is in memory, and in the code.
  struct Byte {
    const Value *Base;
    int64_t Offset;
    uint8_t Is;
  };
  // in the order of the code
  MapVector<const ICmpInst *, Byte> Bytes;

  // Of sanitizers and of quagmire itself.
  static bool isOurs(StringRef Name) {
    return beginsWithOneOf(Name, {"__sanitizer_", "__asan_", "__ubsan_", "__quagmire_", "asan.", "quagmire."});
  }

  void add(StringRef Token) {
    if (Token.size() >= Shortest && Token.size() <= Longest)
      Found.insert(Token.str());
  }

  // Text that can be a token of a format: no sentence, and no pattern of printf.
  static bool isToken(StringRef Text) {
    return Text.size() >= Shortest && Text.size() <= Longest && !Text.contains('%') && all_of(Text, [](char C) { return isPrint(C) && C != ' '; });
  }

  // The text that a constant points to or is.
  static bool textOf(const Value *V, StringRef &Text) {
    if (auto *Array = dyn_cast<ConstantDataArray>(V)) {
      if (!Array->isString(8))
        return false;
      Text = Array->getAsString().rtrim('\0');
      return !Text.contains('\0');
    }
    return V->getType()->isPointerTy() && isa<Constant>(V) && getConstantStringInfo(V, Text);
  }

  static void texts(const Constant &C, SmallVectorImpl<StringRef> &Texts, unsigned Depth) {
    StringRef Text;
    if (textOf(&C, Text)) {
      if (isToken(Text))
        Texts.push_back(Text);
    } else if (Depth && (isa<ConstantArray>(C) || isa<ConstantStruct>(C))) {
      for (const Use &Item : C.operands())
        texts(*cast<Constant>(Item), Texts, Depth - 1);
    }
  }

  void table(const Constant &Init) {
    SmallVector<StringRef, 32> Texts;
    if (isa<ConstantArray>(Init))
      texts(Init, Texts, 3);
    if (Texts.size() >= FewestOfTable)
      for (StringRef Text : Texts)
        add(Text);
  }

  void look(Function &F) {
    Bytes.clear();
    for (Instruction &I : instructions(F)) {
      if (auto *Compare = dyn_cast<ICmpInst>(&I))
        look(*Compare);
      else if (auto *Switch = dyn_cast<SwitchInst>(&I))
        look(*Switch);
      else if (auto *Call = dyn_cast<CallBase>(&I))
        look(*Call);
    }
    sequences();
  }

  // Whether a value decides a branch, as it is or compared with something.
  static bool decides(const Value &V, unsigned Depth = 3) {
    return any_of(V.users(), [&](const User *U) {
      if (isa<BranchInst>(U) || isa<SelectInst>(U) || isa<SwitchInst>(U))
        return true;
      bool Passes = isa<ICmpInst>(U) || isa<CastInst>(U) || isa<BinaryOperator>(U) || isa<FreezeInst>(U) || isa<PHINode>(U);
      return Depth && Passes && decides(*U, Depth - 1);
    });
  }

  void look(const CallBase &Call) {
    unsigned Pointers = count_if(Call.args(), [](const Use &A) { return A->getType()->isPointerTy(); });
    if (Pointers < 2 || isa<IntrinsicInst>(Call) || !Call.getType()->isIntOrPtrTy() || !decides(Call))
      return;
    const Function *Callee = Call.getCalledFunction();
    StringRef Name = Callee ? Callee->getName() : "";
    bool IsMemory = (Name == "memcmp" || Name == "bcmp") && Call.arg_size() == 3;
    auto *Length = IsMemory ? dyn_cast<ConstantInt>(Call.getArgOperand(2)) : nullptr;
    for (const Use &Argument : Call.args()) {
      StringRef Text;
      if (Length)
        memory(*Argument, Length->getLimitedValue());
      else if (textOf(Argument, Text) && isToken(Text))
        add(Text);
    }
  }

  // Constant bytes that memcmp compares, zeros among them.
  void memory(const Value &Argument, uint64_t Length) {
    ConstantDataArraySlice Slice;
    if (!Argument.getType()->isPointerTy() || !getConstantDataArrayInfo(&Argument, Slice, 8) || !Slice.Array || Slice.Length < Length)
      return;
    std::string Token;
    for (uint64_t I = 0; I < Length && I <= Longest; ++I)
      Token.push_back(char(Slice[I]));
    add(Token);
  }

  // A number in both byte orders, in as few bytes as it needs. Powers of two and their neighbours are limits and masks
  // more often than they are part of a format, and mutations of bits and of arithmetic make them anyway.
  void number(const APInt &V) {
    unsigned Needed = std::min(V.getActiveBits(), (~V).getActiveBits() + 1);
    bool IsLimit = V.isPowerOf2() || (V + 1).isPowerOf2() || (V - 1).isPowerOf2();
    if (std::min(V.getActiveBits(), (~V).getActiveBits()) <= 8 || V.getBitWidth() > 64 || IsLimit)
      return;
    unsigned Size = (std::min(Needed, V.getBitWidth()) + 7) / 8;
    uint64_t Bits = V.getZExtValue();
    std::string Little, Big;
    for (unsigned I = 0; I < Size; ++I) {
      Little.push_back(char(Bits >> 8 * I));
      Big.push_back(char(Bits >> 8 * (Size - 1 - I)));
    }
    add(Little);
    add(Big);
  }

  void look(const ICmpInst &Compare) {
    auto *Is = dyn_cast<ConstantInt>(Compare.getOperand(1));
    if (!Is)
      return;
    const APInt &V = Is->getValue();
    number(V);
    // x < V: V and what is below it are on different sides; x > V: V and what is above
    if (!Compare.isEquality())
      number(ICmpInst::isLT(Compare.getPredicate()) || ICmpInst::isGE(Compare.getPredicate()) ? V - 1 : V + 1);
    // a byte that was widened, too
    const Value *Left = Compare.getOperand(0);
    while (isa<ZExtInst>(Left) || isa<SExtInst>(Left))
      Left = cast<CastInst>(Left)->getOperand(0);
    auto *Load = dyn_cast<LoadInst>(Left);
    if (!Compare.isEquality() || !Load || !Load->getType()->isIntegerTy(8))
      return;
    APInt Offset(M.getDataLayout().getIndexTypeSizeInBits(Load->getPointerOperandType()), 0);
    const Value *Base = Load->getPointerOperand()->stripAndAccumulateConstantOffsets(M.getDataLayout(), Offset, true);
    Bytes[&Compare] = {Base, Offset.getSExtValue(), uint8_t(V.getLoBits(8).getZExtValue())};
  }

  void look(const SwitchInst &Switch) {
    if (Switch.getNumCases() <= MostCases)
      for (auto Case : Switch.cases())
        number(Case.getCaseValue()->getValue());
  }

  // Whether B is compared where A is equal: in the block that follows then, or beside it, folded into one condition.
  static bool follows(const ICmpInst &A, const ICmpInst &B) {
    if (A.getParent() == B.getParent())
      return A.comesBefore(&B) || B.comesBefore(&A);
    auto *Branch = dyn_cast<BranchInst>(A.getParent()->getTerminator());
    if (!Branch || !Branch->isConditional())
      return false;
    const BasicBlock *Equal = Branch->getSuccessor(A.getPredicate() == CmpInst::ICMP_EQ ? 0 : 1);
    const auto *Condition = dyn_cast<Instruction>(Branch->getCondition());
    bool IsPart = Condition && !isa<PHINode>(Condition) && is_contained(Condition->operand_values(), &A);
    return (Condition == &A || IsPart) && B.getParent() == Equal && Equal->getSinglePredecessor();
  }

  // Comparisons of bytes, by what the bytes lie beside and how far from it.
  using Places = std::map<std::pair<const Value *, int64_t>, SmallVector<const ICmpInst *, 4>>;

  // Comparisons of the byte after that of One (Step 1) that the code makes after it, or of the one before (-1).
  SmallVector<const ICmpInst *, 4> neighbours(const Places &At, const ICmpInst *One, int Step) const {
    SmallVector<const ICmpInst *, 4> All;
    Byte B = Bytes.lookup(One);
    auto Found = At.find({B.Base, B.Offset + Step});
    if (Found != At.end())
      copy_if(Found->second, std::back_inserter(All), [&](const ICmpInst *Other) { return Step > 0 ? follows(*One, *Other) : follows(*Other, *One); });
    return All;
  }

  // Adds the tokens that begin with these bytes and go on with that of One, `Left` at most.
  void spell(const Places &At, const ICmpInst *One, std::string Token, unsigned &Left) {
    if (Left == 0)
      return;
    Token.push_back(char(Bytes.lookup(One).Is));
    auto Next = neighbours(At, One, 1);
    if (Next.empty() || Token.size() > Longest) {
      add(Token);
      --Left;
      return;
    }
    for (const ICmpInst *Other : Next)
      spell(At, Other, Token, Left);
  }

  // Tokens of bytes that are compared one after the other.
  void sequences() {
    Places At;
    for (auto &Item : Bytes)
      At[{Item.second.Base, Item.second.Offset}].push_back(Item.first);
    for (auto &Item : Bytes) {
      unsigned Left = MostWithBeginning;
      if (neighbours(At, Item.first, -1).empty())
        spell(At, Item.first, "", Left);
    }
  }
};

} // namespace tokens
