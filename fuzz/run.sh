#!/bin/bash
# Fuzzes every target in turn with libFuzzer, each for its share of the seconds: fuzz/run.sh SECONDS [NAME...]
# New inputs that reach something go to build/fuzz/corpus, what breaks something to build/fuzz/found:
# mend it, and put the input into fuzz/found/NAME, which the tests replay.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    mapfile -t names < <(find fuzz -maxdepth 1 -name '*.c' ! -name replay.c -printf '%f\n' | sed 's/\.c$//' | sort)
fi
export ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=0
export LSAN_OPTIONS=suppressions=$PWD/tests/leaks.txt:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1 OMP_NUM_THREADS=1
broken=0
for name in "${names[@]}"; do
    case $name in
    checkpoint | fclib | frames) dictionary=hdf5 ;;
    *) dictionary=$name ;;
    esac
    folders=(build/fuzz/corpus/"$name" fuzz/corpus/"$name")
    for more in fuzz/found/"$name" $([ "$name" = scene ] && echo tests/scenes); do
        [ -d "$more" ] && folders+=("$more")
    done
    mkdir -p "build/fuzz/corpus/$name" "build/fuzz/found/$name"
    options=(-max_total_time=$((seconds / ${#names[@]})) -timeout=30 -rss_limit_mb=3000 -print_final_stats=1
        -verbosity=1 -artifact_prefix="build/fuzz/found/$name/")
    [ -e "fuzz/dict/$dictionary.dict" ] && options+=(-dict="fuzz/dict/$dictionary.dict")
    build/fuzz/fuzz_"$name" "${options[@]}" "${folders[@]}" >"build/fuzz/$name.log" 2>&1
    status=$?
    rm -rf /dev/shm/talus-fuzz-*
    executed=$(awk '/number_of_executed_units/ { print $2 }' "build/fuzz/$name.log")
    if [ $status -eq 0 ]; then
        echo "$name: ${executed:-?} executions, nothing found"
    else
        echo "$name: ${executed:-?} executions, BROKEN: build/fuzz/$name.log, build/fuzz/found/$name"
        broken=1
    fi
done
exit $broken
