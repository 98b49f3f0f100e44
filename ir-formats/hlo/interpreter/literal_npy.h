// Literals as .npy files: the on-disk form of program inputs, outputs and goldens (bf16 and narrower floats
// as raw bits).
#pragma once
#include <string>
#include <vector>

#include "common/npy/npy.h"
#include "ir-formats/hlo/literal.h"

namespace ncc::hlo {

/// Reads an array that must have the given shape; types numpy lacks are taken from their raw bits, integers
/// may be stored in another integer type that holds the same values. ERUN001 with `number` when shape or
/// element type differ.
Result<Literal> read_literal(const std::string& path, const Shape& shape, int64_t number);
/// Reads an array as it is, but for a raw-bit type named by `type` (of equal width).
Result<Literal> read_literal(const std::string& path, Dtype type);
/// An array already read, with the checks of read_literal.
Result<Literal> literal_from_array(const Array& array, const Shape& shape, int64_t number);
Array array_from_literal(const Literal& literal);
/// An array literal; tokens and tuples cannot be written.
Status write_literal(const std::string& path, const Literal& literal);

/// Arrays and tokens of a possibly nested tuple, in order.
void flatten(const Literal& literal, std::vector<Literal>& leaves);

/// DIR/000.npy, 001.npy, … as the arguments of a program with these parameters; a tuple parameter takes one
/// file per leaf. Errors of read_literal.
Result<std::vector<Literal>> read_arguments(const std::string& dir, const std::vector<Shape>& parameters);

}  // namespace ncc::hlo
