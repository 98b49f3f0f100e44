#!/bin/sh
# operators_current.sh HLO2PENGUIN DOC: docs/operators.md is what the tables say.
set -eu
"$1" --list-operators --markdown | diff -u "$2" - || {
  echo "docs/operators.md is out of date: hlo2penguin --list-operators --markdown > docs/operators.md" >&2
  exit 1
}
