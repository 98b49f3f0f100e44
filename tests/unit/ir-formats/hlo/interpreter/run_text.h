// Runs `main` of a StableHLO module, or the entry of an HLO text, on given arguments.
#pragma once
#include <catch2/catch.hpp>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/read.h"

namespace ncc::hlo {

inline Result<Literal> try_run(const std::string& text, const std::vector<Literal>& args = {}) {
  auto module =
      text.rfind("HloModule", 0) == 0 ? read_hlo_text(text, "test.txt") : read_stablehlo(text, "test.mlir");
  if (!module.is_ok()) FAIL(module.status().diagnostic().to_string());
  return interpret(*module.value(), args);
}

inline Literal run_text(const std::string& text, const std::vector<Literal>& args = {}) {
  auto result = try_run(text, args);
  if (!result.is_ok()) FAIL(result.status().diagnostic().to_string());
  return result.take();
}

inline std::vector<double> values_of(const Literal& literal) {
  std::vector<double> values;
  for (int64_t i = 0; i < literal.num_elements(); ++i) values.push_back(literal.as_double(i));
  return values;
}

template <class T>
Literal literal_of(Dtype type, std::vector<int64_t> dims, const std::vector<T>& values) {
  return Literal::copy(Shape::array(type, std::move(dims)), std::as_bytes(std::span(values)));
}

}  // namespace ncc::hlo
