#!/bin/sh
# What the driver makes of tools that die, lie or are missing, and of folders that do not work.
#   driver_faults.sh PATH/neuron-driver
# Every stage is a fake: a script that writes the files of the contract, or fails in the way the case is about.
set -u
driver=$1
root=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$root"; rm -rf "$root"' EXIT
passed=0
failed=0

# A private copy of the driver with fake siblings: tools are found beside the executable.
bin=$root/bin
mkdir -p "$bin"
cp "$driver" "$bin/neuron-driver"
fake() { # fake TOOL BODY
  printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}
good_tools() {
  fake hlo2penguin 'echo lowering; for f in penguin.pb constants.bin hlo_module.pb hlo_metrics.json; do echo x >$f; done'
  fake xla_infergoldens 'mkdir -p goldens; echo {} >goldens/manifest.json'
  fake hlo-opt 'mkdir -p sg00; echo x >sg00/bir.pb; echo {} >tensor_map.json; echo [] >io_transposes.json'
  fake static-io-transpose ':'
  fake walrus_driver 'cd sg00; for f in PE Activation Pool DVE SP; do echo x >$f.bin; done; echo {} >def.json; echo {} >io.json'
  fake neff-packager 'echo neff >model.neff'
  fake neuron-sim 'echo "simulated $*"'
}

# start NAME: a fresh launch folder with a model; compile ARGS: runs the driver there.
start() {
  name=$1
  launch=$root/launch
  chmod -R u+w "$launch" 2>/dev/null
  rm -rf "$launch"
  mkdir "$launch"
  echo model >"$launch/m.pb"
  good_tools
}
compile() {
  (cd "$launch" && exec "$bin/neuron-driver" compile m.pb "$@") >"$root/out" 2>"$root/err" </dev/null
  status=$?
}
check() { # check WHAT COMMAND...
  what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $name: $what"
    sed 's/^/  stdout: /' "$root/out"
    sed 's/^/  stderr: /' "$root/err"
  fi
}
exits() { check "exit status $1, got $status" test "$status" = "$1"; }
says() { check "says '$1'" grep -qF -- "$1" "$root/err"; }
keeps_artifacts() { check "keeps artifacts" sh -c "ls -d $launch/neuronxcc-*/replay_$1.sh"; }
no_result() { check "leaves no result" sh -c "! ls $launch | grep -E 'neff|tmp'"; }
child_is_gone() { # a zombie that nobody reaps counts as gone
  check "the child is gone" sh -c "! grep -q '^State:[[:space:]]*[RSD]' /proc/$(cat "$launch/child.pid")/status"
}
leaves_no_work_folder() { check "leaves no work folder" sh -c "! ls -d $launch/neuronxcc-*"; }

start "all is well"
compile
exits 0
check "publishes" test -s "$launch/file.neff"
check "metrics" grep -q peak_rss_bytes "$launch/global_metric_store.json"
check "log" grep -q lowering "$launch/log-neuron-cc.txt"
leaves_no_work_folder

for death in "ABRT F134" "KILL F137" "SEGV F139"; do
  start "a tool dies of ${death% *}"
  fake walrus_driver "echo last words; kill -${death% *} \$\$"
  compile
  exits 70
  says "[${death#* }] job WalrusDriver"
  says "last words"
  says "replay: (cd $launch/neuronxcc-"
  keeps_artifacts WalrusDriver
  no_result
done

start "a tool says itself that memory ran out"
fake walrus_driver "echo '[ERROR] out of memory' >&2; exit 137"
compile
exits 70
says "[F137] job WalrusDriver"

start "a user error is told once"
fake hlo2penguin "echo '[ERROR] [NCC_EVRF001] unsupported op' >&2; exit 1"
compile
exits 1
says "[ERROR] [NCC_EVRF001] unsupported op"
check "nothing else is an error" test "$(grep -c ERROR "$root/err")" = 1
no_result

start "a tool fails without a word"
fake hlo2penguin "exit 1"
compile
exits 1
says "[NCC_EDRV013] job HLOToTensorizer failed with exit status 1"

start "an unknown exit status is internal"
fake hlo-opt "exit 9"
compile
exits 70
says "[NCC_EDRV006] job Frontend ended with exit status 9"

start "a tool is missing"
rm "$bin/hlo-opt"
compile
exits 1
says "[NCC_EDRV001] tool 'hlo-opt' of job Frontend"
leaves_no_work_folder

start "a tool is not executable"
chmod -x "$bin/hlo-opt"
compile
exits 1
says "[NCC_EDRV002] tool '$bin/hlo-opt' of job Frontend did not start: cannot execute it"

start "an overriding tool does not exist"
compile --tool WalrusDriver=no/such
exits 1
says "no/such"

start "the private folder overrides"
mkdir "$bin/private"
printf '#!/bin/sh\necho private >model.neff\n' >"$bin/private/neff-packager"
chmod +x "$bin/private/neff-packager"
compile
check "the private packager wrote it" grep -q private "$launch/file.neff"
rm -r "$bin/private"

start "an output is missing"
fake neff-packager ":"
compile
exits 70
says "[NCC_EDRV003] job Kelper ended well but left no 'model.neff'"
no_result

start "the model is missing"
rm "$launch/m.pb"
compile
exits 1
says "[NCC_EFIL001] cannot read '$launch/m.pb'"
leaves_no_work_folder

start "the model is a folder"
mkdir "$launch/m"
echo model >"$launch/m/part.pb"
echo '{"model_files": ["part.pb"]}' >"$launch/m/metadata.json"
(cd "$launch" && "$bin/neuron-driver" compile m --dry-run) >"$root/out" 2>"$root/err"
status=$?
exits 0
check "names the file" grep -qF "$launch/m/part.pb" "$root/out"
for bad in '{}' '{"model_files": ["a", "b"]}' '{"model_files": [1]}' 'text'; do
  echo "$bad" >"$launch/m/metadata.json"
  (cd "$launch" && "$bin/neuron-driver" compile m) >"$root/out" 2>"$root/err"
  status=$?
  exits 1
  says "[NCC_EFIL003] '$launch/m/metadata.json' is not a model's metadata"
done
rm "$launch/m/metadata.json"
(cd "$launch" && "$bin/neuron-driver" compile m) >"$root/out" 2>"$root/err"
status=$?
exits 1
says "[NCC_EFIL001]"

start "the environment is not read"
(cd "$launch" && NEURON_CC_FLAGS=--no-such-option "$bin/neuron-driver" compile m.pb) >"$root/out" 2>"$root/err"
status=$?
exits 0

start "a crash bundle"
fake walrus_driver "echo at op.7 >&2; kill -SEGV \$\$"
compile --crash-bundle b.tar
exits 70
says "failing op: op.7"
says "crash bundle: $launch/b.tar"
check "it has command, versions, inputs and logs" sh -c "tar tf '$launch/b.tar' >list && for f in command.txt versions.txt model.pb state.json sg00/bir.pb log/WalrusDriver.log replay_WalrusDriver.sh; do grep -qx \$f list || exit 1; done"
rm -f list

start "a time report"
compile --time-report
exits 0
check "a line per job" grep -q '^WalrusDriver ' "$root/out"

start "the model is empty"
: >"$launch/m.pb"
compile
exits 1
says "it is empty"
leaves_no_work_folder

start "the output folder does not exist"
compile -o no/such/x.neff
exits 1
says "[NCC_EFIL002] cannot write '$launch/no/such/x.neff'"
leaves_no_work_folder

start "the output is a folder"
mkdir "$launch/x.neff"
compile -o x.neff
exits 1
says "it is a folder"

start "the output folder's parent is a file"
compile -o m.pb/x.neff
exits 1
says "[NCC_EFIL002]"

start "the output is a device"
compile -o /dev/null
exits 0
check "the device is still one" test -c /dev/null

if [ -w /dev/full ]; then
  start "the disk is full"
  compile -o /dev/full
  exits 70
  says "[NCC_EDRV009] no space left"
fi

start "a mismatch"
mkdir "$launch/in"
fake neuron-sim "echo '[ERROR] [NCC_ERUN002] output 0 differs' >&2; exit 2"
compile --verify --inputs in
exits 2
no_result

start "a job runs too long"
fake hlo-opt "sleep 30"
compile --job-timeout 4
exits 70
says "[NCC_EDRV008] job Frontend did not end within"

start "an interruption ends the child and leaves nothing"
fake hlo-opt 'echo $$ >../child.pid; sleep 30'
for signal in "INT 130" "TERM 143"; do
  (cd "$launch" && exec "$bin/neuron-driver" compile m.pb) >"$root/out" 2>"$root/err" </dev/null &
  pid=$!
  tries=0
  while [ ! -s "$launch/child.pid" ] && [ $tries -lt 100 ]; do
    sleep 0.05
    tries=$((tries + 1))
  done
  kill -"${signal% *}" $pid
  wait $pid
  status=$?
  exits "${signal#* }"
  child_is_gone
  leaves_no_work_folder
  rm -f "$launch/child.pid"
done

start "the driver is killed"
fake hlo-opt 'echo $$ >../child.pid; exec sleep 30'
(cd "$launch" && exec "$bin/neuron-driver" compile m.pb) >"$root/out" 2>"$root/err" </dev/null &
pid=$!
tries=0
while [ ! -s "$launch/child.pid" ] && [ $tries -lt 100 ]; do
  sleep 0.05
  tries=$((tries + 1))
done
kill -KILL $pid
wait $pid 2>/dev/null
sleep 0.2
child_is_gone

start "a work folder in use"
fake hlo-opt 'touch started; sleep 2; mkdir -p sg00; echo x >sg00/bir.pb; echo {} >tensor_map.json; echo [] >io_transposes.json'
(cd "$launch" && exec "$bin/neuron-driver" compile m.pb --temp-dir w) >/dev/null 2>&1 </dev/null &
pid=$!
tries=0
while [ ! -e "$launch/w/started" ] && [ $tries -lt 100 ]; do
  sleep 0.05
  tries=$((tries + 1))
done
compile --temp-dir w
exits 1
says "[NCC_EDRV004] work folder '$launch/w' is in use by another compile (process $pid)"
wait $pid
check "the first one is not disturbed" test $? = 0

start "two compiles in one folder"
for n in 1 2 3; do
  (cd "$launch" && exec "$bin/neuron-driver" compile m.pb -o "$n.neff") >/dev/null 2>&1 </dev/null &
done
wait
for n in 1 2 3; do check "result $n" test -s "$launch/$n.neff"; done
leaves_no_work_folder

start "restart from a job"
compile --temp-dir w
fake hlo2penguin "exit 9"
fake walrus_driver 'cd sg00; for f in PE Activation Pool DVE SP; do echo y >$f.bin; done; echo {} >def.json; echo {} >io.json'
compile --state w/state.json --from-job WalrusDriver
exits 0
check "ran the backend again" grep -q y "$launch/w/sg00/PE.bin"
rm "$launch/w/sg00/bir.pb"
compile --state w/state.json --pipeline WalrusDriver
exits 1
says "[NCC_EDRV012] job WalrusDriver needs 'sg00/bir.pb'"
check "replay script runs" sh -c "echo x >$launch/w/sg00/bir.pb; $launch/w/replay_WalrusDriver.sh"

start "a bad state"
echo '{"command": 1}' >"$launch/s.json"
compile --state s.json
exits 1
says "[NCC_EDRV011]"

start "nobody reads the output"
fake hlo2penguin 'for i in 1 2 3 4 5; do echo warning $i >&2; done; for f in penguin.pb constants.bin hlo_module.pb hlo_metrics.json; do echo x >$f; done'
(cd "$launch" && "$bin/neuron-driver" compile m.pb --verbose=debug 2>&1 | true)
check "publishes all the same" test -s "$launch/file.neff"
leaves_no_work_folder

start "closed standard streams"
(cd "$launch" && "$bin/neuron-driver" compile m.pb >&- 2>&- <&-)
status=$?
exits 0
check "publishes" grep -qx neff "$launch/file.neff"

start "the output would replace the model"
compile -o m.pb
exits 1
check "the model is untouched" grep -qx model "$launch/m.pb"

start "progress dots"
compile --verbose=35
exits 0
check "one closing line" grep -qx "Compiler status PASS" "$root/out"

start "a subcommand's exit status and arguments are its tool's"
fake neuron-sim 'printf "%s|" "$@"; exit 2'
(cd "$launch" && "$bin/neuron-driver" --verbose=info run "a b.neff" --expect x --tool other=y) >"$root/out" 2>"$root/err"
status=$?
exits 2
check "arguments" grep -qxF "a b.neff|--expect|x|" "$root/out"

echo "driver faults: $passed passed, $failed failed"
[ $failed = 0 ]
