// Mutants of functions that hash: few different results, so that what is kept by them collides.
#ifndef QUAGMIRE_PERFORMANCE_HASHES_H
#define QUAGMIRE_PERFORMANCE_HASHES_H

#include "hashing.h"
#include "sites.h"

namespace performance {

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
    if (Returns.empty() || !Hashing::is(F, Variables(F)))
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

#endif
