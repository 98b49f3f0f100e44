# For scripts that source it: a folder of their own, removed at the end, and checks that are counted in `failed`.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0
check() { # check WHAT COMMAND...
  what=$1
  shift
  if ! "$@" >out 2>&1; then
    failed=$((failed + 1))
    echo "FAILED: $what"
    sed 's/^/  /' out
  fi
}
refuses() { ! "$@"; }
# says STATUS PATTERN COMMAND...: it ends with that status and prints the pattern.
says() {
  want=$1
  pattern=$2
  shift 2
  "$@" >said 2>&1
  [ $? = "$want" ] && grep -q -e "$pattern" said
}
