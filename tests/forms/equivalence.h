// Structural comparison of one program in two forms whose producers spelled it differently: the HLO that XLA
// makes of a StableHLO module, and what our reader makes of the same module.
//
// Both are walked from the results backwards in parallel; a pair of values is equal when their ops,
// attributes and operands are (loops: coinductively, so any cycle of equal pairs is equal). What the two
// producers may do differently, and nothing else, is looked through:
//   calls are inlined; a value that two ops share may be two equal values; dead code is not seen
//   a region's captured value is the value itself, handed in, carried through a loop unchanged, or repeated
//   loop states may have another order
//   tuples are looked through; reshape, convert, transpose, broadcast, slice, copy to the same shape and
//     reversing a dimension of size 1 are nothing
//   chains of reshapes, transposes, broadcasts count as one; an iota of higher rank is a broadcast iota
//   a value with its sharding stated by a call is the value
//   a constant of any spelling whose elements are alike is its scalar; constant graphs are their values
//   x + 0, x - 0, x * 1, x / 1, x | 0, x & ones, b != false, b == true, a reduction of no dimension are x
//   an integer times or and zero is zero, b or true is true; arrays without elements are equal
//   a select or branch by a constant is its side, a select of one value is that value
//   concatenations of concatenations are one; a slice of exactly some parts joins these, one
//     within a part is a slice of the part
//   a dynamic slice with known starts is a slice; a dynamic update of everything is the update
//   less or equal may be two comparisons
//   constants stand on either side of commutative ops; a scalar predicate or bound may be a repeated one
//   a CHLO op or a complex function may be an expansion: a graph over the same operands, or their parts,
//     and constants (counted in `expanded`)
// Names, locations, shardings and frontend attributes are not compared.
#pragma once
#include <map>
#include <string>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

struct Equivalence {
  bool equal = false;
  std::string difference;                   // one line
  int64_t pairs = 0;                        // values compared
  std::map<std::string, int64_t> expanded;  // CHLO op -> how many were expansions in the other form
};

/// `b` may hold CHLO ops. Both modules are cloned.
Equivalence equivalent(const Module& a, const Module& b);

}  // namespace ncc::hlo
