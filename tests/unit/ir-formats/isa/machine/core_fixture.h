// Small core and instruction builders for the machine's tests.
#pragma once
#include <catch2/catch.hpp>
#include <cstring>
#include <span>
#include <vector>

#include "ir-formats/isa/machine/functional_core.h"

namespace ncc::machine {

using isa::Access;
using isa::AluOp;
using isa::Engine;
using isa::MachineInst;
using isa::Opcode;
using isa::Scalar;
using isa::Space;

/// A dense access of `partitions` x `elements`.
inline Access tile(Space space, Dtype dtype, int partitions, int64_t elements, int64_t offset,
                   int start = 0) {
  Access a;
  a.space = space;
  a.dtype = dtype;
  a.start_partition = static_cast<uint8_t>(start);
  a.num_partitions = static_cast<uint8_t>(partitions);
  a.rank = 1;
  a.offset = offset;
  a.dims[0] = {1, elements};
  return a;
}
inline Access sbuf(Dtype dtype, int partitions, int64_t elements, int64_t offset, int start = 0) {
  return tile(Space::Sbuf, dtype, partitions, elements, offset, start);
}
inline Access psum(int partitions, int64_t elements, int64_t offset, Dtype dtype = Dtype::F32) {
  return tile(Space::Psum, dtype, partitions, elements, offset);
}
inline Access dram(int variable, Dtype dtype, std::vector<isa::Dim> dims, int64_t offset = 0) {
  Access a;
  a.space = Space::Dram;
  a.dtype = dtype;
  a.variable = variable;
  a.rank = static_cast<uint8_t>(dims.size());
  a.offset = offset;
  for (size_t i = 0; i < dims.size(); ++i) a.dims[i] = dims[i];
  return a;
}
inline Scalar pointer(const Access& access) { return {Scalar::Kind::Pointer, 0, 0, access}; }

inline MachineInst make(Opcode opcode, Engine engine, const Access& out = {}, const Access& in0 = {},
                        const Access& in1 = {}) {
  MachineInst inst;
  inst.opcode = opcode;
  inst.engine = engine;
  inst.out = out;
  inst.in0 = in0;
  inst.in1 = in1;
  return inst;
}

template <class T>
std::span<const std::byte> bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}

/// A core with typed reads and writes that fail the test on error.
struct Core {
  explicit Core(const char* arch = "trn2", bool check = true)
      : core(*find_arch(arch), {}, HostMemory(0), CoreOptions{.check = check}) {}

  template <class T>
  void put(const Access& access, const std::vector<T>& values) {
    const Status status = core.write(access, bytes(values));
    INFO((status.is_ok() ? std::string() : status.diagnostic().to_string()));
    REQUIRE(status.is_ok());
  }
  template <class T>
  std::vector<T> get(const Access& access) {
    std::vector<std::byte> raw;
    REQUIRE(core.read(access, raw).is_ok());
    std::vector<T> values(raw.size() / sizeof(T));
    std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }
  void run(const MachineInst& inst) {
    const Status status = core.execute(inst);
    INFO((status.is_ok() ? std::string() : status.diagnostic().to_string()));
    REQUIRE(status.is_ok());
  }
  /// The diagnostic's code name and text of an instruction that must fail.
  std::string fails(const MachineInst& inst) {
    const Status status = core.execute(inst);
    REQUIRE_FALSE(status.is_ok());
    return status.diagnostic().to_string();
  }

  FunctionalCore core;
};

}  // namespace ncc::machine
