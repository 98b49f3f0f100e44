#!/bin/sh
# The content-addressed cache with real tools: what hits, what misses, and that a hit is the same result.
#   cache.sh BIN_DIR DATA_FOLDER
set -u
driver=$1/neuron-driver
case=$2/mlp
. "$(dirname "$0")/checks.sh"
all_cached() { ! grep -q '"status": "done"' global_metric_store.json; }
status_of() { tr -d '\n' <global_metric_store.json | sed 's/{ *"name"/\n&/g' | grep "\"$1\"" | grep -o '"status": "[a-z ]*"' | head -1 | cut -d'"' -f4; }
is() { [ "$(status_of "$1")" = "$2" ]; }

cp "$case/model.mlir" m.mlir
check "plain compile" "$driver" compile m.mlir -o plain.neff
check "off by default" test ! -e cache
check "first compile" "$driver" compile m.mlir -o first.neff --cache-dir cache
check "explained as a hit" sh -c "'$driver' cache explain m.mlir --cache-dir cache | grep '^hit: '"
check "second compile" "$driver" compile m.mlir -o second.neff --cache-dir cache
check "no job ran" all_cached
check "the same bytes" cmp first.neff second.neff
check "the same bytes as without a cache" cmp first.neff plain.neff

# Another place, another name, another output, other source locations: the same key.
mkdir elsewhere
check "the model has source locations" grep -q 'loc("[^"]*\.py"' m.mlir
sed 's/loc("[^"]*\.py"/loc("other.py"/' m.mlir >elsewhere/n.mlir
check "another place" sh -c "cd elsewhere && '$driver' compile n.mlir -o n.neff --cache-dir ../cache --verbose=35"
check "metadata and paths do not count" sh -c "cd elsewhere && ! grep -q '\"status\": \"done\"' global_metric_store.json"
check "the same bytes there" cmp first.neff elsewhere/n.neff

# What counts: target, pass lists, tools. A miss says what differs.
check "another target misses" sh -c "'$driver' cache explain m.mlir --cache-dir cache --target trn1 >why; grep -q '^miss: ' why && grep -q 'argv: ' why"
check "the model is not blamed" sh -c "! grep -q 'model: ' why"
sed 's/f32/bf16/g' m.mlir >other.mlir
check "another model misses" sh -c "'$driver' cache explain other.mlir --cache-dir cache | grep -q 'model: '"
printf '#!/bin/sh\nexec "%s/neff-packager" "$@"\n' "$1" >pack
chmod +x pack
check "another packager" "$driver" compile m.mlir -o p.neff --cache-dir cache --tool Kelper="$dir/pack"
check "jobs before it hit" is WalrusDriver cached
check "it runs itself" is Kelper done
check "the same bytes from it" cmp first.neff p.neff

# Read-only adds nothing; a damaged store is a miss, not an error.
before=$(find cache -type f | wc -l)
check "read-only miss" "$driver" compile m.mlir --target trn1 -o r.neff --cache-dir cache --cache-mode read-only
check "nothing was added" test "$before" = "$(find cache -type f | wc -l)"
chmod -R a-w cache
check "read-only hit" "$driver" compile m.mlir -o r2.neff --cache-dir cache --cache-mode read-only
check "no job ran" all_cached
chmod -R u+w cache
for file in cache/files/*/*; do echo damaged >"$file"; done
check "damaged" "$driver" compile m.mlir -o d.neff --cache-dir cache
check "damage does not reach the result" cmp first.neff d.neff
check "mended" "$driver" compile m.mlir -o d.neff --cache-dir cache
check "hit again" all_cached
echo file >notafolder
check "an unusable cache folder does not fail a compile" "$driver" compile m.mlir -o u.neff --cache-dir notafolder

# Many writers at once.
rm -rf cache
for n in 1 2 3 4; do "$driver" compile m.mlir -o w$n.neff --cache-dir cache --logfile log$n >/dev/null 2>&1 & done
wait
for n in 1 2 3 4; do check "writer $n" cmp first.neff w$n.neff; done
check "their cache works" "$driver" compile m.mlir -o w5.neff --cache-dir cache
check "as a hit" all_cached

# A verified compile runs its jobs.
check "verified" "$driver" compile m.mlir -o v.neff --cache-dir cache --verify
check "its jobs ran" is Frontend done
echo "cache: $failed failed"
[ $failed = 0 ]
