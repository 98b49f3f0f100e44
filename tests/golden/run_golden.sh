#!/bin/sh
# Golden tests: one file holds command, input and expected output.
#
#   run_golden.sh [--update] BIN_DIR CASE.txt|FOLDER...
# A case is a text file:
#   ;; RUN: neuron-driver compile %in --dry-run      the command; the first word is looked up in BIN_DIR
#   ;; EXIT: 0                                       the exit status expected (default 0)
#   --- in NAME                                      an input file, NAME in the run's folder (default: in); repeatable
#   ...
#   --- stdout                                       what it must print; "--- stderr" likewise, when there is one
#   ...
# In the command %in is the first input; %dir is the run's folder. In outputs the run's folder reads %dir and BIN_DIR %bin.
# --update rewrites the expectations; a person reads the difference.
set -u
update=no
if [ "$1" = --update ]; then
  update=yes
  shift
fi
bin=$(cd "$1" && pwd) || exit 1
shift
failed=0
passed=0

for case in $(find "$@" -name '*.txt' | sort); do
  dir=$(mktemp -d) || exit 1
  # Sections to files: section "in NAME" becomes NAME.
  awk -v dir="$dir" '
    /^--- / { name = $2; if (name == "in" && NF > 2) name = $3; else if (name == "stdout" || name == "stderr") name = ".want_" name
              file = dir "/" name; if (name !~ /^\.want/ && !seen++) print name > (dir "/.first")
              if (name ~ /\//) { folder = file; sub(/\/[^\/]*$/, "", folder); system("mkdir -p \"" folder "\"") }
              printf "" > file; next }
    file != "" { print > file }' "$case"
  first=$(cat "$dir/.first" 2>/dev/null)
  run=$(sed -n 's/^;; RUN: //p' "$case" | head -1)
  want_exit=$(sed -n 's/^;; EXIT: //p' "$case" | head -1)
  command=$(printf '%s' "$run" | sed "s|%in|$dir/$first|g; s|%dir|$dir|g")
  (cd "$dir" && eval "$bin/$command" >.stdout 2>.stderr </dev/null)
  got_exit=$?
  for stream in stdout stderr; do
    sed "s|$dir|%dir|g; s|$bin|%bin|g" "$dir/.$stream" >"$dir/.got_$stream"
    [ -f "$dir/.want_$stream" ] || : >"$dir/.want_$stream"
  done
  if [ $update = yes ]; then
    {
      sed -n '1,/^--- \(stdout\|stderr\)/p' "$case" | grep -v '^--- std' | sed "s/^;; EXIT: .*/;; EXIT: $got_exit/"
      for stream in stdout stderr; do
        if [ -s "$dir/.got_$stream" ]; then
          echo "--- $stream"
          cat "$dir/.got_$stream"
        fi
      done
    } >"$dir/.new"
    cat "$dir/.new" >"$case"
  else
    ok=yes
    [ "$got_exit" = "${want_exit:-0}" ] || ok=no
    for stream in stdout stderr; do
      diff -u "$dir/.want_$stream" "$dir/.got_$stream" >"$dir/.diff_$stream" || ok=no
    done
    if [ $ok = no ]; then
      failed=$((failed + 1))
      echo "FAILED $case (exit status $got_exit, expected ${want_exit:-0})"
      cat "$dir/.diff_stdout" "$dir/.diff_stderr"
    else
      passed=$((passed + 1))
    fi
  fi
  rm -rf "$dir"
done
[ $update = yes ] || echo "golden: $passed passed, $failed failed"
[ $failed = 0 ] || exit 1
