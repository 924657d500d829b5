/* Performance mutants of a program (QUAGMIRE_MUTANTS=performance): what passes/performance writes, and what a charging run
   notes. Mirrored by `fuzzer/crates/execution/src/fork_server/charges.rs`, which a test there checks. */
#pragma once

#include "mutants.h"

/* Mutants of one site, which differ by their gate: they slow down what lies past so many rounds, elements or bytes. */
#define QGM_GATES 4

/* Words of a site: how often it was reached, and the instructions charged to it, by the last gate that their amount is past.
   A mutant costs what is charged at its own gate and at the later ones. Nothing is charged to the operators that are run: of
   these, the first word counts the hashes or the hits. */
#define QGM_SITE_WORDS 5

/* Bytes of what a charging run notes in front of the words of the sites; the first word is the number of its instructions. */
#define QGM_INSTRUCTIONS_BYTES 4096

/* What the code of a function looks at. `words` points to the words of its sites; a site spends what it is charged with, or
   does what its mutant does, where the amount is above its number in `past`. */
struct qgm_performance_state {
  uint64_t *words;
  uint64_t past[];
};
