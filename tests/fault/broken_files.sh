#!/bin/sh
# No file may crash a tool: every stage is given empty, truncated, overwritten and bit-flipped versions of its input. It may
# refuse (a diagnostic, status 1, 2 or 70) or not notice; it may not die of a signal, hang or print nothing.
#   broken_files.sh BIN_DIR CASE_FOLDER
set -u
bin=$1
case=$(cd "$2" && pwd)
root=$(mktemp -d) || exit 1
trap 'rm -rf "$root"' EXIT
cd "$root" || exit 1
passed=0
failed=0
model=$(ls "$case"/model.hlo* | head -1)
mkdir good
if ! "$bin/neuron-driver" compile "$model" --temp-dir good -o good/published.neff >log 2>&1; then
  cat log
  exit 1
fi

# break HOW FROM TO: positions and values are fixed, so that a failure can be repeated.
break_file() {
  size=$(wc -c <"$2")
  case $1 in
  empty) : >"$3" ;;
  cut-*) head -c $((size * ${1#cut-} / 100)) "$2" >"$3" ;;
  garbage) head -c 4096 "$bin/neuron-driver" >"$3" ;;
  text) echo "not what you expect" >"$3" ;;
  doubled) cat "$2" "$2" >"$3" ;;
  flip-*)
    cp "$2" "$3"
    at=$((size * ${1#flip-} / 1000))
    old=$(od -An -tu1 -j "$at" -N 1 "$2" | tr -d ' ')
    printf "\\$(printf %o $((255 - old)))" | dd of="$3" bs=1 seek="$at" conv=notrunc 2>/dev/null
    ;;
  esac
}

# try TOOL FILE COMMAND...: every damage to FILE in turn.
try() {
  tool=$1
  file=$2
  shift 2
  cp "$file" original
  for how in empty text garbage doubled cut-10 cut-50 cut-99 flip-0 flip-3 flip-15 flip-40 flip-111 flip-250 flip-333 flip-500 flip-667 \
    flip-750 flip-900 flip-950 flip-999; do
    break_file $how original "$file"
    timeout 60 "$@" >log 2>&1 </dev/null
    status=$?
    if [ $status -ge 124 ]; then
      failed=$((failed + 1))
      echo "FAILED $tool on $file ($how): exit status $status"
      tail -3 log
    elif [ $status != 0 ] && ! grep -q 'NCC_' log; then
      failed=$((failed + 1))
      echo "FAILED $tool on $file ($how): exit status $status without a diagnostic"
      tail -3 log
    else
      passed=$((passed + 1))
    fi
  done
  cp original "$file"
}

# Each stage works on a copy of its folder, through its replay script: exactly the argv of the driver.
stage() { # stage JOB FILE
  rm -rf work
  cp -r good work
  job=$1
  try "$job" "work/$2" ./work/replay_"$job".sh
}
mkdir model
cp "$model" model/
broken=model/$(basename "$model")
try HLOToTensorizer "$broken" "$bin/hlo2penguin" --input "$broken" --output-dir model --target trn2
if [ -f "$case/model.mlir" ]; then
  cp "$case/model.mlir" model/
  try HLOToTensorizer model/model.mlir "$bin/hlo2penguin" --input model/model.mlir --output-dir model --target trn2
fi
stage Frontend penguin.pb
stage Frontend constants.bin
stage WalrusDriver sg00/bir.pb
for file in PE.bin def.json io.json; do stage Kelper sg00/$file; done
stage Kelper hlo_metrics.json
cp good/published.neff x.neff
try neuron-sim x.neff "$bin/neuron-sim" x.neff --inputs "$case/inputs"
try neff-dump x.neff "$bin/neff-dump" --disassemble x.neff
mkdir inputs
cp "$case"/inputs/* inputs/
try neuron-sim inputs/000.npy "$bin/neuron-sim" good/published.neff --inputs inputs

echo "broken files: $passed passed, $failed failed"
[ $failed = 0 ]
