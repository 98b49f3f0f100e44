// The protobuf encoding of BIR. Every index and enumerator is range-checked while reading, so a damaged file
// gives EBIR001.
#include <map>

#include "ir-formats/bir/attributes.h"
#include "ir-formats/bir/bir.pb.h"
#include "ir-formats/bir/enums.h"
#include "ir-formats/bir/io.h"
#include "ir-formats/bir/verify.h"

namespace ncc::bir {
namespace {

constexpr uint32_t kVersion = 1;
constexpr int kMaxNesting = 64;

// ---- writing ----

void put(const affine::Ref e, wire::Expr* out) {
  out->set_constant(e->constant);
  for (const affine::Term& term : e->terms) {
    out->add_axes(term.axis);
    out->add_coefs(term.coef);
  }
}

void put(const Operand& op, wire::Operand* out) {
  out->set_kind(static_cast<uint32_t>(op.kind));
  out->set_dtype(static_cast<uint32_t>(op.dtype));
  out->set_set(op.set + 1);
  out->set_location(op.location + 1);
  out->set_partition(op.partition);
  out->set_offset(op.offset);
  if (op.partition_expr) put(op.partition_expr, out->mutable_partition_expr());
  if (op.offset_expr) put(op.offset_expr, out->mutable_offset_expr());
  for (int i = 0; i < op.rank; ++i) {
    out->add_steps(op.ap[i].step);
    out->add_counts(op.ap[i].count);
  }
  out->set_bits(op.bits);
}

struct AttributeWriter {
  wire::Instruction* out;
  wire::Attribute* add(uint32_t id) {
    wire::Attribute* attribute = out->add_attributes();
    attribute->set_id(id);
    return attribute;
  }
  template <class T>
  void operator()(uint32_t id, const char*, const T& value, const T& fallback) {
    if (value == fallback) return;
    if constexpr (std::is_same_v<T, float>) {
      add(id)->set_real(value);
    } else {
      add(id)->set_integer(static_cast<int64_t>(value));
    }
  }
  void operator()(uint32_t id, const char*, const std::vector<affine::AxisId>& value,
                  const std::vector<affine::AxisId>&) {
    if (value.empty()) return;
    wire::Attribute* attribute = add(id);
    for (affine::AxisId axis : value) attribute->add_list(axis);
  }
  void operator()(uint32_t id, const char*, const Pattern& value, const Pattern& fallback) {
    if (value == fallback) return;
    wire::Attribute* attribute = add(id);
    for (const Dim& dim : value) {
      attribute->add_list(dim.step);
      attribute->add_list(dim.count);
    }
  }
  void operator()(uint32_t id, const char*, const LaneMask& value, const LaneMask& fallback) {
    if (value == fallback) return;
    wire::Attribute* attribute = add(id);
    for (uint8_t lane : value) attribute->add_list(lane);
  }
};

void put(const Block& block, wire::Block* out);

void put(const Instruction& inst, wire::Instruction* out) {
  out->set_name(inst.name);
  out->set_opcode(info(inst.opcode).ordinal);
  out->set_engine(static_cast<uint32_t>(inst.engine));
  for (const Operand& op : inst.ins) put(op, out->add_ins());
  for (const Operand& op : inst.outs) put(op, out->add_outs());
  if (inst.attributes) visit_attributes(*inst.attributes, AttributeWriter{out});
  for (const Dependency& dep : inst.dependencies) {
    wire::Dependency* d = out->add_dependencies();
    d->set_predecessor(dep.predecessor);
    d->set_kind(static_cast<uint32_t>(dep.kind));
  }
  out->set_queue(inst.queue + 1);
  out->set_source(inst.source);
  out->set_scheduled_start(inst.scheduled_start);
  out->set_scheduled_end(inst.scheduled_end);
  const auto sync = [](const auto& in, wire::Sync* s) {
    s->set_mode(static_cast<uint32_t>(in.mode));
    s->set_semaphore(in.semaphore);
    s->set_value(in.value);
  };
  for (const isa::Wait& wait : inst.waits) sync(wait, out->add_waits());
  for (const isa::Update& update : inst.updates) sync(update, out->add_updates());
  out->set_axis(inst.axis + 1);
  if (inst.body) put(*inst.body, out->mutable_body());
}

void put(const Block& block, wire::Block* out) {
  out->set_name(block.name);
  for (const Instruction& inst : block.instructions) put(inst, out->add_instructions());
}

void put(const Function& fn, wire::Function* out) {
  out->set_name(fn.name);
  for (const MemoryLocationSet& set : fn.sets) {
    wire::Set* s = out->add_sets();
    s->set_name(set.name);
    s->set_memory(static_cast<uint32_t>(set.memory));
    s->set_kind(static_cast<uint32_t>(set.kind));
    s->set_dtype(static_cast<uint32_t>(set.dtype));
    for (int64_t dim : set.shape) s->add_shape(dim);
    s->set_scope(set.scope + 1);
    for (uint32_t location : set.locations) s->add_locations(location);
    s->set_const_offset(set.const_offset);
    s->set_const_hash(set.const_hash);
    s->set_op_name(set.loc.op_name);
    s->set_file(set.loc.file);
    s->set_line(set.loc.line);
  }
  for (const MemoryLocation& location : fn.locations) {
    wire::Location* l = out->add_locations();
    l->set_name(location.name);
    l->set_set(location.set + 1);
    l->set_memory(static_cast<uint32_t>(location.memory));
    l->set_partitions(location.partitions);
    l->set_bytes_per_partition(location.bytes_per_partition);
    l->set_allocated(location.allocated);
    l->set_base(location.base);
    l->set_bank(location.bank);
    l->set_address(location.address);
    l->set_base_alignment(location.base_alignment);
  }
  for (const LoopAxis& axis : fn.axes) {
    wire::Axis* a = out->add_axes();
    a->set_name(axis.name);
    a->set_lower(axis.lower);
    a->set_upper(axis.upper);
    a->set_step(axis.step);
    a->set_parallel(axis.parallel);
  }
  put(fn.block, out->mutable_block());
}

// ---- reading ----

class Reader {
 public:
  Result<Module> read(const wire::Module& in) {
    if (in.version() != kVersion)
      return error(Code::EBIR001, fmt::format("format version {}, expected {}", in.version(), kVersion));
    for (int i = 0; i < num_opcodes(); ++i) {
      const OpcodeInfo& row = info(static_cast<Opcode>(i));
      opcodes_[row.ordinal] = row.opcode;
    }
    module_.arch = in.arch();
    for (const wire::Queue& q : in.queues()) {
      Queue queue{q.name(), {}, {}, q.num_dma_engines()};
      NCC_TRY(enumerator(q.type(), queue.type, "queue type"));
      NCC_TRY(enumerator(q.trigger(), queue.trigger, "engine"));
      module_.queues.push_back(std::move(queue));
    }
    for (const wire::Source& s : in.sources())
      module_.sources.push_back({s.name(), s.op_name(), s.file(), s.line()});
    for (const wire::Function& f : in.functions()) NCC_TRY(function(f));
    NCC_TRY(verify_structure(module_));
    return std::move(module_);
  }

 private:
  template <class E>
  Status enumerator(uint64_t value, E& out, const char* what) {
    // Enumerations of isa are dense: a value without a name is out of range.
    constexpr uint64_t kMax = []() -> uint64_t {
      if constexpr (std::is_same_v<E, Engine>) return static_cast<uint64_t>(Engine::ALL);
      if constexpr (std::is_same_v<E, isa::QueueType>) return static_cast<uint64_t>(isa::QueueType::Dynamic);
      if constexpr (std::is_same_v<E, AluOp>) return static_cast<uint64_t>(AluOp::ModInt);
      if constexpr (std::is_same_v<E, ActivationFunction>)
        return static_cast<uint64_t>(ActivationFunction::IsFinite);
      if constexpr (std::is_same_v<E, AccumulateCommand>)
        return static_cast<uint64_t>(AccumulateCommand::LoadAccumulate);
      if constexpr (std::is_same_v<E, isa::Axis>) return static_cast<uint64_t>(isa::Axis::C);
      if constexpr (std::is_same_v<E, isa::PerfMode>)
        return static_cast<uint64_t>(isa::PerfMode::DoublePixel);
      if constexpr (std::is_same_v<E, isa::WaitMode>) return static_cast<uint64_t>(isa::WaitMode::SemGeReg);
      if constexpr (std::is_same_v<E, isa::UpdateMode>)
        return static_cast<uint64_t>(isa::UpdateMode::SemWriteImm);
      if constexpr (std::is_same_v<E, Dtype>) return static_cast<uint64_t>(Dtype::Opaque);
      if constexpr (std::is_same_v<E, EdgeKind>) return static_cast<uint64_t>(EdgeKind::Flow);
      if constexpr (std::is_same_v<E, OperandKind>) return static_cast<uint64_t>(OperandKind::Register);
      return 0;
    }();
    if (value > kMax) return error(Code::EBIR001, fmt::format("{} {} is not a known {}", what, value, what));
    out = static_cast<E>(value);
    return Status::ok();
  }

  Status expr(const wire::Expr& in, affine::Ref& out) {
    if (in.axes_size() != in.coefs_size())
      return error(Code::EBIR001, "an expression with unequal axis and coefficient lists");
    std::vector<affine::Term> terms;
    for (int i = 0; i < in.axes_size(); ++i) terms.push_back({in.axes(i), in.coefs(i)});
    out = module_.affine->make(in.constant(), std::move(terms));
    return Status::ok();
  }

  Status operand(const wire::Operand& in, Operand& out) {
    NCC_TRY(enumerator(in.kind(), out.kind, "operand kind"));
    NCC_TRY(enumerator(in.dtype(), out.dtype, "element type"));
    out.set = in.set() - 1;
    out.location = in.location() - 1;
    out.partition = in.partition();
    out.offset = in.offset();
    if (in.has_partition_expr()) NCC_TRY(expr(in.partition_expr(), out.partition_expr));
    if (in.has_offset_expr()) NCC_TRY(expr(in.offset_expr(), out.offset_expr));
    if (in.steps_size() != in.counts_size() || in.steps_size() > kMaxPatternDims)
      return error(Code::EBIR001, fmt::format("an access pattern of {} dims, at most {} expected",
                                              in.steps_size(), kMaxPatternDims));
    out.rank = static_cast<uint8_t>(in.steps_size());
    for (int i = 0; i < out.rank; ++i) out.ap[i] = {in.steps(i), in.counts(i)};
    out.bits = in.bits();
    return Status::ok();
  }

  struct AttributeReader {
    Reader& reader;
    const std::map<uint32_t, const wire::Attribute*>& by_id;
    Status status;

    const wire::Attribute* find(uint32_t id) const {
      const auto it = by_id.find(id);
      return it == by_id.end() ? nullptr : it->second;
    }
    template <class T>
    void operator()(uint32_t id, const char* key, T& value, const T&) {
      const wire::Attribute* in = find(id);
      if (!in || !status.is_ok()) return;
      if constexpr (std::is_same_v<T, float>) {
        value = in->real();
      } else if constexpr (std::is_enum_v<T>) {
        status = reader.enumerator(static_cast<uint64_t>(in->integer()), value, key);
      } else {
        value = static_cast<T>(in->integer());
      }
    }
    void operator()(uint32_t id, const char*, std::vector<affine::AxisId>& value,
                    const std::vector<affine::AxisId>&) {
      if (const wire::Attribute* in = find(id))
        for (int64_t axis : in->list()) value.push_back(static_cast<affine::AxisId>(axis));
    }
    void operator()(uint32_t id, const char*, Pattern& value, const Pattern&) {
      if (const wire::Attribute* in = find(id))
        for (size_t i = 0; i < value.size() && 2 * i + 1 < static_cast<size_t>(in->list_size()); ++i)
          value[i] = {in->list(2 * i), in->list(2 * i + 1)};
    }
    void operator()(uint32_t id, const char*, LaneMask& value, const LaneMask&) {
      if (const wire::Attribute* in = find(id))
        for (size_t i = 0; i < value.size() && i < static_cast<size_t>(in->list_size()); ++i)
          value[i] = static_cast<uint8_t>(in->list(i));
    }
  };

  template <class T>
  Status sync(const wire::Sync& in, std::vector<T>& list) {
    T item{};
    NCC_TRY(enumerator(in.mode(), item.mode, "semaphore mode"));
    item.semaphore = static_cast<uint8_t>(in.semaphore());
    item.value = in.value();
    list.push_back(item);
    return Status::ok();
  }

  Status instruction(const wire::Instruction& in, Instruction& out, int depth) {
    out.name = in.name();
    const auto opcode = opcodes_.find(static_cast<int>(in.opcode()));
    if (opcode == opcodes_.end())
      return error(Code::EBIR001, fmt::format("'{}': unknown opcode {}", in.name(), in.opcode()));
    out.opcode = opcode->second;
    NCC_TRY(enumerator(in.engine(), out.engine, "engine"));
    out.ins.resize(in.ins_size());
    for (int i = 0; i < in.ins_size(); ++i) NCC_TRY(operand(in.ins(i), out.ins[i]));
    out.outs.resize(in.outs_size());
    for (int i = 0; i < in.outs_size(); ++i) NCC_TRY(operand(in.outs(i), out.outs[i]));
    if (in.attributes_size() > 0) {
      std::map<uint32_t, const wire::Attribute*> by_id;
      for (const wire::Attribute& attribute : in.attributes()) by_id[attribute.id()] = &attribute;
      AttributeReader reader{*this, by_id, {}};
      visit_attributes(out.mutable_attrs(), reader);
      NCC_TRY(reader.status);
    }
    for (const wire::Dependency& d : in.dependencies()) {
      Dependency dep{d.predecessor(), EdgeKind::Flow};
      NCC_TRY(enumerator(d.kind(), dep.kind, "edge kind"));
      out.dependencies.push_back(dep);
    }
    out.queue = in.queue() - 1;
    out.source = in.source();
    out.scheduled_start = in.scheduled_start();
    out.scheduled_end = in.scheduled_end();
    for (const wire::Sync& wait : in.waits()) NCC_TRY(sync(wait, out.waits));
    for (const wire::Sync& update : in.updates()) NCC_TRY(sync(update, out.updates));
    out.axis = in.axis() - 1;
    if (in.has_body()) {
      out.body = std::make_unique<Block>();
      NCC_TRY(block(in.body(), *out.body, depth + 1));
    }
    return Status::ok();
  }

  Status block(const wire::Block& in, Block& out, int depth) {
    if (depth > kMaxNesting)
      return error(Code::EBIR001, fmt::format("loops nested deeper than {}", kMaxNesting));
    out.name = in.name();
    out.instructions.resize(in.instructions_size());
    for (int i = 0; i < in.instructions_size(); ++i)
      NCC_TRY(instruction(in.instructions(i), out.instructions[i], depth));
    return Status::ok();
  }

  Status function(const wire::Function& in) {
    Function fn;
    fn.name = in.name();
    for (const wire::Set& s : in.sets()) {
      MemoryLocationSet set;
      set.name = s.name();
      const auto memory = memory_from_wire(s.memory());
      const auto kind = kind_from_wire(s.kind());
      if (!memory || !kind)
        return error(Code::EBIR001,
                     fmt::format("set '{}': memory {} kind {}", s.name(), s.memory(), s.kind()));
      set.memory = *memory;
      set.kind = *kind;
      NCC_TRY(enumerator(s.dtype(), set.dtype, "element type"));
      set.shape.assign(s.shape().begin(), s.shape().end());
      set.scope = s.scope() - 1;
      set.locations.assign(s.locations().begin(), s.locations().end());
      set.const_offset = s.const_offset();
      set.const_hash = s.const_hash();
      set.loc = {s.op_name(), s.file(), s.line()};
      fn.sets.push_back(std::move(set));
    }
    for (const wire::Location& l : in.locations()) {
      const auto memory = memory_from_wire(l.memory());
      if (!memory) return error(Code::EBIR001, fmt::format("location '{}': memory {}", l.name(), l.memory()));
      fn.locations.push_back({l.name(), l.set() - 1, *memory, l.partitions(), l.bytes_per_partition(),
                              l.allocated(), l.base(), l.bank(), l.address(), l.base_alignment()});
    }
    for (const wire::Axis& a : in.axes())
      fn.axes.push_back({a.name(), a.lower(), a.upper(), a.step(), a.parallel()});
    NCC_TRY(block(in.block(), fn.block, 0));
    module_.functions.push_back(std::move(fn));
    return Status::ok();
  }

  Module module_;
  std::map<int, Opcode> opcodes_;
};

}  // namespace

std::string to_binary(const Module& module) {
  wire::Module out;
  out.set_version(kVersion);
  out.set_arch(module.arch);
  for (const Function& fn : module.functions) put(fn, out.add_functions());
  for (const Queue& queue : module.queues) {
    wire::Queue* q = out.add_queues();
    q->set_name(queue.name);
    q->set_type(static_cast<uint32_t>(queue.type));
    q->set_trigger(static_cast<uint32_t>(queue.trigger));
    q->set_num_dma_engines(queue.num_dma_engines);
  }
  for (const isa::SourceInst& source : module.sources) {
    wire::Source* s = out.add_sources();
    s->set_name(source.name);
    s->set_op_name(source.op_name);
    s->set_file(source.file);
    s->set_line(source.line);
  }
  return out.SerializeAsString();
}

Result<Module> parse_binary(std::string_view bytes) {
  wire::Module in;
  if (bytes.size() > (1u << 31) - 1u || !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return error(Code::EBIR001, "not a BIR protobuf (truncated, damaged or another format)");
  return Reader().read(in);
}

}  // namespace ncc::bir
