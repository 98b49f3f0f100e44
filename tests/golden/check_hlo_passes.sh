#!/bin/sh
# One HLO pass, one name, one file, two golden cases.
#
#   check_hlo_passes.sh BIN_DIR
# For every row of tools/hlo-opt/hlo/passes.def:
#   - the function is the pass's name without `aws_neuron_` or `neuron_`, and is defined in <function>.cc, the only pass there
#   - tests/golden/hlo-passes/<name>.txt runs it
#   - tests/golden/hlo-passes/untouched/<name>.txt runs it alone on a program that it leaves as it is: what is expected
#     is what hlo-opt prints without passes
# and no case under untouched/ is of a pass that does not exist. Prints what is wrong; exit status 1 when anything is.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd) || exit 1
passes=$here/../../tools/hlo-opt/hlo
golden=$here/hlo-passes
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
sed -n 's/^HLO_PASS("\([^"]*\)", \([a-z0-9_]*\),.*/\1 \2/p' "$passes/passes.def" >rows
[ -s rows ] || { echo "no rows in $passes/passes.def"; exit 1; }
grep -rE '^Status [a-z0-9_]+\((hlo::)?Module& module, PassContext&' "$passes" --include='*.cc' |
  sed 's|^\(.*\):Status \([a-z0-9_]*\)(.*|\2 \1|' >defined

section() { awk -v want="$1" '/^--- /{ on = ($2 == want); next } on' "$2"; }

while read -r name function; do
  wanted=$(printf '%s' "$name" | tr - _ | sed 's/^aws_neuron_//; s/^neuron_//')
  [ "$function" = "$wanted" ] || echo "$name: the function is $function, expected $wanted"
  source=$(sed -n "s/^$function //p" defined)
  [ "$(basename "$source" .cc)" = "$function" ] || echo "$name: $function is defined in '$source', expected $function.cc"
  grep -qE "^;; RUN: hlo-opt .*--passes ([a-z0-9_-]+,)*$name([, ]|$)" "$golden/$name.txt" 2>/dev/null ||
    echo "$name: no golden case hlo-passes/$name.txt that runs it"
  case=$golden/untouched/$name.txt
  if ! grep -qxF ";; RUN: hlo-opt --input %in --passes $name --no-metadata" "$case" 2>/dev/null; then
    echo "$name: no golden case hlo-passes/untouched/$name.txt that runs it alone"
    continue
  fi
  section in "$case" >m.hlo
  section stdout "$case" >expected
  "$bin/hlo-opt" --input m.hlo --no-passes --no-metadata >plain 2>&1
  cmp -s expected plain || echo "$name: hlo-passes/untouched/$name.txt expects a change"
done <rows >wrong

# Files of passes hold one each.
while read -r function source; do
  grep -q " $function\$" rows || continue
  [ "$(grep -c " $source\$" defined)" = 1 ] || echo "$source: more than one pass"
done <defined >>wrong
for case in "$golden"/untouched/*.txt; do
  grep -q "^$(basename "$case" .txt) " rows || echo "$case: no such pass"
done >>wrong

sort -u wrong
echo "HLO passes: $(wc -l <rows) rows, $(sort -u wrong | wc -l) findings"
[ ! -s wrong ]
