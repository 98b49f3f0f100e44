#!/bin/sh
# What a model says to its host, and to other devices, when it is compiled for one core.
#   host_and_devices.sh BIN_DIR
set -u
bin=$1
. "$(dirname "$0")/checks.sh"

# As jax.debug.print writes it.
cat >print.hlo <<'E1'
HloModule prints
ENTRY e {
  x = f32[4] parameter(0)
  said = () custom-call(x), custom_call_target="xla_ffi_python_cpu_callback", custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, metadata={op_name="jit(f)/debug_print" source_file="f.py" source_line=7}
  ROOT y = f32[4] negate(x)
}
E1
check "a call without a result does not stop a compile" "$bin/neuron-driver" compile print.hlo --temp-dir work -o print.neff
check "what is left out is named with its place" \
  says 0 "left out: custom call 'xla_ffi_python_cpu_callback' jit(f)/debug_print (f.py:7)" \
  "$bin/hlo2penguin" --input print.hlo --output-dir made

# As shard_map writes it for two devices.
cat >split.mlir <<'E2'
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<2xf32>) {
      %1 = stablehlo.negate %p : tensor<2xf32>
      sdy.return %1 : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
E2
check "a program for two devices is refused, and they are counted" \
  says 1 "unsupported op 'manual computation': written for 2 devices" "$bin/neuron-driver" compile split.mlir -o split.neff
check "nothing is left behind" refuses test -e split.neff
sed 's/mhlo.num_partitions = 2/mhlo.num_partitions = 1/; s/"x"=2/"x"=1/; s/tensor<2xf32>/tensor<4xf32>/g' split.mlir >whole.mlir
check "the same for one device compiles" "$bin/neuron-driver" compile whole.mlir -o whole.neff
[ $failed = 0 ]
