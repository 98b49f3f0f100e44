#!/bin/sh
# Options that change what is computed, and how exactly: the result is what the option promises, no more and no less.
#   precision.sh BIN_DIR DATA_FOLDER
set -u
driver=$1/neuron-driver
data=$2
. "$(dirname "$0")/checks.sh"
# build CASE TARGET OUTPUT OPTIONS...; result OUTPUT CASE TOLERANCE: absolute, for results of about 1.
build() {
  model=$data/$1/model.mlir
  target=$2
  neff=$3
  shift 3
  "$driver" compile "$model" --target "$target" -o "$neff" "$@"
}
result() { "$driver" run "$1" --inputs "$data/$2/inputs" --expect "$data/$2/expected" --rtol 0 --atol "$3" --report "$1.json"; }
time_of() { sed -n 's/^.*"time_ns": *\([0-9]*\).*$/\1/p' "$1.json" | head -1; }

# Largest error that a type may bring into a product of 64 to 96 terms, and the one that shows that it was used at all.
for target in trn1 trn2; do
  check "$target: none" build mlp $target none.neff --auto-cast none
  check "$target: none is exact to f32" result none.neff mlp 1e-5
  for row in "bf16 0.05 0.0005" "fp16 0.005 0.00005" "tf32 0.005 0.00005" "fp8_e4m3 0.5 0.005"; do
    set -- $row
    check "$target: matmult $1" build mlp $target cast.neff --auto-cast matmult --auto-cast-type $1
    check "$target: matmult $1 is within $2" result cast.neff mlp $2
    check "$target: matmult $1 is not within $3" refuses result cast.neff mlp $3
  done
  check "$target: all bf16" build mlp $target cast.neff --auto-cast all
  check "$target: all bf16 is within 0.1" result cast.neff mlp 0.1
  check "$target: -O0" build mlp $target o0.neff -O0
  check "$target: -O0 is exact to f32" result o0.neff mlp 1e-5
done

# What it is for: less time, where products are what takes it.
check "exact block" build gpt_block trn2 block.neff
check "bf16 block" build gpt_block trn2 narrow.neff --auto-cast matmult
check "the exact block is right" result block.neff gpt_block 1e-4
check "the bf16 block is within 0.1" result narrow.neff gpt_block 0.1
check "bf16 products take less time: $(time_of narrow.neff) ns, $(time_of block.neff) ns" test "$(time_of narrow.neff)" -lt "$(time_of block.neff)"

# A verified compile checks against the program that the cast makes, to its own exactness.
check "verified cast" build mlp trn2 verified.neff --auto-cast matmult --verify --inputs "$data/mlp/inputs"

check "no identity products on trn1" build transpose_reduce trn1 precise.neff --precise-transpose
check "its result is right" result precise.neff transpose_reduce 1e-4
check "strict types accept f32" build mlp trn2 strict.neff --strict-dtypes
cat >wide.hlo <<'END'
HloModule wide
ENTRY main {
  x = f64[4] parameter(0)
  ROOT y = f64[4] add(x, x)
}
END
check "strict types refuse f64" sh -c "! '$driver' compile wide.hlo --strict-dtypes >log 2>&1 && grep -q 'NCC_EVRF002.*f64' log"
# 64-bit integers: products and comparisons that 32 bits would get wrong, checked against the interpreter at every stage.
cat >int64.hlo <<'END'
HloModule int64
ENTRY main {
  x = s64[3,5] parameter(0)
  y = s64[3,5] parameter(1)
  u = u64[5] parameter(2)
  i = s64[] parameter(3)
  k = s64[] constant(3000000019)
  ks = s64[3,5] broadcast(k), dimensions={}
  p = s64[3,5] multiply(x, ks)
  q = s64[3,5] subtract(p, y)
  m = s64[3,5] maximum(q, x)
  c = pred[3,5] compare(q, y), direction=LT
  s = u64[5] shift-right-logical(u, u)
  zero = s64[] constant(0)
  row = s64[1,5] dynamic-slice(m, i, zero), dynamic_slice_sizes={1,5}
  ROOT r = (s64[3,5], pred[3,5], u64[5], s64[1,5]) tuple(m, c, s, row)
}
END
for target in trn1 trn2; do
  check "$target: exact 64-bit integers" "$driver" compile int64.hlo --target $target --native-int64 enabled --verify -o int64.neff
done
sed 's/multiply(x, ks)/power(x, ks)/' int64.hlo >power.hlo
check "what does not come apart is refused" sh -c "! '$driver' compile power.hlo --native-int64 enabled >log 2>&1 && grep -q 'NCC_EVRF002.*power' log"
check "strict types accept exact integers" "$driver" compile int64.hlo --native-int64 enabled --strict-dtypes -o int64.neff
echo "precision: $failed failed"
[ $failed = 0 ]
