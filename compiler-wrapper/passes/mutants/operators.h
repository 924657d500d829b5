// The operators: what kinds of small faults there are. One row each: its name, which reports and JSON use (an interface),
// and what it does. Where it applies is in the file named in the last column.
#pragma once

#define QUAGMIRE_MUTATION_OPERATORS(ROW)                                                                                \
  ROW(Arithmetic, "arithmetic")               /* + and -, * and /, % to /                         values.h */           \
  ROW(Bitwise, "bitwise")                     /* &, | and ^                                       values.h */           \
  ROW(Shift, "shift")                         /* << and >>                                        values.h */           \
  ROW(OperandDeleted, "operand-deleted")      /* a + b to a, and to b; p[i] and p + i to p        values.h */           \
  ROW(ComparisonNegated, "comparison-negated") /* < to >=, == to !=                               values.h */           \
  ROW(ComparisonMoved, "comparison-moved")    /* < to <=, >= to >                                 values.h */           \
  ROW(ConditionNegated, "condition-negated")  /* a condition that is no comparison                effects.h */          \
  ROW(Constant, "constant")                   /* integers to 0, 1, -1, minimum, maximum           values.h, effects.h */ \
  ROW(StoreDeleted, "store-deleted")          /* nothing is assigned                              effects.h */          \
  ROW(CallDeleted, "call-deleted")            /* a call whose result nobody uses                  effects.h */          \
  ROW(ResultZero, "result-zero")              /* the result of a call is 0 or null                effects.h */          \
  ROW(SizeOffByOne, "size-off-by-one")        /* allocations one less, copies one more; with a sanitizer  effects.h */

namespace mutants {

enum class Operator {
#define ROW(Id, Name) Id,
  QUAGMIRE_MUTATION_OPERATORS(ROW)
#undef ROW
};

inline const char *name(Operator O) {
  static const char *const Names[] = {
#define ROW(Id, Name) Name,
      QUAGMIRE_MUTATION_OPERATORS(ROW)
#undef ROW
  };
  return Names[static_cast<int>(O)];
}

} // namespace mutants
