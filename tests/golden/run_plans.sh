#!/bin/sh
# Plans of many command lines in one file, each as a person would type it:
#
#   run_plans.sh [--update] BIN_DIR PLANS.txt
#
# A line "$ ARGUMENTS" is run as `neuron-driver compile ARGUMENTS --dry-run` in a folder with the models m.pb, m.mlir and penguin.pb;
# what follows, up to the next such line, is what it must print (stdout, then stderr, then "exit status N" unless 0). The run's
# folder reads %dir. A pass list that is longer than three reads "first,...,last", so that a new pass changes no plan.
set -u
update=no
if [ "$1" = --update ]; then
  update=yes
  shift
fi
bin=$(cd "$1" && pwd) || exit 1
plans=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir" "$got"' EXIT
got=$(mktemp)
for model in m.pb m.mlir penguin.pb penguin.py; do echo model >"$dir/$model"; done
printf 'collectors:\n  backend: [Kelper]\njobs:\n  Extra:\n    tool: extra\n    argv: [--target, "{target}"]\n' >"$dir/p.yaml"
printf 'collectors:\n  front: [HLOToTensorizer, Frontend]\npasses:\n  Frontend: {O2: [first, second, third]}\n' >"$dir/passes.yaml"
printf 'jobs:\n  Kelper: {tool: my-packager, stdin: x}\n' >"$dir/bad.yaml"

grep '^\$ ' "$plans" | while IFS= read -r line; do
  echo "$line"
  (cd "$dir" && eval "'$bin/neuron-driver' compile ${line#??} --dry-run" >.out 2>.err </dev/null; echo $? >.status)
  cat "$dir/.out" "$dir/.err" | sed -E "s|$dir|%dir|g; s/=([a-z_0-9]+),[a-z_0-9]+,[a-z_0-9,]+,([a-z_0-9]+)/=\1,...,\2/g"
  status=$(cat "$dir/.status")
  [ "$status" = 0 ] || echo "exit status $status"
  echo
done >"$got"
if [ $update = yes ]; then
  { sed '/^\$ /,$d' "$plans"; cat "$got"; } >"$got.new" && mv "$got.new" "$plans"
  exit 0
fi
sed '1,/^$/{/^#/d;/^$/d}' "$plans" | diff -u - "$got" || exit 1
echo "plans: $(grep -c '^\$ ' "$plans") passed"
