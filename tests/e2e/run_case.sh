#!/bin/sh
# Compiles every form of a case's model, runs each NEFF on the simulated core and compares with the expected outputs.
#   run_case.sh BIN_DIR CASE_FOLDER TARGET
set -eu
bin=$1
case=$(cd "$2" && pwd)
target=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

number() { sed -n "s/^ *\"$1\": *\([0-9.eE+-]*\),*$/\1/p" "$case/meta.json"; }

for model in "$case"/model.*; do
  neff=$(basename "$model").neff
  "$bin/neuron-driver" compile "$model" --target "$target" -o "$neff"
  "$bin/neuron-driver" run "$neff" --inputs "$case/inputs" --expect "$case/expected" \
    --rtol "$(number rtol)" --atol "$(number atol)" --report report.json
done
