#include "ir-formats/hlo/opcode.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace ncc::hlo {
namespace {

TEST_CASE("names in the opcode table are unique and found again", "[hlo][opcode]") {
  std::set<std::string_view> hlo, mlir;
  for (const OpInfo& row : all_opcodes()) {
    INFO(row.hlo);
    CHECK(hlo.insert(row.hlo).second);
    if (!row.mlir.empty()) {
      CHECK(mlir.insert(row.mlir).second);
      CHECK(opcode_from_mlir(row.mlir) == row.opcode);
    }
    CHECK(opcode_from_hlo(row.hlo).has_value() == (row.origin == OpOrigin::Hlo));
    if (row.origin != OpOrigin::Hlo) CHECK_FALSE(row.mlir.empty());
  }
}

TEST_CASE("columns of the opcode table agree with each other", "[hlo][opcode]") {
  for (const OpInfo& row : all_opcodes()) {
    INFO(row.hlo);
    CHECK((row.max_operands == -1 || row.max_operands >= row.min_operands));
    if (row.kind == OpKind::Unary) CHECK((row.min_operands == 1 && row.max_operands == 1 && row.elementwise));
    if (row.kind == OpKind::Binary)
      CHECK((row.min_operands == 2 && row.max_operands == 2 && row.elementwise));
    if (row.commutative) CHECK(row.kind == OpKind::Binary);
    CHECK(row.operand_classes.find_first_not_of("PIFCT") == std::string_view::npos);
  }
}

}  // namespace
}  // namespace ncc::hlo
