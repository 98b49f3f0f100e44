// What the MLIR parser makes of StableHLO text: operations with names, attributes, regions and types, in one
// form whatever the spelling was (generic or pretty). `import_stablehlo` turns it into a module. Internal to
// the StableHLO reader.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/diag/source_loc.h"
#include "ir-formats/hlo/literal.h"
#include "ir-formats/hlo/shape.h"

namespace ncc::hlo::mlir {

struct Attr;
using AttrDict = std::vector<std::pair<std::string, Attr>>;

struct Attr {
  enum class Kind : uint8_t {
    Unit,
    Bool,
    Int,
    Float,
    String,
    Enum,
    Symbol,
    Type,
    Raw,
    Array,     // items
    Dict,      // entries; also struct attributes like #stablehlo.gather<…>, whose name is in `text`
    Dense,     // literal, of `shape`; splat: the literal holds one element
    Resource,  // text = key, shape
  };
  Kind kind = Kind::Unit;
  bool splat = false;
  int64_t integer = 0;  // Bool, Int (u64 reinterpreted)
  double real = 0;      // Float
  std::string text;     // String (decoded), Enum, Symbol, Type, Raw, Dict name, Resource key
  std::vector<Attr> items;
  std::vector<Shape> inputs, results;  // of a function type
  AttrDict entries;
  Shape shape;
  Literal literal;
  std::string_view source;  // the attribute as written

  // Declared here, defined below: `entries` holds pairs of a type that is not complete yet.
  Attr();
  Attr(const Attr&);
  Attr(Attr&&) noexcept;
  Attr& operator=(const Attr&);
  Attr& operator=(Attr&&) noexcept;
  ~Attr();
};
inline Attr::Attr() = default;
inline Attr::Attr(const Attr&) = default;
inline Attr::Attr(Attr&&) noexcept = default;
inline Attr& Attr::operator=(const Attr&) = default;
inline Attr& Attr::operator=(Attr&&) noexcept = default;
inline Attr::~Attr() = default;

/// nullptr when absent.
const Attr* find(const AttrDict& attrs, std::string_view name);

/// A location as written; aliases are resolved when all are known.
struct Loc {
  enum class Kind : uint8_t { Unknown, File, Name, CallSite, Fused, Alias };
  Kind kind = Kind::Unknown;
  std::string text;  // file, name, or alias
  int line = 0, column = 0, end_line = 0, end_column = 0;
  std::vector<Loc> children;
};

struct ValueRef {
  std::string_view name;
  int64_t index = 0;  // within a pack
  size_t offset = 0;
};

struct ResultDef {
  std::string_view name;
  int64_t count = 1;
};

struct Op;

struct BlockArg {
  std::string_view name;
  Shape type;
  Loc loc;
  AttrDict attrs;  // of function arguments
};

struct Region {
  std::vector<BlockArg> args;
  std::vector<std::unique_ptr<Op>> ops;
};

struct Op {
  std::string name;  // with dialect: "stablehlo.add", "func.func"
  std::vector<ResultDef> results;
  std::vector<ValueRef> operands;
  AttrDict attrs;
  std::vector<Region> regions;
  std::vector<Shape> operand_types;  // empty when the text does not say
  std::vector<Shape> result_types;
  std::vector<AttrDict> result_attrs;  // of func.func
  Loc loc;
  size_t offset = 0;  // in the text
  int line = 0;

  const Attr* attr(std::string_view key) const { return find(attrs, key); }
};

struct File {
  std::vector<std::unique_ptr<Op>> ops;  // functions and dropped module-level ops
  std::string module_name;
  AttrDict module_attrs;
  std::unordered_map<std::string, Loc> locations;               // aliases
  std::unordered_map<std::string, std::string_view> resources;  // key -> hex text "0x…"
};

}  // namespace ncc::hlo::mlir
