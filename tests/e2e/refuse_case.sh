#!/bin/sh
# A model with an operation that the compiler has no lowering for: one NCC_EVRF001 naming it, exit status 1, no NEFF.
#   refuse_case.sh BIN_DIR CASE_FOLDER
set -u
bin=$1
case=$(cd "$2" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
for model in "$case"/model.*; do
  "$bin/neuron-driver" compile "$model" -o out.neff >log 2>&1
  status=$?
  [ $status = 1 ] && grep -q '\[NCC_EVRF001\] unsupported op' log && [ ! -e out.neff ] && continue
  echo "$model: exit status $status"
  cat log
  exit 1
done
