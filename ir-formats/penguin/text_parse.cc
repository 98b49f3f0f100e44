// Text -> module, by recursive descent; one function a grammar rule. text_print.cc writes the same.
#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "ir-formats/penguin/io.h"
#include "ir-formats/penguin/names.h"
#include "ir-formats/penguin/structure.h"
#include "ir-formats/penguin/text_lexer.h"
#include "ir-formats/penguin/tile_fields.h"
#include "ir-formats/penguin/wire.h"

namespace ncc::penguin {
namespace {

constexpr int kMaxNesting = 64;
constexpr int64_t kMaxRank = 64;

class Parser {
 public:
  Parser(std::string_view text, const std::string& what) : in_(text, what) {}

  Result<Module> run() {
    NCC_TRY(in_.expect(kTextMagic));
    int64_t version = 0;
    NCC_TRY(in_.read_int(version));
    if (version != kWireVersion) return in_.fail(fmt::format("version {}", kWireVersion));
    NCC_TRY(in_.read_string(module_.name));
    while (in_.is("input") || in_.is("output")) NCC_TRY(parse_binding());
    while (in_.is("function")) NCC_TRY(parse_function());
    if (!in_.at_end()) return in_.fail("'function' or the end");
    NCC_TRY(check_structure(module_));
    return std::move(module_);
  }

 private:
  Status parse_dtype(Dtype& out) {
    std::string word;
    NCC_TRY(in_.read_word(word));
    const std::optional<Dtype> dtype = dtype_from_hlo(word);
    if (!dtype) return in_.fail(fmt::format("an element type before this, not '{}',", word));
    out = *dtype;
    return Status::ok();
  }

  Status parse_shape(Dtype& dtype, std::vector<int64_t>& shape) {
    NCC_TRY(parse_dtype(dtype));
    NCC_TRY(in_.expect("["));
    while (!in_.is("]")) {
      if (static_cast<int64_t>(shape.size()) == kMaxRank) return in_.fail("']'");
      NCC_TRY(in_.read_int(shape.emplace_back()));
      if (!in_.take(",")) break;
    }
    return in_.expect("]");
  }

  Status parse_binding() {
    std::vector<IoBinding>& list = in_.is("input") ? module_.inputs : module_.outputs;
    in_.next();
    IoBinding& binding = list.emplace_back();
    NCC_TRY(in_.read_string(binding.name));
    NCC_TRY(parse_shape(binding.declared_dtype, binding.declared_shape));
    NCC_TRY(in_.expect("tensor"));
    int64_t id = 0;
    NCC_TRY(in_.read_int(id));
    binding.tensor = static_cast<TensorId>(id);
    std::string name;  // for the reader of the text; the id decides
    NCC_TRY(in_.read_string(name));
    NCC_TRY(in_.expect("conversion"));
    return in_.read_word(binding.conversion);
  }

  /// name or "name", then #id when the name is not unique. `key` is the spelling as a map key.
  Status parse_reference(std::string& name, std::string& key) {
    if (in_.peek().kind != Token::Kind::Word && in_.peek().kind != Token::Kind::String)
      return in_.fail("a name");
    name = key = in_.next().text;
    if (!in_.take("#")) return Status::ok();
    int64_t id = 0;
    NCC_TRY(in_.read_int(id));
    key += fmt::format("#{}", id);
    return Status::ok();
  }
  template <class Map>
  Status parse_known(const Map& map, const char* what, uint32_t& out) {
    std::string name, key;
    NCC_TRY(parse_reference(name, key));
    const auto found = map.find(key);
    if (found == map.end()) return in_.fail(fmt::format("a declared {} before this, not '{}',", what, key));
    out = found->second;
    return Status::ok();
  }
  Status parse_axis(AxisId& out) { return parse_known(axes_, "axis", out); }
  Status parse_tensor(TensorId& out) {
    NCC_TRY(in_.expect("%"));
    return parse_known(tensors_, "tensor", out);
  }
  /// `axis:extent`, the extent as declared.
  Status parse_ranged_axis(AxisId& out) {
    NCC_TRY(parse_axis(out));
    NCC_TRY(in_.expect(":"));
    int64_t extent = 0;
    NCC_TRY(in_.read_int(extent));
    return extent == function_->axes[out].extent ? Status::ok()
                                                 : in_.fail("the axis's declared extent before this");
  }

  Status parse_loc(SourceLoc& loc) {
    if (!in_.take("at")) return Status::ok();
    NCC_TRY(in_.read_string(loc.op_name));
    NCC_TRY(in_.read_string(loc.file));
    NCC_TRY(in_.expect(":"));
    int64_t line = 0;
    NCC_TRY(in_.read_int(line));
    loc.line = static_cast<int>(line);
    return Status::ok();
  }

  Status parse_expr(Ref& out) {
    int64_t constant = 0;
    std::vector<affine::Term> terms;
    bool negative = in_.take("-");
    while (true) {
      affine::Term term{0, 1};
      const bool has_number = in_.peek().kind == Token::Kind::Number;
      if (has_number) NCC_TRY(in_.read_int(term.coef));
      if (negative) term.coef = -term.coef;
      if (!has_number || in_.take("*")) {
        NCC_TRY(parse_axis(term.axis));
        terms.push_back(term);
      } else {
        constant += term.coef;
      }
      negative = in_.is("-");
      if (!in_.take("+") && !in_.take("-")) break;
    }
    out = module_.affine->make(constant, std::move(terms));
    return Status::ok();
  }

  Status parse_declaration() {
    Tensor& tensor = function_->tensors.emplace_back();
    NCC_TRY(in_.expect("%"));
    std::string key;
    NCC_TRY(parse_reference(tensor.name, key));
    const TensorId id = static_cast<TensorId>(function_->tensors.size() - 1);
    if (!tensors_.emplace(key, id).second)
      return in_.fail(fmt::format("a new tensor name before this, not '{}',", key));
    NCC_TRY(in_.expect(":"));
    NCC_TRY(parse_shape(tensor.dtype, tensor.shape));
    while (in_.peek().kind == Token::Kind::Word && !in_.is("at")) {
      const std::string word = in_.peek().text;
      if (const auto role = from_name<Role>(word)) {
        tensor.role = *role;
      } else if (const auto space = from_name<Space>(word)) {
        tensor.space = *space;
      } else {
        bool known = false;
        NCC_TRY(parse_declaration_field(word, tensor, known));
        if (!known) break;
        continue;
      }
      in_.next();
    }
    return parse_loc(tensor.loc);
  }

  Status parse_declaration_field(const std::string& word, Tensor& tensor, bool& known) {
    known = word == "io" || word == "offset" || word == "scope" || word == "alias";
    if (!known) return Status::ok();
    in_.next();
    if (word == "scope") return parse_axis(tensor.scope);
    if (word == "alias") return parse_tensor(tensor.alias_of);
    int64_t value = 0;
    NCC_TRY(in_.read_int(value));
    if (word == "io") {
      tensor.io_index = static_cast<int32_t>(value);
      return Status::ok();
    }
    tensor.const_offset = value;
    NCC_TRY(in_.expect("hash"));
    return in_.read_string(tensor.const_hash);
  }

  Status parse_scalar(Operand& operand) {
    operand.kind = Operand::Kind::Scalar;
    NCC_TRY(parse_dtype(operand.dtype));
    NCC_TRY(in_.expect("("));
    const bool negative = in_.take("-");
    const std::string digits = in_.peek().text;
    int64_t value = 0;
    if (digits.starts_with("0x")) {
      NCC_TRY(in_.read_int(value));
      operand.scalar = static_cast<uint64_t>(value);
    } else if (is_float(operand.dtype)) {
      double number = 0;
      const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (ec != std::errc() || end != digits.data() + digits.size()) return in_.fail("a number");
      in_.next();
      store_from_double(operand.dtype, &operand.scalar, negative ? -number : number);
    } else {
      NCC_TRY(in_.read_int(value));
      store_from_int64(operand.dtype, &operand.scalar, negative ? -value : value);
    }
    return in_.expect(")");
  }

  Status parse_operand(Operand& operand) {
    if (in_.take("index")) {
      operand.kind = Operand::Kind::Index;
      NCC_TRY(parse_dtype(operand.dtype));
      NCC_TRY(in_.expect("("));
      NCC_TRY(parse_expr(operand.value));
      return in_.expect(")");
    }
    if (!in_.is("%")) return parse_scalar(operand);
    NCC_TRY(parse_tensor(operand.tensor));
    operand.dtype = function_->tensors[operand.tensor].dtype;
    NCC_TRY(in_.expect("["));
    while (!in_.is("]")) {
      NCC_TRY(parse_expr(operand.index.emplace_back(nullptr)));
      if (!in_.take(",")) break;
    }
    return in_.expect("]");
  }

  template <class E, class Lookup>
  Status parse_name(const char* what, E& out, Lookup&& lookup) {
    std::string word;
    NCC_TRY(in_.read_word(word));
    const std::optional<E> found = lookup(word);
    if (!found) return in_.fail(fmt::format("a {} before this, not '{}',", what, word));
    out = *found;
    return Status::ok();
  }

  Status parse_attributes(Inst& inst) {
    TensorAttributes& a = inst.attributes;
    const ScalarFunction f = inst.function;
    NCC_TRY(in_.expect("("));
    if (f == ScalarFunction::Compare) {
      NCC_TRY(parse_name("comparison", a.comparison, from_name<Comparison>));
      a.total_order = in_.take("total_order");
    } else if (f == ScalarFunction::Alu || f == ScalarFunction::Int32) {
      NCC_TRY(parse_name("ALU operation", a.alu, isa::from_name<isa::AluOp>));
    } else if (f == ScalarFunction::Activation) {
      NCC_TRY(parse_name("activation function", a.activation, isa::from_name<isa::ActivationFunction>));
    } else {
      int64_t exponent = 0, mantissa = 0;
      NCC_TRY(in_.read_int(exponent));
      NCC_TRY(in_.read_int(mantissa));
      a.exponent_bits = static_cast<int>(exponent);
      a.mantissa_bits = static_cast<int>(mantissa);
    }
    return in_.expect(")");
  }

  Status parse_tensor_op(Inst& inst) {
    NCC_TRY(parse_name("tensor op", inst.op, from_name<TensorOp>));
    if (inst.op != TensorOp::Contract)
      NCC_TRY(parse_name("function", inst.function, from_name<ScalarFunction>));
    if (in_.is("(")) NCC_TRY(parse_attributes(inst));
    NCC_TRY(parse_operand(inst.result));
    NCC_TRY(in_.expect("="));
    do NCC_TRY(parse_operand(inst.operands.emplace_back()));
    while (in_.take(","));
    if (!in_.take("for")) return Status::ok();
    do {
      IterationAxis& entry = inst.axes.emplace_back();
      NCC_TRY(parse_ranged_axis(entry.axis));
      if (in_.peek().kind != Token::Kind::Word) continue;
      if (const auto role = from_name<AxisRole>(in_.peek().text)) {
        entry.role = *role;
        in_.next();
      }
    } while (in_.take(","));
    return Status::ok();
  }

  Status parse_tile_operand(bir::Operand& operand) {
    if (in_.take("imm")) {
      operand.kind = bir::OperandKind::Immediate;
      Operand scalar;
      NCC_TRY(parse_scalar(scalar));
      operand.dtype = scalar.dtype;
      operand.bits = static_cast<uint32_t>(scalar.scalar);
      return Status::ok();
    }
    operand.kind = bir::OperandKind::SymbolicAp;
    NCC_TRY(parse_tensor(operand.set));
    NCC_TRY(in_.expect("("));
    NCC_TRY(parse_expr(operand.partition_expr));
    NCC_TRY(in_.expect(","));
    NCC_TRY(parse_expr(operand.offset_expr));
    NCC_TRY(in_.expect(":"));
    NCC_TRY(parse_dtype(operand.dtype));
    while (!in_.is(")")) {
      if (operand.rank == bir::kMaxPatternDims) return in_.fail("')'");
      isa::Dim& dim = operand.ap[operand.rank++];
      NCC_TRY(in_.read_int(dim.count));
      NCC_TRY(in_.expect("*"));
      NCC_TRY(in_.read_int(dim.step));
    }
    return in_.expect(")");
  }

  Status parse_tile(Inst& inst) {
    inst.tile = std::make_unique<Inst::Tile>();
    Inst::Tile& tile = *inst.tile;
    NCC_TRY(parse_name("BIR opcode", tile.opcode, bir::opcode_from_name));
    NCC_TRY(parse_name("engine", tile.engine, isa::from_name<isa::Engine>));
    const auto at_operand = [this] { return in_.is("%") || in_.is("imm"); };
    while (at_operand()) NCC_TRY(parse_tile_operand(tile.outs.emplace_back()));
    NCC_TRY(in_.expect("="));
    while (at_operand()) NCC_TRY(parse_tile_operand(tile.ins.emplace_back()));
    if (!in_.take("{")) return Status::ok();
    while (!in_.is("}")) {
      std::string key, value;
      NCC_TRY(in_.read_word(key));
      NCC_TRY(in_.expect("="));
      NCC_TRY(in_.read_string(value));
      NCC_TRY(set_field(tile.attributes, key, value));
    }
    return in_.expect("}");
  }

  Status parse_block(std::vector<Stmt>& body, int depth) {
    if (depth > kMaxNesting) return in_.fail("less nesting");
    while (!in_.is("}")) NCC_TRY(parse_stmt(body.emplace_back(), depth));
    return in_.expect("}");
  }

  Status parse_stmt(Stmt& stmt, int depth) {
    if (in_.take("loop")) {
      stmt.kind = Stmt::Kind::Loop;
      NCC_TRY(parse_ranged_axis(stmt.axis));
    } else if (in_.take("if")) {
      stmt.kind = Stmt::Kind::If;
    } else if (in_.take("while")) {
      stmt.kind = Stmt::Kind::While;
    } else {
      stmt.inst = std::make_unique<Inst>();
      NCC_TRY(in_.take("tile") ? parse_tile(*stmt.inst) : parse_tensor_op(*stmt.inst));
      if (in_.take("name")) NCC_TRY(in_.read_string(stmt.inst->name));
      while (in_.take("tag")) NCC_TRY(in_.read_string(stmt.inst->tags.emplace_back()));
      return parse_loc(stmt.inst->loc);
    }
    NCC_TRY(in_.expect("{"));
    NCC_TRY(parse_block(stmt.body, depth + 1));
    if (stmt.kind != Stmt::Kind::If || !in_.take("else")) return Status::ok();
    NCC_TRY(in_.expect("{"));
    return parse_block(stmt.else_body, depth + 1);
  }

  Status parse_axes() {
    std::string key;
    while (
        in_.peek().kind == Token::Kind::String ||
        (in_.peek().kind == Token::Kind::Word && !in_.is("axes") && !in_.is("tensor") && !in_.is("inputs"))) {
      Axis& axis = function_->axes.emplace_back();
      NCC_TRY(parse_reference(axis.name, key));
      NCC_TRY(in_.expect("="));
      NCC_TRY(in_.read_int(axis.extent));
      if (!axes_.emplace(key, static_cast<AxisId>(function_->axes.size() - 1)).second)
        return in_.fail(fmt::format("a new axis name before this, not '{}',", key));
    }
    return Status::ok();
  }

  Status parse_function() {
    NCC_TRY(in_.expect("function"));
    function_ = &module_.functions.emplace_back();
    axes_.clear();
    tensors_.clear();
    NCC_TRY(in_.read_string(function_->name));
    NCC_TRY(in_.expect("{"));
    while (in_.take("axes")) NCC_TRY(parse_axes());
    while (in_.take("tensor")) NCC_TRY(parse_declaration());
    NCC_TRY(in_.expect("inputs"));
    while (in_.is("%")) NCC_TRY(parse_tensor(function_->inputs.emplace_back()));
    NCC_TRY(in_.expect("outputs"));
    while (in_.is("%")) NCC_TRY(parse_tensor(function_->outputs.emplace_back()));
    return parse_block(function_->body, 0);
  }

  Lexer in_;
  Module module_;
  Function* function_ = nullptr;
  std::unordered_map<std::string, AxisId> axes_;
  std::unordered_map<std::string, TensorId> tensors_;
};

}  // namespace

Result<Module> from_text(std::string_view text, const std::string& what) { return Parser(text, what).run(); }

}  // namespace ncc::penguin
