// Stands in for the counting pass until it is merged: a module pass that leaves the module as it is.
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"

namespace {
struct Counts : llvm::PassInfoMixin<Counts> {
  llvm::PreservedAnalyses run(llvm::Module &, llvm::ModuleAnalysisManager &) { return llvm::PreservedAnalyses::all(); }
  static bool isRequired() { return true; }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "quagmire-counts", "0", [](llvm::PassBuilder &builder) {
            builder.registerOptimizerLastEPCallback(
                [](llvm::ModulePassManager &manager, auto...) { manager.addPass(Counts()); });
          }};
}
