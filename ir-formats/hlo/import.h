// From the StableHLO syntax tree to a module: functions and regions become computations, several results
// become tuples, implicit captures become explicit operands, StableHLO spellings become HLO ones. Source:
// spec/stablehlo-text.md §2, §2.14.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir-formats/hlo/mlir_ast.h"
#include "ir-formats/hlo/mlir_lexer.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo::mlir {

/// Values by name in one computation. Names of enclosing regions are found through `outer`.
struct Scope {
  Computation* computation = nullptr;
  Scope* outer = nullptr;  // of the enclosing computation; nullptr in functions
  std::unordered_map<std::string_view, std::vector<Instruction*>> values;
};

/// One op on its way into a computation.
struct OpContext {
  Scope& scope;
  const Op& op;
  SourceLoc loc;
  std::shared_ptr<const LocationDetails> loc_details;
  std::vector<Instruction*> in;   // resolved operands
  std::vector<Instruction*> out;  // one per result, filled by the handler

  Computation* computation() const { return scope.computation; }
  const Shape& result(size_t i = 0) const { return op.result_types[i]; }
};

class Importer {
 public:
  Importer(const File& file, const MlirLexer& lexer, std::string file_name)
      : file_(file), lexer_(lexer), file_name_(std::move(file_name)) {}
  Result<std::unique_ptr<Module>> run();

  using Handler = Status (Importer::*)(OpContext&);

 private:
  // Module, functions, scopes (import_module.cc).
  Status declare_functions();
  Status import_function(const Op& func, Computation* computation);
  Status import_arguments(const Op& func, Scope* scope);
  Status choose_entry();
  Status argument_attributes(const BlockArg& arg, Instruction* parameter, bool entry);
  Status import_ops(const Region& region, Scope* scope, std::vector<Instruction*>* returned);
  Status import_op(const Op& op, Scope* scope);
  Status bind_results(OpContext& ctx);
  Status check_operand_types(const OpContext& ctx) const;
  Result<Instruction*> lookup(Scope* scope, const ValueRef& value);
  Status fail(const OpContext& ctx, std::string_view why) const;
  Status fail_at(size_t offset, std::string_view why) const;
  Status unsupported(const OpContext& ctx, std::string_view why) const;
  Status module_attributes();

  // Locations (import_location.cc).
  SourceLoc resolve(const Loc& loc, int depth = 0);
  SourceLoc location(const Loc& loc, int line);
  std::shared_ptr<const LocationDetails> location_details(const Loc& loc);
  int32_t stack_frame(const Loc& loc, const std::string& function, int32_t caller, int depth);

  // Regions (import_module.cc).
  Result<Computation*> import_region(OpContext& ctx, const Region& region, std::string name);
  void set_result(Computation* computation, std::vector<Instruction*> values);
  static void free_values(const Region& region, std::vector<ValueRef>* free);
  Result<std::vector<ValueRef>> threaded_captures(OpContext& ctx, const std::vector<const Region*>& regions,
                                                  std::vector<Instruction*>* values);

  // Building blocks (import_ops.cc).
  Instruction* make(OpContext& ctx, Opcode opcode, Shape shape, std::vector<Instruction*> operands);
  /// One instruction for the op with all its results; several become a tuple that is taken apart.
  Instruction* make_op(OpContext& ctx, Opcode opcode, std::vector<Instruction*> operands);
  Status take_apart(OpContext& ctx, Instruction* inst);
  Status ints(const OpContext& ctx, std::string_view key, std::vector<int64_t>* values,
              bool required = true) const;
  Status integer(const OpContext& ctx, std::string_view key, int64_t* value, bool required = true) const;
  bool flag(const OpContext& ctx, std::string_view key) const;
  std::string word(const OpContext& ctx, std::string_view key) const;
  Result<Literal> literal(const OpContext& ctx, const Attr& attr) const;
  Status constant(OpContext& ctx, const Attr& value, const Shape& shape, Instruction** made);
  Instruction* broadcast(OpContext& ctx, Instruction* value, const Shape& shape, std::vector<int64_t> dims);
  void keep_attributes(const OpContext& ctx);
  static Handler handler_of(std::string_view name);

  // Elementwise, shape and data movement (import_ops.cc, import_shape.cc).
  Status plain(OpContext& ctx);
  Status compare(OpContext& ctx);
  Status reduce_precision(OpContext& ctx);
  Status constant_op(OpContext& ctx);
  Status iota(OpContext& ctx);
  Status broadcast_in_dim(OpContext& ctx);
  Status broadcast_sizes(OpContext& ctx);
  Status with_dims(OpContext& ctx);
  Status slice(OpContext& ctx);
  Status pad(OpContext& ctx);
  Status dynamic_slice(OpContext& ctx);
  Status tuple(OpContext& ctx);
  Status get_tuple_element(OpContext& ctx);
  Status optimization_barrier(OpContext& ctx);
  Status identity(OpContext& ctx);
  Status ignore(OpContext& ctx);
  // Contractions, windows, reductions, indexing, linear algebra, random numbers (import_contract.cc,
  // import_index.cc).
  Status dot_general(OpContext& ctx);
  Status dot(OpContext& ctx);
  Status ragged_dot(OpContext& ctx);
  Status convolution(OpContext& ctx);
  Status einsum(OpContext& ctx);
  Status reduce(OpContext& ctx);
  Status reduce_window(OpContext& ctx);
  Status select_and_scatter(OpContext& ctx);
  Status sort(OpContext& ctx);
  Status map(OpContext& ctx);
  Status scan(OpContext& ctx);
  Status top_k(OpContext& ctx);
  Status gather(OpContext& ctx);
  Status scatter(OpContext& ctx);
  Status torch_index_select(OpContext& ctx);
  Status fft(OpContext& ctx);
  Status cholesky(OpContext& ctx);
  Status triangular_solve(OpContext& ctx);
  Status batch_norm(OpContext& ctx);
  Status rng(OpContext& ctx);
  Status rng_bit_generator(OpContext& ctx);
  Status precision(OpContext& ctx, Attributes* a) const;
  Status window(OpContext& ctx, std::string_view size_key, size_t rank, Attributes* a) const;
  Status gather_dims(OpContext& ctx, Attributes* a) const;
  Result<Computation*> applied_body(OpContext& ctx);
  // Control flow, calls, checks (import_control.cc).
  Status while_op(OpContext& ctx);
  Status conditional(OpContext& ctx);
  Status call(OpContext& ctx);
  Status custom_call(OpContext& ctx);
  Status composite(OpContext& ctx);
  Status check(OpContext& ctx);
  Status probe(OpContext& ctx);
  Status run_parallel(OpContext& ctx);
  Status manual_computation(OpContext& ctx);
  Status named_computation(OpContext& ctx);
  Status async_start(OpContext& ctx);
  Result<Computation*> function(const OpContext& ctx, std::string_view name) const;
  // Collectives and host transfers (import_collective.cc).
  Status collective(OpContext& ctx);
  Status ragged_all_to_all(OpContext& ctx);
  /// Groups along named axes of a device mesh.
  Status mesh_groups(OpContext& ctx, const Attr& attr, std::vector<std::vector<int64_t>>* groups);
  Status host_transfer(OpContext& ctx);
  // CHLO conveniences and ops with shape operands (import_chlo.cc, import_dynamic.cc).
  Status constant_like(OpContext& ctx);
  Status chlo_broadcast(OpContext& ctx);
  Status dynamic_broadcast_in_dim(OpContext& ctx);
  Status dynamic_reshape(OpContext& ctx);
  Status dynamic_iota(OpContext& ctx);
  Status dynamic_pad(OpContext& ctx);
  Status real_dynamic_slice(OpContext& ctx);
  Status dynamic_gather(OpContext& ctx);
  Status dynamic_conv(OpContext& ctx);

  const File& file_;
  const MlirLexer& lexer_;
  std::string file_name_;
  std::unique_ptr<Module> module_;
  std::unordered_map<std::string, std::pair<const Op*, Computation*>> functions_;
  std::string meshes_;  // "name = #sdy.mesh<…>, …"
  std::vector<const Op*> function_order_;
  std::unordered_map<std::string, SourceLoc> resolved_;
  std::optional<StackFrameBuilder> frames_;
  std::map<std::pair<std::string_view, int32_t>, int32_t> alias_frames_;  // alias below caller -> frame
  int frame_visits_ = 0;
  std::unordered_map<int32_t, int> stack_depths_;          // of frames; the outermost one has 1
  std::unordered_map<std::string, Computation*> applied_;  // "stablehlo.add:f32" -> body
  int depth_ = 0;
};

}  // namespace ncc::hlo::mlir
