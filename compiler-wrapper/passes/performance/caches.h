// Mutants of caches: what is stored is computed again.
#ifndef QUAGMIRE_PERFORMANCE_CACHES_H
#define QUAGMIRE_PERFORMANCE_CACHES_H

#include "caching.h"
#include "sites.h"

namespace performance {

// cache-dropped: the test of a cache says that nothing is stored, although something is. Past a gate, after so many hits.
class Caches {
public:
  Caches(Sites &OfF, Function &F) : OfF(OfF), F(F) {}

  void find() {
    for (const Cache &One : Caching(F, Variables(F)).find())
      if (const DILocation *Place = place(*One.Test))
        Found.push_back({One, OfF.add(CacheDropped, Place, "test", "it finds nothing stored")});
  }

  void emit() {
    for (const Site &S : Found) {
      IRBuilder<> B(S.Of.Test);
      auto Turned = [&](Value *Condition) { return S.Of.Hit == 0 ? Condition : B.CreateNot(Condition); };
      Value *Hit = B.CreateZExt(Turned(S.Of.Test->getCondition()), B.getInt64Ty());
      S.Of.Test->setCondition(Turned(B.CreateTrunc(OfF.keep(B, S.Number, Hit), B.getInt1Ty())));
    }
  }

private:
  struct Site {
    Cache Of;
    unsigned Number;
  };

  Sites &OfF;
  Function &F;
  SmallVector<Site, 4> Found;
};

} // namespace performance

#endif
