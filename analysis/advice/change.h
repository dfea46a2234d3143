// What a person can change so that less memory is needed: every lever by its id, what it is called, what it costs.
//
//     id "shard_all"   name "shard parameters and batch"   text "Divide both ..."   how "x = jax.lax.with_..."
//
// The ids of enum advice_id (advice.h) are among them: those are replayed on a program, of the others no figure is
// known. Whoever tells of a change, in a command, a reply or on the page, names it by `name`. Facts from
// openxla.org/xla/errors (E1000, E0101) and the JAX documentation, in our own words.
#pragma once

#include "proto/bytes.h"

struct change {
    const char *id;
    const char *name;  // as in a sentence: begins small
    const char *text;  // what to do, and what it costs
    const char *how;   // a line of code or a flag
    bool changes_numerics;
};

#define CHANGE_NAME_MICRO_BATCH(parts) "accumulate gradients over " parts "micro-batches"

// Gradients added up over so many parts, a number or a name as text, and divided by it.
#define CHANGE_CODE_MICRO_BATCH(parts)                                                                                 \
    "sums, _ = jax.lax.scan(lambda sums, part: (jax.tree.map(jnp.add, sums, jax.grad(loss)(params, part)), None), "    \
    "jax.tree.map(jnp.zeros_like, params), batch.reshape(" parts ", -1, *batch.shape[1:])); "                          \
    "grads = jax.tree.map(lambda x: x / " parts ", sums)"

// The change of that id; NULL: this program knows none.
const struct change *change_find(struct bytes id);
