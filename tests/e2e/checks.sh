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
