// Mutations of values: results of arithmetic, comparisons, and the constants in them.
#pragma once

#include "mutation.h"

namespace mutants {

// Integers that take the place of a constant.
inline SmallVector<APInt, 5> insteadOf(const APInt &Constant, bool IsOffset) {
  unsigned Bits = Constant.getBitWidth();
  SmallVector<APInt, 5> Others;
  auto Add = [&](const APInt &Other) {
    if (Other != Constant && !is_contained(Others, Other))
      Others.push_back(Other);
  };
  Add(APInt(Bits, 0));
  Add(APInt(Bits, 1));
  // another width than a bool has
  if (Bits > 1) {
    Add(APInt::getAllOnes(Bits));
    if (!IsOffset) {
      Add(APInt::getSignedMinValue(Bits));
      Add(APInt::getSignedMaxValue(Bits));
    }
  }
  return Others;
}

inline std::string text(const APInt &Number) {
  SmallString<24> Text;
  Number.toString(Text, 10, Number.getBitWidth() > 1);
  return Text.str().str();
}

inline const char *sign(unsigned Opcode) {
  switch (Opcode) {
  case Instruction::Add:
  case Instruction::FAdd:
    return "+";
  case Instruction::Sub:
  case Instruction::FSub:
    return "-";
  case Instruction::Mul:
  case Instruction::FMul:
    return "*";
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::FDiv:
    return "/";
  case Instruction::URem:
  case Instruction::SRem:
  case Instruction::FRem:
    return "%";
  case Instruction::And:
    return "&";
  case Instruction::Or:
    return "|";
  case Instruction::Xor:
    return "^";
  case Instruction::Shl:
    return "<<";
  default:
    return ">>";
  }
}

inline const char *sign(CmpInst::Predicate P) {
  switch (P) {
  case CmpInst::ICMP_EQ:
  case CmpInst::FCMP_OEQ:
  case CmpInst::FCMP_UEQ:
    return "==";
  case CmpInst::ICMP_NE:
  case CmpInst::FCMP_ONE:
  case CmpInst::FCMP_UNE:
    return "!=";
  case CmpInst::ICMP_ULT:
  case CmpInst::ICMP_SLT:
  case CmpInst::FCMP_OLT:
  case CmpInst::FCMP_ULT:
    return "<";
  case CmpInst::ICMP_ULE:
  case CmpInst::ICMP_SLE:
  case CmpInst::FCMP_OLE:
  case CmpInst::FCMP_ULE:
    return "<=";
  case CmpInst::ICMP_UGT:
  case CmpInst::ICMP_SGT:
  case CmpInst::FCMP_OGT:
  case CmpInst::FCMP_UGT:
    return ">";
  case CmpInst::ICMP_UGE:
  case CmpInst::ICMP_SGE:
  case CmpInst::FCMP_OGE:
  case CmpInst::FCMP_UGE:
    return ">=";
  default:
    return "?";
  }
}

inline bool isDivision(unsigned Opcode) {
  return Opcode == Instruction::UDiv || Opcode == Instruction::SDiv || Opcode == Instruction::URem ||
         Opcode == Instruction::SRem;
}

// A division in place of a multiplication. It traps as a division by 0 does, if it is selected.
inline Value *divided(IRBuilder<> &B, Instruction *I, Value *Selected, bool IsSigned) {
  Value *A = I->getOperand(0), *Divisor = I->getOperand(1);
  auto Divide = [&](Value *By) { return IsSigned ? B.CreateSDiv(A, By) : B.CreateUDiv(A, By); };
  Constant *One = ConstantInt::get(I->getType(), 1);
  if (Selected)
    return Divide(B.CreateSelect(Selected, Divisor, One));
  Value *Traps = B.CreateICmpEQ(Divisor, Constant::getNullValue(I->getType()));
  Value *Overflows = B.CreateICmpEQ(Divisor, Constant::getAllOnesValue(I->getType()));
  Value *Safe = Divide(B.CreateSelect(B.CreateOr(Traps, Overflows), One, Divisor));
  return B.CreateSelect(Traps, B.CreateNot(I), Safe);
}

class Values {
public:
  explicit Values(Mutations &All) : All(All) {}

  void visit(Instruction &I) {
    if (auto *Binary = dyn_cast<BinaryOperator>(&I))
      binary(*Binary);
    else if (auto *Compare = dyn_cast<CmpInst>(&I))
      compare(*Compare);
    else if (auto *Address = dyn_cast<GetElementPtrInst>(&I))
      address(*Address);
  }

private:
  Mutations &All;

  void add(Instruction &I, Operator Kind, std::string Was, std::string Became, MakeValue Make) {
    All.push_back({&I, ResultOf, Kind, std::move(Was), std::move(Became), std::move(Make)});
  }

  void binary(BinaryOperator &I) {
    if (!I.getType()->isIntegerTy() && !I.getType()->isFloatingPointTy())
      return;
    unsigned Opcode = I.getOpcode();
    swaps(I);
    auto *Right = dyn_cast<ConstantInt>(I.getOperand(1)), *Left = dyn_cast<ConstantInt>(I.getOperand(0));
    // `~a` and `-a`
    bool IsUnary = (Opcode == Instruction::Xor && Right && Right->isMinusOne()) || (Opcode == Instruction::Sub && Left && Left->isZero());
    // without a constant on the right: another value of the constant is the same mutant
    if (!isa<Constant>(I.getOperand(1)))
      add(I, Operator::OperandDeleted, std::string("a ") + sign(Opcode) + " b", "a",
          [](IRBuilder<> &, Instruction *Copy, Value *) { return Copy->getOperand(0); });
    if (!IsUnary)
      add(I, Operator::OperandDeleted, std::string("a ") + sign(Opcode) + " b", "b",
          [](IRBuilder<> &, Instruction *Copy, Value *) { return Copy->getOperand(1); });
    for (int At : {0, 1})
      if (auto *C = dyn_cast<ConstantInt>(I.getOperand(At)))
        if (!IsUnary)
          constants(I, At, *C);
  }

  void swaps(BinaryOperator &I) {
    using O = Instruction::BinaryOps;
    bool IsSigned = I.getOpcode() == Instruction::SDiv || I.getOpcode() == Instruction::SRem ||
                    (isa<OverflowingBinaryOperator>(I) && I.hasNoSignedWrap());
    switch (I.getOpcode()) {
    case Instruction::Add:
      return swap(I, Operator::Arithmetic, {O::Sub});
    case Instruction::Sub:
      return swap(I, Operator::Arithmetic, {O::Add});
    case Instruction::Mul:
      return add(I, Operator::Arithmetic, "*", "/", [IsSigned](IRBuilder<> &B, Instruction *Copy, Value *Selected) {
        return divided(B, Copy, Selected, IsSigned);
      });
    case Instruction::UDiv:
    case Instruction::SDiv:
      return swap(I, Operator::Arithmetic, {O::Mul});
    // the same divisor: it traps where the original does
    case Instruction::URem:
      return swap(I, Operator::Arithmetic, {O::UDiv});
    case Instruction::SRem:
      return swap(I, Operator::Arithmetic, {O::SDiv});
    case Instruction::FAdd:
      return swap(I, Operator::Arithmetic, {O::FSub});
    case Instruction::FSub:
      return swap(I, Operator::Arithmetic, {O::FAdd});
    case Instruction::FMul:
      return swap(I, Operator::Arithmetic, {O::FDiv});
    case Instruction::FDiv:
      return swap(I, Operator::Arithmetic, {O::FMul});
    case Instruction::And:
      return swap(I, Operator::Bitwise, {O::Or, O::Xor});
    case Instruction::Or:
      return swap(I, Operator::Bitwise, {O::And, O::Xor});
    case Instruction::Xor:
      return swap(I, Operator::Bitwise, {O::And, O::Or});
    case Instruction::Shl:
      return swap(I, Operator::Shift, {O::LShr});
    case Instruction::LShr:
    case Instruction::AShr:
      return swap(I, Operator::Shift, {O::Shl});
    default:
      return;
    }
  }

  void swap(BinaryOperator &I, Operator Kind, std::initializer_list<Instruction::BinaryOps> Others) {
    auto *C = dyn_cast<ConstantInt>(I.getOperand(1));
    // clang's form of `i--`
    bool IsDecrement = I.getOpcode() == Instruction::Add && C && C->isMinusOne();
    for (Instruction::BinaryOps Other : Others)
      add(I, Kind, IsDecrement ? "--" : sign(I.getOpcode()), IsDecrement ? "++" : sign(Other),
          [Other](IRBuilder<> &B, Instruction *Copy, Value *) {
            return B.CreateBinOp(Other, Copy->getOperand(0), Copy->getOperand(1));
          });
  }

  // The same instruction with another constant at the operand `At`.
  void constants(Instruction &I, int At, ConstantInt &C) {
    unsigned Opcode = I.getOpcode();
    bool IsShift = At == 1 && (Opcode == Instruction::Shl || Opcode == Instruction::LShr || Opcode == Instruction::AShr);
    bool Divides = At == 1 && isDivision(Opcode);
    for (const APInt &Other : insteadOf(C.getValue(), false)) {
      // other distances have no meaning
      if (IsShift && Other.ugt(1))
        continue;
      Constant *New = ConstantInt::get(C.getType(), Other);
      bool MayTrap = Divides && (Other == 0 || Other.isAllOnes());
      add(I, Operator::Constant, text(C.getValue()), text(Other),
          [At, New, MayTrap](IRBuilder<> &B, Instruction *Copy, Value *Selected) -> Value * {
            if (MayTrap && !Selected)
              return B.CreateNot(Copy);
            Value *Operand = MayTrap ? B.CreateSelect(Selected, New, Copy->getOperand(At)) : New;
            Instruction *Made = Copy->clone();
            Made->dropPoisonGeneratingFlags();
            Made->setOperand(At, Operand);
            return B.Insert(Made);
          });
    }
  }

  void compare(CmpInst &I) {
    // what chooses a `catch` stands nowhere in the source
    if (I.getType()->isVectorTy() || isa<IntrinsicInst>(I.getOperand(0)) || isa<IntrinsicInst>(I.getOperand(1)))
      return;
    CmpInst::Predicate P = I.getPredicate(), Inverse = I.getInversePredicate();
    auto *Zero = dyn_cast<Constant>(I.getOperand(1));
    // also what `if (a)` becomes
    bool IsTest = P == CmpInst::ICMP_NE && Zero && Zero->isNullValue();
    predicate(I, Operator::ComparisonNegated, Inverse, IsTest ? " 0" : "");
    CmpInst::Predicate Moved = moved(P);
    if (Moved != P)
      predicate(I, Operator::ComparisonMoved, Moved, "");
    for (int At : {0, 1})
      if (auto *C = dyn_cast<ConstantInt>(I.getOperand(At)))
        if (!IsTest)
          constants(I, At, *C);
  }

  static CmpInst::Predicate moved(CmpInst::Predicate P) {
    if (CmpInst::isIntPredicate(P))
      return ICmpInst::isEquality(P) ? P
             : CmpInst::isStrictPredicate(P) ? CmpInst::getNonStrictPredicate(P)
                                             : CmpInst::getStrictPredicate(P);
    switch (P) {
    case CmpInst::FCMP_OLT:
      return CmpInst::FCMP_OLE;
    case CmpInst::FCMP_OLE:
      return CmpInst::FCMP_OLT;
    case CmpInst::FCMP_OGT:
      return CmpInst::FCMP_OGE;
    case CmpInst::FCMP_OGE:
      return CmpInst::FCMP_OGT;
    default:
      return P;
    }
  }

  void predicate(CmpInst &I, Operator Kind, CmpInst::Predicate Other, const char *With) {
    add(I, Kind, std::string(sign(I.getPredicate())) + With, std::string(sign(Other)) + With,
        [Other](IRBuilder<> &B, Instruction *Copy, Value *) {
          return B.CreateCmp(Other, Copy->getOperand(0), Copy->getOperand(1));
        });
  }

  // Steps of pointers and indices of arrays: not what fields of structures become.
  void address(GetElementPtrInst &I) {
    unsigned Last = I.getNumOperands() - 1;
    bool IsArray = Last == 2 && I.getSourceElementType()->isArrayTy();
    if (I.getType()->isVectorTy() || !(Last == 1 || IsArray))
      return;
    auto *C = dyn_cast<ConstantInt>(I.getOperand(Last));
    if (!C) {
      auto Zero = [Last](IRBuilder<> &, Instruction *Copy, Value *) {
        return Constant::getNullValue(Copy->getOperand(Last)->getType());
      };
      All.push_back({&I, int(Last), Operator::OperandDeleted, "offset", "0", Zero});
      return;
    }
    // where an array becomes a pointer
    if (IsArray && C->isZero())
      return;
    for (const APInt &Other : insteadOf(C->getValue(), true)) {
      Constant *New = ConstantInt::get(C->getType(), Other);
      All.push_back({&I, int(Last), Operator::Constant, text(C->getValue()), text(Other),
                     [New](IRBuilder<> &, Instruction *, Value *) -> Value * { return New; }});
    }
  }
};

} // namespace mutants
