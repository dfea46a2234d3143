#!/bin/sh
# Replays tests/fuzz/corpus/NAME with each program .../fuzz_NAME given as an argument. Each file of the corpus is one
# test; closes with "N passed, N failed". UNDER is a command to run each under (valgrind).
set -u
cd "$(dirname "$0")/.." || exit 2
logs=build/logs/fuzz
mkdir -p "$logs"
passed=0 failed=0
for program in "$@"; do
    name=$(basename "$program")
    log=$logs/$(echo "$program" | tr / -).log
    inputs=0
    if ${UNDER:-} "./$program" "tests/fuzz/corpus/${name#fuzz_}" >"$log" 2>&1; then
        inputs=$(sed -n 's/^\([0-9]*\) inputs, .*/\1/p' "$log")
    fi
    if [ "${inputs:-0}" -gt 0 ]; then
        passed=$((passed + inputs))
        printf 'ok %-24s %s\n' "$name" "$(tail -n 1 "$log")"
    else
        failed=$((failed + 1))
        echo "FAILED $program tests/fuzz/corpus/${name#fuzz_} (no input, or a crash; HBMVIEW_FUZZ_VERBOSE=1 names the file)"
        tail -n 40 "$log" | sed 's/^/    /'
    fi
done
[ $# -gt 0 ] || echo 'no tests'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
