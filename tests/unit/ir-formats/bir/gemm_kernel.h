// A tiled matrix product as hlo-opt would emit it: c[m, n] = sum_k a[k, m] * b[k, n], bf16 in, f32 out.
#pragma once
#include "tests/unit/ir-formats/bir/kernel_builder.h"

namespace ncc::bir::testing {

/// Extents in tiles of 128 (m, k) and 512 (n). `keep_b`: b is loaded once per n tile instead of once per (m,
/// n).
inline Module gemm(int64_t m_tiles, int64_t n_tiles, int64_t k_tiles, const std::string& arch = "gen3") {
  Builder b(arch);
  const int64_t m = 128 * m_tiles, n = 512 * n_tiles, k = 128 * k_tiles;
  const uint32_t lhs = b.set("a", Memory::Dram, Dtype::BF16, {k, m}, TensorKind::ExternalInput);
  const uint32_t rhs = b.set("b", Memory::Dram, Dtype::BF16, {k, n}, TensorKind::ExternalInput);
  const uint32_t out = b.set("c", Memory::Dram, Dtype::F32, {m, n}, TensorKind::ExternalOutput);
  const affine::AxisId in = b.axis("n", n_tiles), im = b.axis("m", m_tiles), ik = b.axis("k", k_tiles);
  const affine::AxisId ib = b.axis("kb", k_tiles);
  const uint32_t panel =
      b.set("panel", Memory::Sbuf, Dtype::BF16, {128, k_tiles, 512}, TensorKind::Internal, in);
  const uint32_t tile = b.set("tile", Memory::Sbuf, Dtype::BF16, {128, 128}, TensorKind::Internal, ik);
  const uint32_t acc = b.set("acc", Memory::Psum, Dtype::F32, {128, 512}, TensorKind::Internal, im);
  const uint32_t result = b.set("result", Memory::Sbuf, Dtype::F32, {128, 512}, TensorKind::Internal, im);
  affine::Context& e = b.affine();
  b.begin_loop(in);
  b.begin_loop(ib);
  b.add("load_b", Opcode::Load, Engine::DMA,
        {b.ap(rhs, {{n, 128}, {1, 512}}, e.add(e.axis(ib, 128 * n), e.axis(in, 512)))},
        {b.ap(panel, {{1, 128}, {1, 512}}, e.axis(ib, 512))});
  b.end_loop();
  b.begin_loop(im);
  b.begin_loop(ik);
  b.add("load_a", Opcode::Load, Engine::DMA,
        {b.ap(lhs, {{m, 128}, {1, 128}}, e.add(e.axis(ik, 128 * m), e.axis(im, 128)))}, {b.all(tile)});
  Instruction& mm = b.add("mm", Opcode::Matmult, Engine::PE,
                          {b.ap(panel, {{1, 128}, {1, 512}}, e.axis(ik, 512)), b.all(tile)}, {b.all(acc)});
  mm.mutable_attrs().k_axes = {ik};
  mm.mutable_attrs().group = 0;
  b.end_loop();
  b.add("evict", Opcode::TensorCopy, Engine::DVE, {b.all(acc)}, {b.all(result)});
  b.add("store", Opcode::Save, Engine::DMA, {b.all(result)},
        {b.ap(out, {{n, 128}, {1, 512}}, e.add(e.axis(im, 128 * n), e.axis(in, 512)))});
  b.end_loop();
  b.end_loop();
  return b.take();
}

}  // namespace ncc::bir::testing
