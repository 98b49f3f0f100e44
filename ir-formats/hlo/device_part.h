// What a sharding means: which part of a value one device holds. XLA writes it as tiles of an HLO sharding
// (SPMDFullToShardShape), Shardy as axes of a mesh (xla.sdy.GlobalToLocalShape). Sources: spec/hlo-proto.md
// §11, spec/hlo-text.md §11, spec/stablehlo-text.md §2.12.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// Dimension d is cut into count[d] equal parts, of which the device holds number place[d].
struct DevicePart {
  std::vector<int64_t> place, count;
};

/// The part that `device` holds of a value of `rank` dimensions with this sharding in HLO text form; empty
/// when the sharding names no part for the device ("maximal", a device outside, a form that is not known).
std::optional<DevicePart> part_of_sharding(std::string_view sharding, size_t rank, int64_t device);

/// The same from Shardy's text, for every value of `#sdy.sharding_per_value<[…]>`. Only axes of `manual_axes`
/// divide: inside a manual computation the others still see the whole. `meshes` is the module's frontend
/// attribute xla.sdy.meshes.
std::optional<std::vector<DevicePart>> parts_of_shardy(std::string_view meshes, std::string_view shardings,
                                                       std::string_view manual_axes, int64_t device);

/// Calls that lead from a whole value to one device's part of it (true), and back (false); empty for others.
std::optional<bool> leads_to_part(const Instruction& inst);

/// The devices for which a module with manual computations is written: between those calls every device has a
/// part of the value, outside of them every device has the whole. 1 when there is none, or no sharding says
/// how many.
int64_t manual_devices(const Module& module);

}  // namespace ncc::hlo
