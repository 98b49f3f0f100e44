// The enumerations of enums.def as types with names; shared by BIR, machine code and the simulator.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ncc::isa {

enum class Engine : uint8_t {
#define ENGINE(id, name, external, stem, token) id,
#include "ir-formats/isa/enums.def"
};
enum class AluDomain : uint8_t { Float, Bits, Compare, Logical };
enum class AluOp : uint8_t {
#define ALU(id, name, wire, domain, arity) id,
#include "ir-formats/isa/enums.def"
};
enum class ActivationFunction : uint8_t {
#define ACTIVATION(id, name, wire, table, low, high) id,
#include "ir-formats/isa/enums.def"
};
enum class AccumulateCommand : uint8_t {
#define ACCUMULATE(id, name, wire) id,
#include "ir-formats/isa/enums.def"
};
enum class Axis : uint8_t {
#define AXIS(id, name, wire, folded) id,
#include "ir-formats/isa/enums.def"
};
enum class PerfMode : uint8_t {
#define PERF_MODE(id, name, wire) id,
#include "ir-formats/isa/enums.def"
};
enum class QueueType : uint8_t {
#define QUEUE_TYPE(id, name) id,
#include "ir-formats/isa/enums.def"
};
enum class WaitMode : uint8_t {
#define WAIT_MODE(id, name, wire) id,
#include "ir-formats/isa/enums.def"
};
enum class UpdateMode : uint8_t {
#define UPDATE_MODE(id, name, wire) id,
#include "ir-formats/isa/enums.def"
};
enum class BranchCompare : uint8_t {
#define BRANCH_COMPARE(id, name, wire) id,
#include "ir-formats/isa/enums.def"
};

struct EngineInfo {
  Engine engine;
  std::string_view name, external, file_stem, package_token;
};
struct AluInfo {
  AluOp op;
  std::string_view name;
  uint8_t wire;
  AluDomain domain;
  int arity;
};
struct ActivationInfo {
  ActivationFunction function;
  std::string_view name;
  uint8_t wire;
  bool uses_table;
  double low, high;  // equal = unrestricted; Sqrt/Rsqrt/Reciprocal ranges are on |x| for Reciprocal
};
const EngineInfo& info(Engine engine);
const AluInfo& info(AluOp op);
const ActivationInfo& info(ActivationFunction function);
int folded_dims(Axis axis);

std::string_view name(AccumulateCommand v);
std::string_view name(Axis v);
std::string_view name(PerfMode v);
std::string_view name(QueueType v);
std::string_view name(WaitMode v);
std::string_view name(UpdateMode v);
std::string_view name(BranchCompare v);
inline std::string_view name(Engine v) { return info(v).name; }
inline std::string_view name(AluOp v) { return info(v).name; }
inline std::string_view name(ActivationFunction v) { return info(v).name; }

uint8_t wire(AccumulateCommand v);
uint8_t wire(Axis v);
uint8_t wire(PerfMode v);
uint8_t wire(WaitMode v);
uint8_t wire(UpdateMode v);
uint8_t wire(BranchCompare v);
inline uint8_t wire(AluOp v) { return info(v).wire; }
inline uint8_t wire(ActivationFunction v) { return info(v).wire; }

/// By IR name; nullopt when unknown. Instantiated for every enum above.
template <class E>
std::optional<E> from_name(std::string_view name);
/// By wire code; nullopt when unknown. Instantiated for the enums that have one.
template <class E>
std::optional<E> from_wire(uint8_t wire);

}  // namespace ncc::isa
