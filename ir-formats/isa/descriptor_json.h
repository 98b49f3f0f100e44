// The "dma" array of <Engine>.json. One element per descriptor:
//   {"id":3,"queue":"q_in","semaphore":4,"debug_id":17,"desc":[{"op":"copy","from":"x","from_off":0,"from_steps":[1,256],
//    "from_sizes":[256,128],"from_dtype":"bfloat16","to":"sb",…}]}
// `id` is the block id within the queue; `debug_id` (own) is the source instruction. Steps are bytes,
// innermost first, and start with a run of adjacent bytes; `sb` is all on-chip memory, its offsets are
// on-chip addresses (spec/isa.md §2.1) and its outermost step, the partition, is 2^18 (SBUF) or 2^15 (PSUM).
// Source: spec/neff.md §7.2, §7.3.
#pragma once
#include <string>
#include <string_view>

#include "common/diag/status.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::isa {

/// The name of on-chip memory among the program's variables: "sb", longer when a variable has that name.
std::string state_buffer_name(const std::vector<Variable>& variables);

/// <Engine>.json of one engine. EISA002 when a descriptor has more than four dimensions a side.
Result<std::string> write_engine_json(const Program& program, Engine engine);
/// Appends the descriptors of one <Engine>.json to the program's queues, which def.json has named. EISA001.
Status read_engine_json(std::string_view text, Engine engine, Program& program);

}  // namespace ncc::isa
