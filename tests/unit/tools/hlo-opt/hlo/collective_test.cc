#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

// A program for a grid of replicas x partitions; every pass is checked on all of its processes.
std::string grid(int replicas, int partitions, const std::string& lines) {
  return "HloModule m, replica_count=" + std::to_string(replicas) +
         ", num_partitions=" + std::to_string(partitions) +
         "\nsum { x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y) }\n"
         "isum { x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT z = s32[] add(x, y) }\n"
         "most { x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] maximum(x, y) }\n" +
         lines;
}

const char* const kGather = "replica_groups={{0,1},{2,3}}, dimensions={1}";

TEST_CASE("conversions stand on the narrow side of an all-gather", "[collectives]") {
  const auto narrow =
      after("aws_neuron_flip_all_gather_convert",
            grid(4, 1,
                 std::string("ENTRY main {\n  a = f32[2,3] parameter(0)\n  g = f32[2,6] all-gather(a), ") +
                     kGather + "\n  ROOT c = bf16[2,6] convert(g)\n}\n"));
  CHECK(root(*narrow).is(Opcode::AllGather));
  CHECK(count(*narrow, Opcode::AllGather) == 1);
  const auto wide =
      after("aws_neuron_flip_all_gather_convert",
            grid(4, 1,
                 std::string("ENTRY main {\n  a = s8[2,3] parameter(0)\n  c = f32[2,3] convert(a)\n"
                             "  ROOT g = f32[2,6] all-gather(c), ") +
                     kGather + "\n}\n"));
  CHECK(root(*wide).is(Opcode::Convert));
  const auto shared = after(
      "aws_neuron_flip_all_gather_convert",
      grid(4, 1,
           std::string("ENTRY main {\n  a = f32[2,3] parameter(0)\n  g = f32[2,6] all-gather(a), ") +
               kGather + "\n  c = bf16[2,6] convert(g)\n  ROOT r = (bf16[2,6], f32[2,6]) tuple(c, g)\n}\n"));
  CHECK(root(*shared).operand(0)->is(Opcode::Convert));
}

TEST_CASE("a reshape that keeps the gathered dimension moves before the gather", "[collectives]") {
  const auto with = [](const std::string& to) {
    return after(
        "aws_neuron_flip_all_gather_reshape",
        grid(4, 1,
             std::string("ENTRY main {\n  a = f32[2,3,4] parameter(0)\n  g = f32[2,6,4] all-gather(a), ") +
                 kGather + "\n  ROOT r = f32" + to + " reshape(g)\n}\n"));
  };
  CHECK(root(*with("[2,6,2,2]")).is(Opcode::AllGather));
  CHECK(root(*with("[1,2,6,4]")).dimensions[0] == 2);
  CHECK(root(*with("[12,4]")).is(Opcode::Reshape));
  CHECK(root(*with("[2,24]")).is(Opcode::Reshape));
}

TEST_CASE("an op of two gathers gathers once", "[collectives]") {
  const auto lines = [](const char* second) {
    return std::string(
               "ENTRY main {\n  a = f32[2,3] parameter(0)\n  b = f32[2,3] parameter(1)\n  g = f32[2,6] "
               "all-gather(a), ") +
           kGather + "\n  h = f32[2,6] all-gather(b), " + second +
           "\n  ROOT r = f32[2,6] subtract(g, h)\n}\n";
  };
  const auto one = after("aws_neuron_flip_all_gathers_binary", grid(4, 1, lines(kGather)));
  CHECK(count(*one, Opcode::AllGather) == 1);
  CHECK(root(*one).is(Opcode::AllGather));
  const auto other = after("aws_neuron_flip_all_gathers_binary",
                           grid(4, 1, lines("replica_groups={{0,2},{1,3}}, dimensions={1}")));
  CHECK(count(*other, Opcode::AllGather) == 2);
}

TEST_CASE("only what is kept is gathered", "[collectives]") {
  const auto slice =
      after("aws_neuron_flip_all_gather_dynamic_slice",
            grid(4, 1,
                 std::string("ENTRY main {\n  a = f32[5,3] parameter(0)\n  g = f32[5,6] all-gather(a), ") +
                     kGather + "\n  ROOT r = f32[2,6] slice(g), slice={[1:5:2],[0:6]}\n}\n"));
  CHECK(root(*slice).is(Opcode::AllGather));
  const auto dynamic = [](const std::string& start) {
    return after(
        "aws_neuron_flip_all_gather_dynamic_slice",
        grid(4, 1,
             std::string(
                 "ENTRY main {\n  a = f32[5,3] parameter(0)\n  p = s32[] parameter(1)\n  id = u32[] "
                 "replica-id()\n"
                 "  two = u32[] constant(2)\n  group = u32[] divide(id, two)\n  own = s32[] convert(id)\n"
                 "  pair = s32[] convert(group)\n  g = f32[5,6] all-gather(a), ") +
                 kGather + "\n  ROOT r = f32[2,6] dynamic-slice(g, " + start +
                 ", p), dynamic_slice_sizes={2,6}\n}\n"));
  };
  CHECK(root(*dynamic("pair")).is(Opcode::AllGather));
  CHECK(root(*dynamic("own")).is(Opcode::DynamicSlice));
  CHECK(root(*dynamic("p")).is(Opcode::DynamicSlice));
}

TEST_CASE("a transpose moves behind the reduce-scatter", "[collectives]") {
  const auto module = after(
      "aws_neuron_flip_reduce_scatter_transpose",
      grid(4, 1,
           "ENTRY main {\n  a = f32[2,3,4] parameter(0)\n  t = f32[4,2,3] transpose(a), dimensions={2,0,1}\n"
           "  ROOT r = f32[2,2,3] reduce-scatter(t), replica_groups={{0,1},{2,3}}, dimensions={0}, "
           "to_apply=sum\n}\n"));
  CHECK(root(*module).is(Opcode::Transpose));
  CHECK(root(*module).operand(0)->dimensions[0] == 2);
}

TEST_CASE("the reduction of a gather is an all-reduce, where the initial value may come in twice",
          "[collectives]") {
  const auto with = [](const std::string& type, const std::string& body, const std::string& initial) {
    return after(
        "aws_neuron_rewrite_all_gather_reduce",
        grid(4, 1,
             "ENTRY main {\n  a = " + type + "[2,3] parameter(0)\n  g = " + type + "[2,6] all-gather(a), " +
                 kGather + "\n  z = " + type + "[] constant(" + initial + ")\n  ROOT r = " + type +
                 "[2] reduce(g, z), dimensions={1}, to_apply=" + body + "\n}\n"));
  };
  CHECK(root(*with("f32", "most", "0.25")).is(Opcode::AllReduce));
  CHECK(root(*with("s32", "isum", "0")).is(Opcode::AllReduce));
  CHECK(root(*with("s32", "isum", "1")).is(Opcode::Reduce));
  CHECK(root(*with("f32", "sum", "0")).is(Opcode::Reduce));
}

TEST_CASE("an all-reduce of which each keeps its part is a reduce-scatter", "[collectives]") {
  const auto with = [](int replicas, int partitions, const std::string& index, const std::string& groups) {
    return after("aws_neuron_rewrite_all_reduce_dynamic_slice",
                 grid(replicas, partitions,
                      "ENTRY main {\n  a = f32[8,3] parameter(0)\n  s = f32[8,3] all-reduce(a), " + groups +
                          ", to_apply=sum\n  z = s32[] constant(0)\n" + index +
                          "  ROOT r = f32[4,3] dynamic-slice(s, i, z), dynamic_slice_sizes={4,3}\n}\n"));
  };
  const std::string by_table =
      "  t = s32[4] constant({0, 4, 0, 4})\n  p = u32[] replica-id()\n"
      "  e = s32[1] dynamic-slice(t, p), dynamic_slice_sizes={1}\n  i = s32[] reshape(e)\n";
  const std::string by_product =
      "  p = u32[] partition-id()\n  c = s32[] convert(p)\n  four = s32[] constant(4)\n"
      "  i = s32[] multiply(c, four)\n";
  CHECK(root(*with(4, 1, by_table, "replica_groups={{0,1},{2,3}}")).is(Opcode::ReduceScatter));
  CHECK(root(*with(4, 1, by_table, "replica_groups={{1,0},{2,3}}")).is(Opcode::DynamicSlice));
  CHECK(root(*with(4, 1, by_table, "replica_groups={{0,1,2,3}}")).is(Opcode::DynamicSlice));
  CHECK(root(*with(1, 2, by_product, "channel_id=1, use_global_device_ids=true, replica_groups={{0,1}}"))
            .is(Opcode::ReduceScatter));
  CHECK(
      root(*with(2, 2, by_product, "channel_id=1, use_global_device_ids=true, replica_groups={{0,1},{2,3}}"))
          .is(Opcode::ReduceScatter));
  CHECK(
      root(*with(2, 2, by_product, "channel_id=1, use_global_device_ids=true, replica_groups={{0,2},{1,3}}"))
          .is(Opcode::DynamicSlice));
}

TEST_CASE("reduce-scatters that are joined become one", "[collectives]") {
  // Along the scattered dimension the pieces of one process are not neighbours in the joined operand.
  const auto apart =
      after("fuse-reduce-scatter",
            grid(2, 1,
                 "ENTRY main {\n  a = f32[4,2] parameter(0)\n  b = f32[4,2] parameter(1)\n"
                 "  s = f32[2,2] reduce-scatter(a), replica_groups={{0,1}}, dimensions={0}, to_apply=sum\n"
                 "  t = f32[2,2] reduce-scatter(b), replica_groups={{0,1}}, dimensions={0}, to_apply=sum\n"
                 "  ROOT v = f32[4,2] concatenate(s, t), dimensions={0}\n}\n"));
  CHECK(count(*apart, Opcode::ReduceScatter) == 2);
  const auto one =
      after("fuse-reduce-scatter",
            grid(2, 1,
                 "ENTRY main {\n  a = f32[4,3] parameter(0)\n  b = f32[4,2] parameter(1)\n"
                 "  s = f32[2,3] reduce-scatter(a), replica_groups={{0,1}}, dimensions={0}, to_apply=sum\n"
                 "  t = f32[2,2] reduce-scatter(b), replica_groups={{0,1}}, dimensions={0}, to_apply=sum\n"
                 "  ROOT v = f32[2,5] concatenate(s, t), dimensions={1}\n}\n"));
  CHECK(root(*one).is(Opcode::ReduceScatter));
  CHECK(count(*one, Opcode::ReduceScatter) == 1);
}

TEST_CASE("permutes become gathers, vanish or compose", "[collectives]") {
  const auto permute = [](const std::string& pass, int replicas, int partitions,
                          const std::string& attributes) {
    return after(
        pass, grid(replicas, partitions,
                   "ENTRY main {\n  a = f32[2,3] parameter(0)\n  ROOT r = f32[2,3] collective-permute(a), " +
                       attributes + "\n}\n"));
  };
  const char* const gather = "collective-permute-to-all-gather";
  for (const char* pairs :
       {"source_target_pairs={{0,1},{1,2},{2,3},{3,0}}", "source_target_pairs={{2,0},{0,3}}"}) {
    CHECK(count(*permute(gather, 4, 1, pairs), Opcode::AllGather) == 1);
    CHECK(count(*permute(gather, 2, 4, std::string("channel_id=5, ") + pairs), Opcode::AllGather) == 1);
    CHECK(count(*permute(gather, 4, 2, pairs), Opcode::CollectivePermute) == 0);
  }
  const char* const remove = "aws_neuron_delete_permute";
  CHECK(root(*permute(remove, 2, 1, "source_target_pairs={{0,0},{1,1}}")).is(Opcode::Parameter));
  CHECK(root(*permute(remove, 3, 1, "source_target_pairs={{0,0},{1,1}}")).is(Opcode::CollectivePermute));
  CHECK(root(*permute(remove, 2, 1, "source_target_pairs={}")).is(Opcode::Broadcast));
  const auto both =
      after("aws_neuron_rewrite_collective_permute",
            grid(4, 1,
                 "ENTRY main {\n  a = f32[2] parameter(0)\n"
                 "  b = f32[2] collective-permute(a), source_target_pairs={{0,1},{1,2},{3,0}}\n"
                 "  ROOT r = f32[2] collective-permute(b), source_target_pairs={{0,2},{1,0},{3,1}}\n}\n"));
  CHECK(count(*both, Opcode::CollectivePermute) == 1);
  CHECK(root(*both).attrs().source_target_pairs == std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {3, 2}});
}

TEST_CASE("one integer is summed by gathering", "[collectives]") {
  const auto module =
      after("aws_neuron_decompose_int_all_reduce",
            grid(4, 1,
                 "ENTRY main {\n  a = s32[1,1] parameter(0)\n"
                 "  ROOT r = s32[1,1] all-reduce(a), replica_groups={{0,3},{1,2}}, to_apply=isum\n}\n"));
  CHECK(count(*module, Opcode::AllReduce) == 0);
  const auto floats =
      after("aws_neuron_decompose_int_all_reduce",
            grid(2, 1,
                 "ENTRY main {\n  a = f32[1] parameter(0)\n"
                 "  ROOT r = f32[1] all-reduce(a), replica_groups={{0,1}}, to_apply=sum\n}\n"));
  CHECK(count(*floats, Opcode::AllReduce) == 1);
}

TEST_CASE("integer matrices are reduced in two steps", "[collectives]") {
  const auto with = [](const std::string& op, const std::string& initial, const std::string& shape) {
    return after("aws_neuron_decompose_scalar_reduce",
                 "HloModule m\nbody { x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT z = s32[] " +
                     op + "(x, y) }\nENTRY main {\n  a = s32" + shape +
                     " parameter(0)\n  z = s32[] constant(" + initial +
                     ")\n  ROOT r = s32[] reduce(a, z), dimensions={0,1}, to_apply=body\n}\n");
  };
  CHECK(count(*with("maximum", "3", "[64,6]"), Opcode::Reduce) == 2);
  CHECK(count(*with("and", "5", "[2,64]"), Opcode::Reduce) == 2);
  CHECK(count(*with("multiply", "1", "[128,2]"), Opcode::Reduce) == 2);
  CHECK(count(*with("multiply", "3", "[128,2]"), Opcode::Reduce) == 1);
  CHECK(count(*with("add", "0", "[128,2]"), Opcode::Reduce) == 1);
  CHECK(count(*with("maximum", "3", "[60,6]"), Opcode::Reduce) == 1);
}

TEST_CASE("sums of all slices are a reduce, rows of slices of a broadcast a broadcast", "[hlo-passes]") {
  const auto sum = [](const std::string& last) {
    return after(
        "neuron-hlo-inst-comb",
        "HloModule m\nENTRY main {\n  x = s32[8,3] parameter(0)\n  a = s32[2,3] slice(x), "
        "slice={[0:2],[0:3]}\n"
        "  b = s32[2,3] slice(x), slice={[2:4],[0:3]}\n  c = s32[2,3] slice(x), slice={[4:6],[0:3]}\n"
        "  d = s32[2,3] slice(x), slice={" +
            last +
            "}\n  ab = s32[2,3] add(b, a)\n  cd = s32[2,3] add(c, d)\n"
            "  ROOT r = s32[2,3] add(ab, cd)\n}\n");
  };
  CHECK(root(*sum("[6:8],[0:3]")).is(Opcode::Reduce));
  CHECK(root(*sum("[5:7],[0:3]")).is(Opcode::Add));
  const auto row = after("neuron-hlo-inst-comb",
                         "HloModule m\nENTRY main {\n  c = f32[5] constant({1,2,3,4,5})\n  b = f32[4,6,5] "
                         "broadcast(c), dimensions={2}\n"
                         "  s = f32[4,2,5] slice(b), slice={[0:4],[1:3],[0:5]}\n  t = f32[4,3,5] slice(b), "
                         "slice={[0:4],[3:6],[0:5]}\n"
                         "  ROOT r = f32[4,5,5] concatenate(s, t), dimensions={1}\n}\n");
  CHECK(root(*row).is(Opcode::Broadcast));
}

std::string loop(const std::string& state, const std::string& initial, const std::string& body, int trips) {
  return "go { p = (s32[], " + state +
         ") parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(" +
         std::to_string(trips) + ")\n  ROOT c = pred[] compare(i, n), direction=LT }\nstep { p = (s32[], " +
         state +
         ") parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n  zero = "
         "s32[] constant(0)\n"
         "  next = s32[] add(i, one)\n" +
         body + " }\nENTRY main {\n  zero = s32[] constant(0)\n" + initial + "  w = (s32[], " + state +
         ") while(state), condition=go, body=step\n";
}

TEST_CASE("reductions that a loop adds up are done once behind it", "[collectives]") {
  for (int trips : {0, 1, 5}) {
    const auto reduce = after(
        "neuron-while-loop-all-reduce-code-motion",
        grid(2, 1,
             loop("s32[3], s32[3]",
                  "  a = s32[3] parameter(0)\n  b = s32[3] parameter(1)\n  state = (s32[], s32[3], s32[3]) "
                  "tuple(zero, a, b)\n",
                  "  acc = s32[3] get-tuple-element(p), index=1\n  x = s32[3] get-tuple-element(p), index=2\n"
                  "  ib = s32[3] broadcast(i), dimensions={}\n  y = s32[3] multiply(x, ib)\n"
                  "  s = s32[3] all-reduce(y), replica_groups={{0,1}}, to_apply=isum\n  t = s32[3] add(acc, "
                  "s)\n"
                  "  ROOT r = (s32[], s32[3], s32[3]) tuple(next, t, x)",
                  trips) +
                 "  ROOT out = s32[3] get-tuple-element(w), index=1\n}\n"));
    CHECK(root(*reduce).is(Opcode::Add));
    const auto scatter = after(
        "neuron_move_reduce_scatter_while_loop",
        grid(2, 1,
             loop("s32[2], s32[4]",
                  "  a = s32[2] parameter(0)\n  b = s32[4] parameter(1)\n  state = (s32[], s32[2], s32[4]) "
                  "tuple(zero, a, b)\n",
                  "  acc = s32[2] get-tuple-element(p), index=1\n  x = s32[4] get-tuple-element(p), index=2\n"
                  "  ib = s32[4] broadcast(i), dimensions={}\n  y = s32[4] add(x, ib)\n"
                  "  s = s32[2] reduce-scatter(y), replica_groups={{0,1}}, dimensions={0}, to_apply=isum\n  "
                  "t = s32[2] add(s, acc)\n"
                  "  ROOT r = (s32[], s32[2], s32[4]) tuple(next, t, x)",
                  trips) +
                 "  ROOT out = s32[2] get-tuple-element(w), index=1\n}\n"));
    CHECK(root(*scatter).is(Opcode::Add));
  }
  // The sum is read inside: it stays.
  const auto read =
      after("neuron-while-loop-all-reduce-code-motion",
            grid(2, 1,
                 loop("f32[3]", "  a = f32[3] parameter(0)\n  state = (s32[], f32[3]) tuple(zero, a)\n",
                      "  acc = f32[3] get-tuple-element(p), index=1\n  s = f32[3] all-reduce(acc), "
                      "replica_groups={{0,1}}, to_apply=sum\n"
                      "  t = f32[3] add(acc, s)\n  ROOT r = (s32[], f32[3]) tuple(next, t)",
                      3) +
                     "  ROOT out = f32[3] get-tuple-element(w), index=1\n}\n"));
  CHECK(root(*read).is(Opcode::GetTupleElement));
}

TEST_CASE("gathers that a loop repeats move before it", "[collectives]") {
  const auto in_body = [](const hlo::Module& module) {
    int64_t number = 0;
    for (const auto& computation : module.computations())
      if (!computation->is_entry())
        for (const auto& inst : computation->instructions()) number += inst->is(Opcode::AllGather);
    return number;
  };
  const auto moved = after(
      "neuron_move_all_gather_while_loop",
      grid(2, 1,
           loop("f32[4], f32[2]",
                "  a = f32[4] parameter(0)\n  b = f32[2] parameter(1)\n  state = (s32[], f32[4], f32[2]) "
                "tuple(zero, a, b)\n",
                "  acc = f32[4] get-tuple-element(p), index=1\n  x = f32[2] get-tuple-element(p), index=2\n"
                "  c = bf16[2] convert(x)\n  g = bf16[4] all-gather(c), replica_groups={{0,1}}, "
                "dimensions={0}\n"
                "  h = f32[4] convert(g)\n  t = f32[4] add(acc, h)\n  ROOT r = (s32[], f32[4], f32[2]) "
                "tuple(next, t, x)",
                3) +
               "  ROOT out = f32[4] get-tuple-element(w), index=1\n}\n"));
  CHECK(in_body(*moved) == 0);
  CHECK(count(*moved, Opcode::AllGather) == 1);
  const auto counted = [&](int trips) {
    return after(
        "aws_neuron_rewrite_all_gather_trip_count",
        grid(
            2, 1,
            loop(
                "f32[4,3], f32[5,2,3]",
                "  a = f32[4,3] parameter(0)\n  b = f32[5,2,3] parameter(1)\n  state = (s32[], f32[4,3], "
                "f32[5,2,3]) tuple(zero, a, b)\n",
                "  acc = f32[4,3] get-tuple-element(p), index=1\n  x = f32[5,2,3] get-tuple-element(p), "
                "index=2\n"
                "  d = f32[1,2,3] dynamic-slice(x, i, zero, zero), dynamic_slice_sizes={1,2,3}\n  e = "
                "f32[2,3] reshape(d)\n"
                "  g = f32[4,3] all-gather(e), replica_groups={{1,0}}, dimensions={0}\n"
                "  t = f32[4,3] subtract(g, acc)\n  ROOT r = (s32[], f32[4,3], f32[5,2,3]) tuple(next, t, x)",
                trips) +
                "  ROOT out = f32[4,3] get-tuple-element(w), index=1\n}\n"));
  };
  CHECK(in_body(*counted(5)) == 0);
  CHECK(in_body(*counted(4)) == 1);
}

TEST_CASE("streams and open groups are filled in, and missing streams refused", "[collectives]") {
  const std::string text =
      grid(2, 3,
           "ENTRY main {\n  a = f32[3] parameter(0)\n  b = f32[3] all-reduce(a), to_apply=sum\n"
           "  ROOT c = f32[3] all-reduce(b), channel_id=1, use_global_device_ids=true, replica_groups={}, "
           "to_apply=sum\n}\n");
  const auto groups = after("legalize-device-assignment", text);
  CHECK(root(*groups).attrs().replica_groups == std::vector<std::vector<int64_t>>{{0, 1, 2, 3, 4, 5}});
  CHECK(root(*groups).operand(0)->attrs().replica_groups == std::vector<std::vector<int64_t>>{{0, 1}});
  const auto streams = after("aws_neuron_collective_stream_id_injector", text);
  PassContext context;
  CHECK(find_pass("collective-stream-id-checker")->run(*streams, context).is_ok());
  const Status missing = find_pass("collective-stream-id-checker")->run(*groups, context);
  REQUIRE_FALSE(missing.is_ok());
  CHECK(missing.diagnostic().cause.find("stream_id") != std::string::npos);
}

}  // namespace
}  // namespace ncc::hlo_passes
