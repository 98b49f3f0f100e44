#!/bin/sh
# Options that say what is computed, how often, or what the model is expected to be: seen in the results of NEFFs.
#   options.sh BIN_DIR DATA_FOLDER
set -u
driver=$1/neuron-driver
data=$2
. "$(dirname "$0")/checks.sh"
# f32 FILE SHAPE VALUE...: an array for a run; SHAPE as NumPy writes it.
f32() {
  python3 - "$@" <<'PY'
import struct, sys
header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % sys.argv[2]
header += " " * (-(len(header) + 11) % 64) + "\n"
values = [float(word) for word in sys.argv[3:]]
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%df" % len(values), *values))
PY
}
run() { "$driver" run "$1" --inputs in --expect want --rtol "$2" --atol "$2"; }

# --- a row that is masked as a whole, and infinities that cancel ---
cat >masked.hlo <<'HLO'
HloModule masked
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[2,4] parameter(0)
  y = f32[2,4] parameter(1)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[2] reduce(x, low), dimensions={1}, to_apply=max
  ms = f32[2,4] broadcast(m), dimensions={0}
  d = f32[2,4] subtract(x, ms)
  e = f32[2,4] exponential(d)
  t = f32[2] reduce(e, zero), dimensions={1}, to_apply=sum
  ts = f32[2,4] broadcast(t), dimensions={0}
  s = f32[2,4] divide(e, ts)
  p = f32[2,4] multiply(s, y)
  q = f32[2,4] add(x, y)
  ROOT r = (f32[2,4], f32[2,4], f32[2,4]) tuple(s, p, q)
}
HLO
mkdir -p in want
most=3.4028234663852886e38
f32 in/000.npy '(2, 4)' -inf -inf -inf -inf 1 -inf 1 -inf
f32 in/001.npy '(2, 4)' 1 2 3 inf 4 inf -2 nan
f32 want/000.npy '(2, 4)' 0.25 0.25 0.25 0.25 0.5 0 0.5 0
f32 want/001.npy '(2, 4)' 0.25 0.5 0.75 8.5070586659632215e37 2 0 -1 nan
f32 want/002.npy '(2, 4)' -$most -$most -$most 0 5 0 -1 nan
for target in trn1 trn2; do
  check "$target: compile without saturation" "$driver" compile masked.hlo --target $target -o plain.neff
  check "$target: its result is NaN" refuses run plain.neff 1
  check "$target: compile with saturation" "$driver" compile masked.hlo --target $target -o clamped.neff --enable-saturate-infinity
  check "$target: the result is finite, NaN stays" run clamped.neff 1e-6
  check "$target: every stage agrees" "$driver" compile masked.hlo --target $target -o clamped.neff --enable-saturate-infinity --verify --inputs in
  check "$target: an ordinary model with saturation" "$driver" compile "$data/softmax/model.mlir" --target $target -o softmax.neff --enable-saturate-infinity
  check "$target: its results are right" "$driver" run softmax.neff --inputs "$data/softmax/inputs" --expect "$data/softmax/expected"
done
check "a model that cannot be infinite is compiled as without" sh -c "
  printf 'HloModule m\nENTRY e { x = s32[8] parameter(0)\nf = f32[8] convert(x)\nt = f32[8] tanh(f)\nROOT r = f32[8] subtract(t, f) }\n' >finite.hlo &&
  '$driver' compile finite.hlo -o a.neff && '$driver' compile finite.hlo -o b.neff --enable-saturate-infinity && cmp a.neff b.neff"

# --- sums of small steps, which bf16 loses ---
{
  echo 'HloModule steps'
  echo 'ENTRY main {'
  echo '  x = f32[8] parameter(0)'
  echo '  y = f32[8] parameter(1)'
  echo '  s0 = bf16[8] convert(x)'
  echo '  y0 = bf16[8] convert(y)'
  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo "  s$i = bf16[8] add(s$((i - 1)), y0)"; done
  echo '  ROOT r = f32[8] convert(s16)'
  echo '}'
} >steps.hlo
rm -rf in want && mkdir in want
f32 in/000.npy '(8,)' 1 1 1 1 1 1 1 1
f32 in/001.npy '(8,)' 0.001 0.002 0.003 0.004 0.005 0.006 0.007 0.008
f32 want/000.npy '(8,)' 1.016 1.032 1.048 1.064 1.08 1.096 1.112 1.128
for target in trn1 trn2; do
  check "$target: compile in bf16" "$driver" compile steps.hlo --target $target -o narrow.neff
  check "$target: bf16 is far from the f32 result" refuses run narrow.neff 0.005
  check "$target: compile in f32" "$driver" compile steps.hlo --target $target -o wide.neff --upcast-all-to-fp32
  check "$target: f32 is the f32 result" run wide.neff 1e-6
  check "$target: every stage agrees" "$driver" compile "$data/matmul_bf16/model.mlir" --target $target -o wide.neff --upcast-all-to-fp32 --verify
  check "$target: types outside are the model's" "$driver" run wide.neff --inputs "$data/matmul_bf16/inputs" --expect "$data/matmul_bf16/expected"
done

# --- batch norm, which is arithmetic in the end ---
cat >norm.hlo <<'HLO'
HloModule norm
ENTRY main {
  x = bf16[16,3] parameter(0)
  scale = bf16[3] parameter(1)
  offset = bf16[3] parameter(2)
  ROOT r = (bf16[16,3], bf16[3], bf16[3]) batch-norm-training(x, scale, offset), epsilon=0.001, feature_index=1
}
HLO
check "batch norm as it is" "$driver" compile norm.hlo -o norm.neff --verify
check "batch norm as arithmetic" "$driver" compile norm.hlo -o norm.neff --expand-batch-norm-training --verify
check "batch norm in f32" "$driver" compile norm.hlo -o wide.neff --expand-batch-norm-training-and-grad --batch-norm-training-upcast --verify
check "they are not the same program" refuses cmp norm.neff wide.neff
check "convolutions in one form" "$driver" compile "$data/cnn/model.mlir" -o cnn.neff --canonicalize-conv --verify
check "statistics are printed" says 0 'instructions' "$1/hlo2penguin" --input norm.hlo --output-dir wd --print-module-stats --expand-batch-norm

# --- complex values inside: a rotation of pairs, and a magnitude ---
cat >turn.hlo <<'HLO'
HloModule turn
ENTRY main {
  x = f32[4,8] parameter(0)
  y = f32[4,8] parameter(1)
  angle = f32[4,8] parameter(2)
  z = c64[4,8] complex(x, y)
  c = f32[4,8] cosine(angle)
  s = f32[4,8] sine(angle)
  w = c64[4,8] complex(c, s)
  t = c64[4,8] multiply(z, w)
  d = c64[4,4] dot(t, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  re = f32[4,8] real(t)
  im = f32[4,8] imag(t)
  size = f32[4,4] abs(d)
  g = c64[3] parameter(3)
  h = c64[3] exponential(g)
  ROOT r = (f32[4,8], f32[4,8], f32[4,4], c64[3], c64[4,8]) tuple(re, im, size, h, t)
}
HLO
cat >fourier.hlo <<'HLO'
HloModule fourier
size { z = c64[3,9] parameter(0)
  ROOT a = f32[3,9] abs(z) }
ENTRY main {
  x = f32[3,16] parameter(0)
  y = c64[3,8] parameter(1)
  f = c64[3,9] fft(x), fft_type=RFFT, fft_length={16}
  a = f32[3,9] call(f), to_apply=size
  b = f32[3,16] fft(f), fft_type=IRFFT, fft_length={16}
  g = c64[3,8] fft(y), fft_type=FFT, fft_length={8}
  ROOT r = (f32[3,9], f32[3,16], c64[3,8]) tuple(a, b, g)
}
HLO
for target in trn1 trn2; do
  check "$target: complex arithmetic on parts" "$driver" compile turn.hlo --target $target -o turn.neff --verify
  check "$target: calls and Fourier transforms" "$driver" compile fourier.hlo --target $target -o fourier.neff --verify
done

# --- reductions with bodies of their own: an arg max as JAX writes it, a running log-sum-exp ---
cat >folds.hlo <<'HLO'
HloModule folds
larger { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  better = pred[] compare(a, b), direction=GT
  nan = pred[] compare(a, a), direction=NE
  keep = pred[] or(better, nan)
  same = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, j), direction=LT
  tie = pred[] and(same, before)
  first = pred[] or(keep, tie)
  v = f32[] select(keep, a, b)
  n = s32[] select(first, i, j)
  ROOT r = (f32[], s32[]) tuple(v, n) }
lse { p = f32[] parameter(0)
  q = f32[] parameter(1)
  m = f32[] maximum(p, q)
  a = f32[] subtract(p, m)
  b = f32[] subtract(q, m)
  ea = f32[] exponential(a)
  eb = f32[] exponential(b)
  t = f32[] add(ea, eb)
  l = f32[] log(t)
  ROOT r = f32[] add(m, l) }
ENTRY main {
  x = f32[6,12] parameter(0)
  n = s32[6,12] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  small = f32[] constant(-1e30)
  zero = s32[] constant(0)
  best = (f32[6], s32[6]) reduce(x, n, low, zero), dimensions={1}, to_apply=larger
  sums = f32[6,12] reduce-window(x, small), window={size=1x12 pad=0_0x11_0}, to_apply=lse
  ROOT r = ((f32[6], s32[6]), f32[6,12]) tuple(best, sums)
}
HLO
for target in trn1 trn2; do
  check "$target: reductions with bodies of their own" "$driver" compile folds.hlo --target $target -o folds.neff --verify
done

# --- how often a run executes the program ---
check "once" "$driver" compile steps.hlo -o once.neff --execute-repetition=1
check "without the option" "$driver" compile steps.hlo -o plain.neff
check "the bytes are the same" cmp once.neff plain.neff
check "three times" "$driver" compile steps.hlo -o thrice.neff --execute-repetition 3 --upcast-all-to-fp32
check "the result is that of one run" run thrice.neff 1e-6
check "it says so" says 0 'repetition *3 times' "$driver" run thrice.neff --inputs in --report thrice.json
check "the report has both times" python3 -c "
import json
report = json.load(open('thrice.json'))
assert report['repetitions'] == 3 and report['total_time_ns'] == 3 * report['time_ns'] > 0"
check "the command line decides" says 0 'repetition *5 times' "$driver" run plain.neff --timing-only --execute-repetition 5
check "no repetition is refused" says 1 'NCC_EARG001.*at least 1' "$driver" compile steps.hlo --execute-repetition 0

# --- what is said about the model ---
good='{"inputs": {"x": [[8], "float32"], "input_1:0": [[null], "f32"]}, "outputs": ["r"]}'
check "an interface that agrees" "$driver" compile steps.hlo -o io.neff --io-config "$good"
check "it changes nothing" cmp io.neff plain.neff
echo "$good" >"io config.json"
check "as a file" "$driver" compile steps.hlo -o io.neff --io-config "io config.json"
check "another shape is refused" says 1 "NCC_EARG001.*'x' is declared as f32\[9\], the model has f32\[8\]" \
  "$driver" compile steps.hlo -o no.neff --io-config '{"inputs": {"x": [[9], "float32"], "y": [[8], "float32"]}}'
check "another type is refused" says 1 "'y' is declared as s32\[8\], the model has f32\[8\]" \
  "$driver" compile steps.hlo -o no.neff --io-config '{"inputs": {"x": [[8], "float32"], "y": [[8], "int32"]}}'
check "an unknown input is refused" says 1 "'z' is none of the model's 'x', 'y'" \
  "$driver" compile steps.hlo -o no.neff --io-config '{"inputs": {"z": [[8], "float32"]}}'
check "a missing input is refused" says 1 "'y' of the model, f32\[8\], is not declared" \
  "$driver" compile steps.hlo -o no.neff --io-config '{"inputs": {"x": [[8], "float32"]}}'
check "another number of outputs is refused" says 1 "2 outputs are declared, the model has 1" \
  "$driver" compile steps.hlo -o no.neff --io-config '{"outputs": ["a", "b"]}'
check "a missing file is refused" says 1 "NCC_EFIL001.*none.json" "$driver" compile steps.hlo -o no.neff --io-config none.json
check "what is no JSON is refused" says 1 "NCC_EARG001.*--io-config" "$driver" compile steps.hlo -o no.neff --io-config '{"inputs"'
check "nothing is written" test ! -e no.neff
sed 's/^HloModule steps/HloModule steps, num_partitions=4/' steps.hlo >parts.hlo
check "one partition is one program" "$driver" compile steps.hlo -o spmd.neff --spmd
check "four partitions are refused" says 1 'NCC_EARG003.*--spmd.*4 partitions' "$driver" compile parts.hlo --spmd
check "weights are in the NEFF" "$driver" compile steps.hlo -o static.neff --static-weights
check "but not both" says 1 'NCC_EARG001.*--static-weights and --enable-fast' \
  "$driver" compile steps.hlo --static-weights --enable-fast-loading-neuron-binaries

# --- each of them is part of the cache's key ---
"$driver" compile steps.hlo -o c.neff --cache-dir cache >/dev/null 2>&1
explain() { "$driver" cache explain steps.hlo -o c.neff --cache-dir cache "$@"; }
check "the compile is found" says 0 '^hit' explain
for option in --enable-saturate-infinity --upcast-all-to-fp32 --execute-repetition=2 --canonicalize-conv --expand-batch-norm-training \
  --batch-norm-training-upcast --spmd '--io-config={"outputs": ["r"]}' '--io-config=io config.json'; do
  check "not with $option" says 0 '^miss' explain "$option"
done
check "options without effect are not in it" says 0 '^hit' explain --static-weights --fold-iota --decompose-attention
echo "options: $failed failed"
[ $failed = 0 ]
