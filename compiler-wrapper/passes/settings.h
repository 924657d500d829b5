// Records how a module was compiled, for those that compare two builds of a program: a text such as
// "quagmire-settings: Debian clang version 14.0.6 -O2 -fsanitize=address" in the section .GCC.command.line, where compilers
// keep such texts. Linkers keep equal texts once. It says what changes costs: compiler, optimization level, sanitizers,
// processor, fast floating-point numbers; it holds no path and no macro.

#pragma once

#include "common.h"

#include <set>
#include <string>

namespace settings {

inline const char *level(OptimizationLevel Level) {
  if (Level.getSizeLevel() > 0)
    return Level.getSizeLevel() > 1 ? " -Oz" : " -Os";
  static const char *const Names[] = {" -O0", " -O1", " -O2", " -O3"};
  return Names[Level.getSpeedupLevel() < 3 ? Level.getSpeedupLevel() : 3];
}

// The compilers of a module: several with link-time optimization.
inline std::string compilers(const Module &M) {
  std::string Text;
  const NamedMDNode *Idents = M.getNamedMetadata("llvm.ident");
  if (!Idents)
    return Text;
  for (const MDNode *One : Idents->operands()) {
    auto *Ident = One->getNumOperands() ? dyn_cast<MDString>(One->getOperand(0)) : nullptr;
    if (Ident && Text.find(Ident->getString().str()) == std::string::npos)
      Text += (Text.empty() ? "" : ", ") + Ident->getString().str();
  }
  return Text;
}

inline std::string list(const char *Option, const std::set<std::string> &Values) {
  std::string Text;
  for (const std::string &Value : Values)
    Text += (Text.empty() ? Option : ",") + Value;
  return Text;
}

inline void record(Module &M, OptimizationLevel Level) {
  // sorted, whatever the order of functions is
  std::set<std::string> Sanitizers, Processors;
  bool Compiled = false, Fast = false;
  for (const Function &F : M) {
    // the handlers that UndefinedBehaviorSanitizer calls
    if (F.isDeclaration()) {
      if (beginsWithOneOf(F.getName(), {"__ubsan_handle_"}))
        Sanitizers.insert("undefined");
      continue;
    }
    Compiled = true;
    for (const auto &Known : SanitizersOfFunctions)
      if (F.hasFnAttribute(Known.first))
        Sanitizers.insert(Known.second);
    if (F.hasFnAttribute("target-cpu"))
      Processors.insert(F.getFnAttribute("target-cpu").getValueAsString().str());
    Fast |= F.hasFnAttribute("unsafe-fp-math") && F.getFnAttribute("unsafe-fp-math").getValueAsString() == "true";
  }
  if (!Compiled)
    return;
  std::string Text = "quagmire-settings: " + compilers(M) + level(Level) + list(" -fsanitize=", Sanitizers);
  Text += list(" -march=", Processors);
  if (Fast)
    Text += " -ffast-math";
  LLVMContext &C = M.getContext();
  M.getOrInsertNamedMetadata("llvm.commandline")->addOperand(MDNode::get(C, MDString::get(C, Text)));
}

} // namespace settings
