#include "ir-formats/isa/enums.h"

#include <span>

namespace ncc::isa {
namespace {

template <class E>
struct Row {
  E id;
  std::string_view name;
  uint8_t wire;
};

constexpr EngineInfo kEngines[] = {
#define ENGINE(id, name, external, stem, token) {Engine::id, name, external, stem, token},
#include "ir-formats/isa/enums.def"
};
constexpr AluInfo kAlu[] = {
#define ALU(id, name, wire, domain, arity) {AluOp::id, name, wire, AluDomain::domain, arity},
#include "ir-formats/isa/enums.def"
};
constexpr ActivationInfo kActivation[] = {
#define ACTIVATION(id, name, wire, table, low, high) \
  {ActivationFunction::id, name, wire, table != 0, low, high},
#include "ir-formats/isa/enums.def"
};
constexpr int kFolded[] = {
#define AXIS(id, name, wire, folded) folded,
#include "ir-formats/isa/enums.def"
};

template <class E>
constexpr std::span<const Row<E>> rows();

constexpr Row<Engine> kEngineRows[] = {
#define ENGINE(id, name, external, stem, token) {Engine::id, name, 0xFF},
#include "ir-formats/isa/enums.def"
};
template <>
constexpr std::span<const Row<Engine>> rows<Engine>() {
  return kEngineRows;
}
constexpr Row<AluOp> kAluRows[] = {
#define ALU(id, name, wire, domain, arity) {AluOp::id, name, wire},
#include "ir-formats/isa/enums.def"
};
template <>
constexpr std::span<const Row<AluOp>> rows<AluOp>() {
  return kAluRows;
}
constexpr Row<ActivationFunction> kActivationRows[] = {
#define ACTIVATION(id, name, wire, table, low, high) {ActivationFunction::id, name, wire},
#include "ir-formats/isa/enums.def"
};
template <>
constexpr std::span<const Row<ActivationFunction>> rows<ActivationFunction>() {
  return kActivationRows;
}
constexpr Row<AccumulateCommand> kAccumulateRows[] = {
#define ACCUMULATE(id, name, wire) {AccumulateCommand::id, name, wire},
#include "ir-formats/isa/enums.def"
};
template <>
constexpr std::span<const Row<AccumulateCommand>> rows<AccumulateCommand>() {
  return kAccumulateRows;
}
constexpr Row<Axis> kAxisRows[] = {
#define AXIS(id, name, wire, folded) {Axis::id, name, wire},
#include "ir-formats/isa/enums.def"
};
template <>
constexpr std::span<const Row<Axis>> rows<Axis>() {
  return kAxisRows;
}
constexpr Row<PerfMode> kPerfModeRows[] = {
#define PERF_MODE(id, name, wire) {PerfMode::id, name, wire},
#include "ir-formats/isa/enums.def"
};
template <>
constexpr std::span<const Row<PerfMode>> rows<PerfMode>() {
  return kPerfModeRows;
}
constexpr Row<QueueType> kQueueTypeRows[] = {
#define QUEUE_TYPE(id, name) {QueueType::id, name, 0xFF},
#include "ir-formats/isa/enums.def"
};
template <>
constexpr std::span<const Row<QueueType>> rows<QueueType>() {
  return kQueueTypeRows;
}
constexpr Row<WaitMode> kWaitModeRows[] = {
#define WAIT_MODE(id, name, wire) {WaitMode::id, name, wire},
#include "ir-formats/isa/enums.def"
};
template <>
constexpr std::span<const Row<WaitMode>> rows<WaitMode>() {
  return kWaitModeRows;
}
constexpr Row<UpdateMode> kUpdateModeRows[] = {
#define UPDATE_MODE(id, name, wire) {UpdateMode::id, name, wire},
#include "ir-formats/isa/enums.def"
};
template <>
constexpr std::span<const Row<UpdateMode>> rows<UpdateMode>() {
  return kUpdateModeRows;
}
constexpr Row<BranchCompare> kBranchCompareRows[] = {
#define BRANCH_COMPARE(id, name, wire) {BranchCompare::id, name, wire},
#include "ir-formats/isa/enums.def"
};
template <>
constexpr std::span<const Row<BranchCompare>> rows<BranchCompare>() {
  return kBranchCompareRows;
}

}  // namespace

const EngineInfo& info(Engine engine) { return kEngines[static_cast<size_t>(engine)]; }
const AluInfo& info(AluOp op) { return kAlu[static_cast<size_t>(op)]; }
const ActivationInfo& info(ActivationFunction function) { return kActivation[static_cast<size_t>(function)]; }
int folded_dims(Axis axis) { return kFolded[static_cast<size_t>(axis)]; }

std::string_view name(AccumulateCommand v) { return kAccumulateRows[static_cast<size_t>(v)].name; }
std::string_view name(Axis v) { return kAxisRows[static_cast<size_t>(v)].name; }
std::string_view name(PerfMode v) { return kPerfModeRows[static_cast<size_t>(v)].name; }
std::string_view name(QueueType v) { return kQueueTypeRows[static_cast<size_t>(v)].name; }
std::string_view name(WaitMode v) { return kWaitModeRows[static_cast<size_t>(v)].name; }
std::string_view name(UpdateMode v) { return kUpdateModeRows[static_cast<size_t>(v)].name; }
std::string_view name(BranchCompare v) { return kBranchCompareRows[static_cast<size_t>(v)].name; }
uint8_t wire(AccumulateCommand v) { return kAccumulateRows[static_cast<size_t>(v)].wire; }
uint8_t wire(Axis v) { return kAxisRows[static_cast<size_t>(v)].wire; }
uint8_t wire(PerfMode v) { return kPerfModeRows[static_cast<size_t>(v)].wire; }
uint8_t wire(WaitMode v) { return kWaitModeRows[static_cast<size_t>(v)].wire; }
uint8_t wire(UpdateMode v) { return kUpdateModeRows[static_cast<size_t>(v)].wire; }
uint8_t wire(BranchCompare v) { return kBranchCompareRows[static_cast<size_t>(v)].wire; }

template <class E>
std::optional<E> from_name(std::string_view name) {
  for (const Row<E>& row : rows<E>())
    if (row.name == name) return row.id;
  return std::nullopt;
}
template <class E>
std::optional<E> from_wire(uint8_t wire) {
  for (const Row<E>& row : rows<E>())
    if (row.wire == wire && wire != 0xFF) return row.id;
  return std::nullopt;
}

#define NCC_INSTANTIATE(E)                                       \
  template std::optional<E> from_name<E>(std::string_view name); \
  template std::optional<E> from_wire<E>(uint8_t wire)
NCC_INSTANTIATE(Engine);
NCC_INSTANTIATE(AluOp);
NCC_INSTANTIATE(ActivationFunction);
NCC_INSTANTIATE(AccumulateCommand);
NCC_INSTANTIATE(Axis);
NCC_INSTANTIATE(PerfMode);
NCC_INSTANTIATE(QueueType);
NCC_INSTANTIATE(WaitMode);
NCC_INSTANTIATE(UpdateMode);
NCC_INSTANTIATE(BranchCompare);
#undef NCC_INSTANTIATE

}  // namespace ncc::isa
