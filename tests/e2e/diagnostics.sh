#!/bin/sh
# Provokes diagnostics that no other test does: files that are damaged or too large, by hand, between the stages.
#   diagnostics.sh BIN_DIR DATA_FOLDER
# scripts/check-docs holds that every row of common/diag/codes.def is named by some test.
set -u
bin=$1
case=$2/mlp
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0
provoke() { # provoke CODE STATUS COMMAND...
  code=$1
  status=$2
  shift 2
  "$@" >out 2>&1
  got=$?
  if [ $got != "$status" ] || ! grep -qF "[NCC_$code]" out; then
    failed=$((failed + 1))
    echo "FAILED $code: exit status $got, expected $status, of: $*"
    sed 's/^/  /' out
  fi
}

if ! "$bin/neuron-driver" compile "$case/model.mlir" --temp-dir work -o model.neff --verify --inputs "$case/inputs" >out 2>&1 ||
  ! "$bin/hlo-opt" --input work/penguin.pb --output-dir json --bir-format json >>out 2>&1; then
  cat out
  exit 1
fi
mkdir made
walrus() { "$bin/walrus_driver" --output-dir made --input "$@"; }
edited() { sed "$1" json/sg00/bir.json >edited.json; }

# Models
echo 'module {' >open.mlir
provoke EMLR001 1 "$bin/hlo2penguin" --input open.mlir --output-dir made
printf 'HloModule m\nENTRY e {\n  ROOT x = f64[2] parameter(0)\n}\n' >wide.hlo
provoke EVRF002 1 "$bin/hlo2penguin" --input wide.hlo --output-dir made --strict-dtypes

# IR files between stages
printf 'penguin 1 "m"\nnonsense\n' >bad.txt
provoke EPEN001 1 "$bin/hlo-opt" --input bad.txt --output-dir made
echo '{}' >empty.json
provoke EBIR001 1 walrus empty.json
edited 's/"engine": "PE"/"engine": "DVE"/'
provoke EBIR002 1 walrus edited.json
provoke EBIR003 1 walrus json/sg00/bir.json --max-instructions 3
echo text >bad.neff
provoke ENEF001 1 "$bin/neff-dump" bad.neff

# Capacity
edited 's/"bytes_per_partition": 384,/"bytes_per_partition": 3840000,/'
provoke EOOM001 1 walrus edited.json
edited 's/"kind": "ExternalInput"/"kind": "Internal"/; s/"bytes_per_partition": 24576,/"bytes_per_partition": 245760000000,/'
provoke EOOM002 1 walrus edited.json

# A golden in which one byte is another one
cp -r work/goldens wrong
printf 'A' | dd of=wrong/000.npy bs=1 seek=135 conv=notrunc 2>/dev/null
provoke EVFY001 2 "$bin/hlo-opt" --input work/penguin.pb --output-dir made --verify-inputs "$case/inputs" --verify-goldens wrong

# Subgraphs of a core that are not there
mkdir work/nc00
provoke EDRV080 1 "$bin/neuron-driver" compile --state work/state.json --pipeline WalrusDriver
rmdir work/nc00

# One state of several, and states that do not belong together
one() { printf '{"state_id": "%s", "state_dir": "%s"}' "$1" "$2"; }
check_one() {
  "$bin/neuron-driver" compile --state "$(one sg00 "$dir/work/sg00")" --pipeline WalrusDriver >out 2>&1 || {
    failed=$((failed + 1))
    echo "FAILED: one state of a work folder"
    cat out
  }
}
check_one
provoke EDRV011 1 "$bin/neuron-driver" compile --state work/state.json "$(one sg00 "$dir/work/sg01")" --pipeline WalrusDriver
cp -r work other
provoke EDRV011 1 "$bin/neuron-driver" compile --state "$(one root "$dir/work")" "$(one root "$dir/other")" --pipeline WalrusDriver
echo "diagnostics: $failed failed"
[ $failed = 0 ]
