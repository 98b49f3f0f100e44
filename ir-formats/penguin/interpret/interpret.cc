#include "ir-formats/penguin/interpret.h"

#include "common/files/files.h"
#include "common/npy/complex_planes.h"
#include "ir-formats/penguin/interpret/run.h"
#include "ir-formats/penguin/io.h"
#include "ir-formats/penguin/verify.h"

namespace ncc::penguin {
namespace {

std::string shape_text(const Array& array) {
  return fmt::format("{}[{}]", ncc::info(array.dtype).hlo, fmt::join(array.shape, ","));
}

/// The device holds the host's bytes under another type and shape.
bool has_same_bytes(const IoBinding& binding, const Tensor& tensor) {
  if (binding.conversion != "none" || binding.declared_shape == tensor.shape) return false;
  int64_t bytes = ncc::size_bytes(binding.declared_dtype);
  for (const int64_t dim : binding.declared_shape) bytes *= dim;
  return bytes == tensor.num_elements() * ncc::size_bytes(tensor.dtype);
}

bool is_split(const IoBinding& binding) { return binding.conversion == "complex_planes"; }

class Run {
 public:
  Run(const Module& module, std::span<const std::byte> constants, const InterpretOptions& options)
      : function_(module.main()),
        module_(module),
        constants_(constants),
        options_(options),
        arrays_(function_.tensors.size()) {}

  Result<std::vector<Array>> run(const std::vector<Array>& inputs) {
    NCC_TRY(bind_inputs(inputs));
    NCC_TRY(bind_constants());
    count_uses();
    for (size_t i = 0; i < function_.body.size(); ++i) {
      const Stmt& stmt = function_.body[i];
      if (stmt.kind != Stmt::Kind::Inst || stmt.inst->tile)
        return error(Code::ERUN003, "this Penguin module is not at tensor level");
      NCC_TRY(step(*stmt.inst, i));
    }
    std::vector<Array> outputs;
    for (TensorId id : function_.outputs) {
      allocate(id);
      outputs.push_back(arrays_[id]);
      const size_t number = outputs.size() - 1;
      if (number >= module_.outputs.size()) continue;
      const IoBinding& binding = module_.outputs[number];
      if (is_split(binding))
        outputs.back() = complex_of(binding.declared_dtype, binding.declared_shape, outputs.back().bytes);
      if (has_same_bytes(binding, function_.tensors[id])) {
        outputs.back().dtype = binding.declared_dtype;
        outputs.back().shape = binding.declared_shape;
      }
    }
    return outputs;
  }

 private:
  Status bind_inputs(const std::vector<Array>& inputs) {
    if (inputs.size() != function_.inputs.size())
      return error(Code::ERUN001, "list",
                   fmt::format("{} given, {} expected", inputs.size(), function_.inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& tensor = function_.tensors[function_.inputs[i]];
      const std::string name = i < module_.inputs.size() ? module_.inputs[i].name : tensor.name;
      Array given = inputs[i];
      if (i < module_.inputs.size() && is_split(module_.inputs[i]) && is_complex(given.dtype))
        given = planes_of(given);
      // The host's form of the same bytes.
      if (i < module_.inputs.size() && given.shape == module_.inputs[i].declared_shape &&
          ncc::size_bytes(given.dtype) == ncc::size_bytes(module_.inputs[i].declared_dtype) &&
          has_same_bytes(module_.inputs[i], tensor))
        given = {tensor.dtype, tensor.shape, given.owner, given.bytes};
      NCC_ASSIGN(Array array, reinterpret(given, tensor.dtype, fmt::format("input {} ('{}')", i, name)));
      if (array.shape != tensor.shape)
        return error(Code::ERUN001, fmt::format("{} ('{}')", i, name),
                     fmt::format("it is {}, the parameter is {}[{}]", shape_text(inputs[i]),
                                 ncc::info(tensor.dtype).hlo, fmt::join(tensor.shape, ",")));
      arrays_[function_.inputs[i]] = std::move(array);
    }
    return Status::ok();
  }

  Status bind_constants() {
    for (TensorId id = 0; id < function_.tensors.size(); ++id) {
      const Tensor& tensor = function_.tensors[id];
      if (tensor.role != Role::Const) continue;
      const uint64_t size = static_cast<uint64_t>(tensor.num_elements() * ncc::size_bytes(tensor.dtype));
      const uint64_t start = static_cast<uint64_t>(tensor.const_offset);
      if (start > constants_.size() || size > constants_.size() - start)
        return error(Code::EPEN001, fmt::format("constant '{}' lies outside constants.bin", tensor.name));
      arrays_[id] = {tensor.dtype, tensor.shape, nullptr, constants_.subspan(start, size)};
    }
    return Status::ok();
  }

  TensorId root(TensorId id) const {
    const TensorId viewed = function_.tensors[id].alias_of;
    return viewed == kNone ? id : viewed;
  }

  /// Last statement that reads or writes each tensor, views counted for what they view.
  void count_uses() {
    last_use_.assign(function_.tensors.size(), 0);
    writers_left_.assign(function_.tensors.size(), 0);
    for (size_t i = 0; i < function_.body.size(); ++i) {
      if (!function_.body[i].inst) continue;
      const Inst& inst = *function_.body[i].inst;
      for (const Operand& operand : inst.operands)
        if (operand.kind == Operand::Kind::Tensor) last_use_[root(operand.tensor)] = i;
      if (inst.result.tensor == kNone) continue;
      last_use_[inst.result.tensor] = i;
      ++writers_left_[inst.result.tensor];
    }
  }

  void allocate(TensorId id) {
    const Tensor& tensor = function_.tensors[id];
    if (arrays_[id].owner == nullptr && arrays_[id].bytes.empty())
      arrays_[id] = Array::zeros(tensor.dtype, tensor.shape);
  }

  Status step(const Inst& inst, size_t position) {
    RunContext context{function_, arrays_};
    for (const Operand& operand : inst.operands) {
      if (operand.kind != Operand::Kind::Tensor || root(operand.tensor) == operand.tensor) continue;
      arrays_[operand.tensor] = arrays_[root(operand.tensor)];
      arrays_[operand.tensor].shape = function_.tensors[operand.tensor].shape;
    }
    allocate(inst.result.tensor);
    switch (inst.op) {
      case TensorOp::Map:
        run_map(inst, context);
        break;
      case TensorOp::Reduce:
        run_reduce(inst, context);
        break;
      case TensorOp::Contract:
        run_contract(inst, context);
        break;
    }
    const TensorId written = inst.result.tensor;
    if (--writers_left_[written] == 0 && options_.on_tensor)
      NCC_TRY(options_.on_tensor(written, function_.tensors[written], arrays_[written]));
    release(inst, position);
    return Status::ok();
  }

  void release(const Inst& inst, size_t position) {
    const auto drop = [&](TensorId id) {
      const Tensor& tensor = function_.tensors[root(id)];
      if (id != root(id)) arrays_[id] = {};
      if (tensor.role == Role::Internal && last_use_[root(id)] == position) arrays_[root(id)] = {};
    };
    for (const Operand& operand : inst.operands)
      if (operand.kind == Operand::Kind::Tensor) drop(operand.tensor);
    drop(inst.result.tensor);
  }

  const Function& function_;
  const Module& module_;
  std::span<const std::byte> constants_;
  const InterpretOptions& options_;
  std::vector<Array> arrays_;
  std::vector<size_t> last_use_;
  std::vector<int64_t> writers_left_;
};

}  // namespace

Result<std::vector<Array>> interpret(const Module& module, std::span<const std::byte> constants,
                                     const std::vector<Array>& inputs, const InterpretOptions& options) {
  return Run(module, constants, options).run(inputs);
}

Result<std::vector<Array>> run_file(const std::string& path, const std::vector<Array>& inputs,
                                    const InterpretOptions& options) {
  NCC_ASSIGN(const Module module, read_module(path));
  NCC_TRY(verify(module));
  bool has_constants = false;
  for (const Tensor& tensor : module.main().tensors) has_constants |= tensor.role == Role::Const;
  std::shared_ptr<const MappedFile> constants;
  if (has_constants) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
    NCC_ASSIGN(constants, MappedFile::open(folder + "constants.bin"));
  }
  NCC_ASSIGN(
      std::vector<Array> outputs,
      interpret(module, constants ? constants->bytes() : std::span<const std::byte>(), inputs, options));
  return outputs;
}

}  // namespace ncc::penguin
