// Placement of the counters of a function, and derivation of the counts of its other blocks.
//
// Critical edges are split before, so that a block stands for the edge into it. A block needs no counter if its count is
// the sum of other counts at every moment of a run, however the run ends:
//   - of the blocks before it, if they lead nowhere else and pass (certain.h). One that may not pass can get a second
//     counter at its end, if that runs less often than the block would be counted.
//   - of the blocks behind it, if they are entered from nowhere else and the block itself passes.
// Both are statements about neighbours. Loops of any shape, with or without an exit, second returns of setjmp, exceptions
// and calls that never return cannot make them wrong. There are sums and no differences: a branch that is taken for the
// first time raises a counter that was zero. Whatever is not certain is counted.
#pragma once

#include "certain.h"
#include "library_costs.h"

namespace placement {

#ifdef QUAGMIRE_EVERY_BLOCK
const bool Shared = false;
#else
const bool Shared = true;
#endif

// A group of blocks that run equally often, and the source of their count.
struct Group {
  // The blocks; empty for a counter at the end of a block.
  SmallVector<BasicBlock *, 4> Blocks;
  // The block at whose end the counter stands; null for a counter at the start of the first block.
  BasicBlock *AtEndOf = nullptr;
  // The groups whose counts add up to this one's; empty for a group with a counter.
  SmallVector<unsigned, 4> Parts;
  // For a group with a counter: its weight, the instructions that one execution stands for, including the sums that it
  // is part of.
  uint64_t Instructions = 0;
};

// Groups are numbered: first those with counters, the function's entry before all others; then the sums, each behind its
// parts.
struct Placement {
  SmallVector<Group, 32> Groups;
  unsigned Counters = 0;
};

class Placer {
public:
  explicit Placer(Function &F) : F(F) {
    for (BasicBlock *BB : depth_first(&F.getEntryBlock()))
      if (canCarry(*BB) || BB == &F.getEntryBlock()) {
        NodeOf[BB] = Nodes.size();
        Nodes.push_back({BB, nullptr, {}});
      }
  }

  Placement place(bool Share) {
    // group numbers have 16 bits in the tables
    if (Share && Nodes.size() <= MostGroups / 2)
      choose();
    Placement P = number();
    bool Fits = all_of(P.Groups, [](const Group &G) { return G.Instructions <= UINT32_MAX; });
    return Fits || !Share ? P : Placer(F).place(false);
  }

private:
  static const unsigned MostGroups = UINT16_MAX;
  // Maximum number of groups in a sum, which bounds the time for large functions.
  static const unsigned MostInSum = 256;

  // A point with a count: the start of a block, or its end.
  struct Node {
    BasicBlock *Start;
    BasicBlock *End;
    // The nodes whose counts add up to this one's; empty if it is counted.
    SmallVector<unsigned, 2> Sum;
  };

  Function &F;
  SmallVector<Node, 32> Nodes;
  DenseMap<const BasicBlock *, unsigned> NodeOf;
  DenseMap<const BasicBlock *, bool> Passes;

  static bool canCarry(const BasicBlock &BB) {
    return BB.getFirstInsertionPt() != BB.end() && !isa<UnreachableInst>(&*BB.getFirstInsertionPt());
  }

  bool passes(const BasicBlock *BB) {
    auto Known = Passes.try_emplace(BB, false);
    if (Known.second)
      Known.first->second = certain::passes(*BB);
    return Known.first->second;
  }

  // The predecessors whose counts add up to that of BB, including those that may not pass; none if there is no such sum.
  SmallVector<BasicBlock *, 4> before(BasicBlock *BB) {
    SmallPtrSet<const BasicBlock *, 8> Seen;
    SmallVector<BasicBlock *, 4> Sum;
    for (BasicBlock *Other : predecessors(BB)) {
      const Instruction *Last = Other->getTerminator();
      if (!NodeOf.count(Other) || Other == BB || Other->getUniqueSuccessor() != BB ||
          !(isa<BranchInst>(Last) || isa<SwitchInst>(Last) || isa<IndirectBrInst>(Last)))
        return {};
      if (Seen.insert(Other).second)
        Sum.push_back(Other);
    }
    return Sum;
  }

  // The successors whose counts add up to that of BB.
  SmallVector<unsigned, 2> behind(BasicBlock *BB) {
    SmallPtrSet<const BasicBlock *, 8> Seen;
    SmallVector<unsigned, 2> Sum;
    if (!passes(BB))
      return {};
    for (BasicBlock *Other : successors(BB)) {
      auto Known = NodeOf.find(Other);
      if (Known == NodeOf.end() || Other == BB || Other->getUniquePredecessor() != BB)
        return {};
      if (Seen.insert(Other).second)
        Sum.push_back(Known->second);
    }
    return Sum;
  }

  // Whether the count of From is derived from that of On; also true if finding out would take too long.
  bool follows(unsigned From, unsigned On, SmallDenseSet<unsigned, 16> &Seen) const {
    if (From == On || Seen.size() > MostInSum)
      return true;
    if (!Seen.insert(From).second)
      return false;
    return any_of(Nodes[From].Sum, [&](unsigned Part) { return follows(Part, On, Seen); });
  }

  bool follows(ArrayRef<unsigned> Sum, unsigned On) const {
    SmallDenseSet<unsigned, 16> Seen;
    return any_of(Sum, [&](unsigned Part) { return follows(Part, On, Seen); });
  }

  // Adds a second counter at the end of a block: each has at most one successor that is a sum of such counters.
  unsigned atEnd(BasicBlock *BB) {
    Nodes.push_back({nullptr, BB, {}});
    return Nodes.size() - 1;
  }

  bool chooseBefore(unsigned N, function_ref<uint64_t(const BasicBlock *)> Frequency) {
    SmallVector<BasicBlock *, 4> Before = before(Nodes[N].Start);
    SmallVector<unsigned, 2> Starts;
    uint64_t Ends = 0;
    for (const BasicBlock *Other : Before)
      if (passes(Other))
        Starts.push_back(NodeOf[Other]);
      else
        Ends += Frequency(Other);
    if (Before.empty() || (Ends > 0 && Ends >= Frequency(Nodes[N].Start)) || follows(Starts, N))
      return false;
    SmallVector<unsigned, 2> Sum;
    for (BasicBlock *Other : Before)
      Sum.push_back(passes(Other) ? NodeOf[Other] : atEnd(Other));
    Nodes[N].Sum = Sum;
    return true;
  }

  bool chooseBehind(unsigned N) {
    SmallVector<unsigned, 2> Behind = behind(Nodes[N].Start);
    if (Behind.empty() || follows(Behind, N))
      return false;
    Nodes[N].Sum = Behind;
    return true;
  }

  // Blocks that run most often lose their counters first.
  void choose() {
    DominatorTree DT(F);
    LoopInfo LI(DT);
    BranchProbabilityInfo BPI(F, LI);
    BlockFrequencyInfo BFI(F, BPI, LI);
    auto Frequency = [&](const BasicBlock *BB) { return BFI.getBlockFreq(BB).getFrequency(); };
    SmallVector<unsigned, 32> Hottest;
    for (unsigned N = 1; N < Nodes.size(); ++N)
      Hottest.push_back(N);
    std::stable_sort(Hottest.begin(), Hottest.end(), [&](unsigned A, unsigned B) {
      return Frequency(Nodes[A].Start) > Frequency(Nodes[B].Start);
    });
    for (unsigned N : Hottest)
      if (!chooseBefore(N, Frequency))
        chooseBehind(N);
  }

  // Orders parts before their sums. Sums are nested at most MostInSum deep.
  void visit(unsigned N, SmallVectorImpl<bool> &Done, SmallVectorImpl<unsigned> &Order) const {
    if (Done[N])
      return;
    Done[N] = true;
    for (unsigned Part : Nodes[N].Sum)
      visit(Part, Done, Order);
    Order.push_back(N);
  }

  Placement number() const {
    Placement P;
    SmallVector<bool, 32> Done(Nodes.size(), false);
    SmallVector<unsigned, 32> Order, GroupOf(Nodes.size());
    for (unsigned N = 0; N < Nodes.size(); ++N)
      visit(N, Done, Order);
    auto Add = [&](unsigned N) {
      GroupOf[N] = P.Groups.size();
      P.Groups.emplace_back();
      P.Groups.back().AtEndOf = Nodes[N].End;
    };
    for (unsigned N = 0; N < Nodes.size(); ++N)
      if (Nodes[N].Sum.empty())
        Add(N);
    P.Counters = P.Groups.size();
    for (unsigned N : Order) {
      if (Nodes[N].Sum.size() > 1) {
        Add(N);
        for (unsigned Part : Nodes[N].Sum)
          P.Groups.back().Parts.push_back(GroupOf[Part]);
      } else if (Nodes[N].Sum.size() == 1) {
        GroupOf[N] = GroupOf[Nodes[N].Sum.front()];
      }
    }
    // the block with the counter first
    for (bool Follows : {false, true})
      for (unsigned N = 0; N < Nodes.size(); ++N)
        if (Nodes[N].Start && (Nodes[N].Sum.size() == 1) == Follows)
          P.Groups[GroupOf[N]].Blocks.push_back(Nodes[N].Start);
    weigh(P);
    return P;
  }

  static void weigh(Placement &P) {
    for (Group &G : P.Groups)
      for (const BasicBlock *BB : G.Blocks)
        for (const Instruction &I : *BB)
          G.Instructions += weightOf(I);
    for (Group &G : reverse(P.Groups))
      for (unsigned Part : G.Parts)
        P.Groups[Part].Instructions += G.Instructions;
  }
};

} // namespace placement
