#!/bin/sh
# Replays tests/fuzz/corpus/NAME with each program .../fuzz_NAME given as an argument. Each file of the corpus is one
# test; closes with "N passed, N failed". UNDER is a command to run each under (valgrind). As many run at a time as there
# are cores.
set -u
cd "$(dirname "$0")/.." || exit 2
logs=build/logs/fuzz
mkdir -p "$logs"
passed=0 failed=0
log_of() { echo "$logs/$(echo "$1" | tr / -).log"; }
corpus_of() { name=${1##*/fuzz_} && echo "tests/fuzz/corpus/$name"; }
for program in "$@"; do rm -f "$(log_of "$program").status"; done
# shellcheck disable=SC2016
for program in "$@"; do echo "$program $(corpus_of "$program") $(log_of "$program")"; done |
    xargs -r -P "$(nproc)" -n 3 sh -c '${UNDER:-} "./$0" "$1" >"$2" 2>&1; echo $? >"$2.status"; echo "ran $0"'
for program in "$@"; do
    log=$(log_of "$program")
    inputs=0
    [ "$(cat "$log.status" 2>/dev/null)" != 0 ] || inputs=$(sed -n 's/^\([0-9]*\) inputs, .*/\1/p' "$log")
    if [ "${inputs:-0}" -gt 0 ]; then
        passed=$((passed + inputs))
        printf 'ok %-24s %s\n' "$(basename "$program")" "$(tail -n 1 "$log")"
    else
        failed=$((failed + 1))
        echo "FAILED $program $(corpus_of "$program") (no input, or a crash; HBMVIEW_FUZZ_VERBOSE=1 names the file)"
        tail -n 40 "$log" | sed 's/^/    /'
    fi
done
[ $# -gt 0 ] || echo 'no tests'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
