#include "ir-formats/hlo/text_parser.h"

#include <algorithm>
#include <filesystem>

#include "ir-formats/hlo/carried_shape.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/rewrite.h"
#include "ir-formats/hlo/structure.h"
#include "ir-formats/hlo/verify.h"

namespace ncc::hlo {
// A shape begins with '(' (tuple), or with a type name and '['.
bool TextParser::at_shape() const {
  if (scan_.peek() == '(') return true;
  const std::string_view word = scan_.peek_ident();
  return !word.empty() && scan_.peek_at(word.size()) == '[';
}

// An opcode, or an opcode with an async suffix that is none itself ("all-to-all-start").
Result<Opcode> TextParser::parse_opcode(std::string* async_of) {
  const size_t begin = scan_.position();
  std::string_view word;
  NCC_TRY(scan_.ident(&word));
  if (const std::optional<Opcode> opcode = opcode_from_hlo(word)) return *opcode;
  constexpr std::pair<std::string_view, Opcode> kSuffixes[] = {
      {"-start", Opcode::AsyncStart}, {"-update", Opcode::AsyncUpdate}, {"-done", Opcode::AsyncDone}};
  for (const auto& [suffix, opcode] : kSuffixes) {
    if (!word.ends_with(suffix)) continue;
    const std::string_view base = word.substr(0, word.size() - suffix.size());
    if (!opcode_from_hlo(base)) continue;
    *async_of = base;
    return opcode;
  }
  return error(Code::EVRF001, word, fmt::format("line {} of {}", scan_.line_of(begin), file_));
}

Status TextParser::parse_operand(Scope* scope, std::vector<Instruction*>* operands) {
  const size_t begin = scan_.position();
  Shape shape;
  const bool shaped = at_shape();
  if (shaped) NCC_TRY(parse_shape(&shape));
  const bool unnamed = shaped && (scan_.peek() == ',' || scan_.peek() == ')');
  if (!unnamed && scan_.peek() != '%') {
    const std::string_view word = scan_.peek_ident();
    if (!word.empty() && scan_.peek_at(word.size()) == '(') {  // an anonymous instruction
      scan_.seek(begin);
      NCC_TRY(enter());
      NCC_ASSIGN(Instruction * inst, parse_rhs(scope, "", false));
      leave();
      operands->push_back(inst);
      return Status::ok();
    }
  }
  std::string_view name;
  if (!unnamed) NCC_TRY(scan_.name(&name));
  const auto found = scope->values.find(std::string(name));
  Instruction* inst = found == scope->values.end() || unnamed ? nullptr : found->second;
  if (!inst && scope->free_operands) {
    if (!shaped) return scan_.fail_at(begin, "an operand of a single instruction needs its shape");
    int64_t number = 0;
    for (const auto& other : scope->computation->instructions()) number += other->is(Opcode::Parameter);
    inst = scope->computation->add_parameter(number, shape, std::string(name));
    if (!unnamed) scope->values[std::string(name)] = inst;
  }
  if (!inst) return scan_.fail_at(begin, fmt::format("unknown operand '{}'", name));
  if (shaped && !compatible(shape, storage_shape(inst->shape)))
    return scan_.fail_at(begin, fmt::format("operand {} has the shape {}, not {}", name,
                                            to_string(inst->shape), to_string(shape)));
  operands->push_back(inst);
  return Status::ok();
}

Status TextParser::parse_operands(Scope* scope, std::vector<Instruction*>* operands) {
  NCC_TRY(scan_.expect('('));
  if (scan_.accept(')')) return Status::ok();
  do {
    NCC_TRY(parse_operand(scope, operands));
  } while (scan_.accept(','));
  return scan_.expect(')');
}

// The stated shape, or the inferred one.
Status TextParser::set_shape(Instruction* inst, bool stated, size_t position) {
  if (stated) return Status::ok();
  const Result<Shape> inferred = infer_shape(*inst);
  if (!inferred.is_ok())
    return scan_.fail_at(
        position, fmt::format("the shape cannot be derived: {}", inferred.status().diagnostic().cause));
  inst->shape = inferred.value();
  return Status::ok();
}

// "x-start(args), attributes of x" stands for async-start of a computation that holds x alone.
Status TextParser::wrap_async(Instruction* inst, const std::string& async_of, size_t position) {
  const Opcode opcode = *opcode_from_hlo(async_of);
  if (!inst->is(Opcode::AsyncStart)) return Status::ok();
  if (!inst->shape.is_tuple() || inst->shape.elements.size() < 2)
    return scan_.fail_at(position, "an async start needs the shape ((operands), result, …)");
  Computation* wrapped = module_->add_computation("async_wrapped");
  std::vector<Instruction*> parameters;
  for (size_t i = 0; i < inst->operands.size(); ++i)
    parameters.push_back(wrapped->add_parameter(static_cast<int64_t>(i), inst->operands[i]->shape));
  Instruction* inner = wrapped->add_clone(*inst, parameters);
  inner->opcode = opcode;
  inner->shape = inst->shape.elements[1];
  if (inner->has_attrs()) inner->mutable_attrs().async_execution_thread.clear();
  wrapped->set_root(inner);
  std::string thread = inst->attrs().async_execution_thread;
  wrapped->execution_thread = thread;
  inst->mutable_attrs() = Attributes{};
  inst->mutable_attrs().async_execution_thread = thread;
  inst->dimensions.clear();
  inst->called = {wrapped};
  return Status::ok();
}

// shape? opcode(operands), attributes
Result<Instruction*> TextParser::parse_rhs(Scope* scope, std::string name, bool attributes) {
  const size_t begin = scan_.position();
  Shape shape;
  const bool shaped = at_shape();
  if (shaped) NCC_TRY(parse_shape(&shape));
  const size_t opcode_position = scan_.position();
  CompareDirection direction = CompareDirection::EQ;
  const bool legacy = legacy_compare(scan_.peek_ident(), &direction);
  std::string async_of;
  Opcode opcode = Opcode::Compare;
  if (legacy) {
    std::string_view word;
    NCC_TRY(scan_.ident(&word));
  } else {
    NCC_ASSIGN(opcode, parse_opcode(&async_of));
  }
  if (name.empty()) name = fmt::format("{}.anon", hlo::name(opcode));
  std::vector<Instruction*> operands;
  Literal literal;
  int64_t number = 0;
  if (opcode == Opcode::Constant || opcode == Opcode::Parameter) {
    if (!shaped) return scan_.fail_at(begin, "constants and parameters need their shape");
    NCC_TRY(scan_.expect('('));
    NCC_TRY(opcode == Opcode::Constant ? parse_literal(shape, &literal) : scan_.integer(&number));
    NCC_TRY(scan_.expect(')'));
  } else {
    NCC_TRY(parse_operands(scope, &operands));
  }
  // Without a stated shape, what an op leaves free (the accumulation type of a product) is the first
  // operand's.
  if (!shaped && !operands.empty()) shape.dtype = operands[0]->shape.dtype;
  Instruction* inst = scope->computation->add(opcode, shape, std::move(operands), std::move(name));
  inst->literal = std::move(literal);
  inst->index = number;
  inst->direction = direction;
  inst->loc = {"", file_, scan_.line_of(begin)};
  if (attributes) NCC_TRY(parse_attributes(scope, inst));
  if (inst->info().min_operands > inst->num_operands() ||
      (inst->info().max_operands >= 0 && inst->num_operands() > inst->info().max_operands))
    return scan_.fail_at(opcode_position,
                         fmt::format("{} operands for {}", inst->num_operands(), hlo::name(opcode)));
  if (!async_of.empty()) NCC_TRY(wrap_async(inst, async_of, begin));
  // Also of instructions without attributes: shapes are derived from the called computations.
  const int calls = inst->info().called_computations;
  if (calls >= 0 && static_cast<int>(inst->called.size()) != calls)
    return scan_.fail_at(opcode_position, fmt::format("{} called computations for {}, expected {}",
                                                      inst->called.size(), hlo::name(inst->opcode), calls));
  restore_opcode(inst);
  NCC_TRY(split_index_operand(inst));
  NCC_TRY(set_shape(inst, shaped, begin));
  return inst;
}

Result<Instruction*> TextParser::parse_instruction(Scope* scope) {
  const bool root = scan_.accept_word("ROOT");
  std::string_view name;
  const size_t begin = scan_.position();
  NCC_TRY(scan_.name(&name));
  NCC_TRY(scan_.expect('='));
  if (scope->values.count(std::string(name)))
    return scan_.fail_at(begin, fmt::format("instruction '{}' is defined twice", name));
  NCC_ASSIGN(Instruction * inst, parse_rhs(scope, std::string(name), true));
  scope->values[std::string(name)] = inst;
  if (root) {
    if (scope->computation->root()) return scan_.fail_at(begin, "two instructions are marked ROOT");
    scope->computation->set_root(inst);
  }
  return inst;
}

// { instruction+ }
Status TextParser::parse_body(Scope* scope) {
  NCC_TRY(enter());
  NCC_TRY(scan_.expect('{'));
  Instruction* last = nullptr;
  do {
    NCC_ASSIGN(last, parse_instruction(scope));
  } while (!scan_.accept('}'));
  if (!scope->computation->root()) scope->computation->set_root(last);
  leave();
  return Status::ok();
}

// (name: shape, …) -> shape; only the result is checked.
Status TextParser::parse_signature(Shape* result, bool* stated) {
  *stated = scan_.peek() == '(';
  if (!*stated) return Status::ok();
  scan_.accept('(');
  while (!scan_.accept(')')) {
    std::string_view name;
    NCC_TRY(scan_.name(&name));
    scan_.accept(':');
    Shape ignored;
    NCC_TRY(parse_shape(&ignored));
    if (!scan_.accept(',') && scan_.peek() != ')') return scan_.fail("expected ',' or ')'");
  }
  NCC_TRY(scan_.expect("->"));
  return parse_shape(result);
}

Status TextParser::parse_computation() {
  const bool entry = scan_.accept_word("ENTRY");
  const size_t begin = scan_.position();
  std::string_view name;
  NCC_TRY(scan_.name(&name));
  if (computations_.count(std::string(name)))
    return scan_.fail_at(begin, fmt::format("computation '{}' is defined twice", name));
  Shape result;
  bool stated = false;
  NCC_TRY(parse_signature(&result, &stated));
  Scope scope;
  scope.computation = module_->add_computation(std::string(name));
  NCC_TRY(parse_body(&scope));
  const Instruction* root = scope.computation->root();
  if (stated && !compatible(storage_shape(root->shape), result))
    return scan_.fail_at(begin, fmt::format("the signature's result {} is not the root's shape {}",
                                            to_string(result), to_string(root->shape)));
  computations_[std::string(name)] = scope.computation;
  last_ = scope.computation;
  if (scan_.accept(',')) {
    std::string_view key;
    if (!scan_.accept_key(&key) || key != "execution_thread")
      return scan_.fail("expected 'execution_thread='");
    NCC_TRY(scan_.string(&scope.computation->execution_thread));
    if (scope.computation->execution_thread == "main") scope.computation->execution_thread.clear();
  }
  if (!entry) return Status::ok();
  if (module_->entry()) return scan_.fail_at(begin, "two computations are marked ENTRY");
  module_->set_entry(scope.computation);
  return Status::ok();
}

// One instruction alone; operands that are not defined become parameters.
Status TextParser::parse_single() {
  Scope scope;
  scope.computation = module_->add_computation("entry");
  scope.free_operands = true;
  std::string name = "root";
  scan_.accept_word("ROOT");
  const size_t begin = scan_.position();
  std::string_view word;
  if (!at_shape() && scan_.name(&word).is_ok() && scan_.accept('=')) {
    name = word;
  } else {
    scan_.seek(begin);
  }
  NCC_ASSIGN(Instruction * inst, parse_rhs(&scope, name, true));
  scope.computation->set_root(inst);
  module_->set_entry(scope.computation);
  module_->set_name("module_" + scope.computation->name());
  return Status::ok();
}

Status TextParser::parse_module() {
  const bool headerless = !scan_.accept_word("HloModule");
  if (!headerless) {
    NCC_TRY(parse_header());
    NCC_TRY(parse_stack_frames());
  } else {
    const size_t begin = scan_.position();
    std::string_view word;
    const bool computation = scan_.starts_with("ENTRY") ||
                             (scan_.name(&word).is_ok() && (scan_.peek() == '{' || scan_.peek() == '('));
    scan_.seek(begin);
    if (!computation || at_shape()) return parse_single();
  }
  do {
    NCC_TRY(parse_computation());
  } while (!scan_.at_end());
  if (!module_->entry()) module_->set_entry(last_);
  if (headerless) module_->set_name("module_" + module_->entry()->name());
  return Status::ok();
}

Result<std::unique_ptr<Module>> TextParser::parse() {
  module_ = std::make_unique<Module>("module");
  module_->text_file = file_;
  if (scan_.at_end()) return scan_.fail("the text is empty");
  NCC_TRY(parse_module());
  if (!scan_.at_end()) return scan_.fail("unexpected text behind the module");
  restore_result_names(module_.get());
  NCC_TRY(finish_module(module_.get()));
  return std::move(module_);
}

Result<std::unique_ptr<Module>> read_hlo_text(std::string_view text, const std::string& file) {
  if (text.find('\0') != std::string_view::npos)
    return error(Code::EHLO001, "1:1", "the text holds a NUL byte");
  return TextParser(text, std::filesystem::path(file).filename().string()).parse();
}

}  // namespace ncc::hlo
