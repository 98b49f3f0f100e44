#!/bin/sh
# What users, tests and benchmarks rely on beyond right numbers.
#   contracts.sh BIN_DIR DATA_FOLDER
set -u
bin=$1
data=$2
. "$(dirname "$0")/checks.sh"
driver=$bin/neuron-driver
case=$data/mlp
value() { sed -n "s/^.*\"$1\": *\([0-9.eE+-]*\).*$/\1/p" "$2" | head -1; }

check "compile" "$driver" compile "$case/model.mlir" --temp-dir work -o first.neff
check "compile again" "$driver" compile "$case/model.mlir" -o second.neff
check "the same model gives the same bytes" cmp first.neff second.neff

# Restarting at any job gives the same bytes as the whole.
for job in Frontend WalrusDriver Kelper; do
  check "restart from $job" "$driver" compile --state work/state.json --from-job $job -o "from_$job.neff"
  check "restart from $job gives the same bytes" cmp first.neff "from_$job.neff"
done

mv work moved
check "restart in a moved work folder" "$driver" compile --state moved/state.json --from-job WalrusDriver -o moved.neff
check "it gives the same bytes" cmp first.neff moved.neff
mv moved work

# A Penguin model is compiled from the folder it lies in, with its constants; the same bytes come out.
check "compile the Penguin file" "$driver" compile work/penguin.pb -o from_penguin.neff
check "a Penguin file gives the same bytes" cmp first.neff from_penguin.neff

# A pass that is left out does not run, in either tool.
check "skip passes" "$driver" compile "$case/model.mlir" --temp-dir skipped --skip-pass fuse_stages --skip-pass coalesce_dma_blocks -o skipped.neff
check "hlo-opt left it out" sh -c "! grep -q fuse_stages skipped/frontend_metrics.json"
check "walrus_driver left it out" sh -c "! grep -q '\"coalesce_dma_blocks\"' skipped/sg00/metrics.json"
check "an unknown pass is named" sh -c "! '$driver' compile '$case/model.mlir' --skip-pass no_such_pass >log 2>&1 && grep -q no_such_pass log"

# The wrapper is there only when a framework has something to do.
check "wrapper job" "$driver" compile "$case/model.mlir" --enable-internal-neff-wrapper --temp-dir wrapped -o w.neff
check "no wrapper without transposes" test ! -e wrapped_neff.hlo

# A NEFF needs nothing beside it.
mkdir elsewhere
mv second.neff elsewhere/
rm -rf work
run() { "$driver" run elsewhere/second.neff "$@"; }
check "run a moved NEFF" run --inputs "$case/inputs" --expect "$case/expected" --rtol 1e-4 --atol 1e-5 --report full.json
check "run without data" run --timing-only --report timing.json
check "timing-only agrees to the nanosecond" test "$(value time_ns full.json)" = "$(value time_ns timing.json)"
for key in time_ns roofline_ns efficiency pe_utilization hbm_utilization engines dma scratch_bytes instructions; do
  check "the report has $key" grep -q "\"$key\"" full.json
done
check "neff-info" "$driver" neff-info elsewhere/second.neff
check "neff-info --disassemble" "$driver" neff-info --disassemble elsewhere/second.neff
check "list-operators" sh -c "'$driver' list-operators --framework XLA | grep -q dot"

# A verified compile checks itself; wrong expectations are a mismatch, status 2.
check "verified compile" "$driver" compile "$case/model.mlir" --verify --inputs "$case/inputs" -o verified.neff
check "verified compile on made-up inputs" "$driver" compile "$case/model.mlir" --verify -o verified.neff --temp-dir verified
check "the made-up inputs are kept" test -s verified/goldens/inputs/000.npy
images=""
for image in "$case"/inputs/*.npy; do images="$images --images $image"; done
# shellcheck disable=SC2086
check "verified compile on arrays named one by one" "$driver" compile "$case/model.mlir" --verify $images -o verified.neff
mkdir wrong
cp "$case/inputs/004.npy" wrong/000.npy 2>/dev/null
run --inputs "$case/inputs" --expect wrong >out 2>&1
status=$?
check "wrong expectations end with status 1 or 2, not $status" test $status = 1 -o $status = 2

[ $failed = 0 ]
