#!/bin/sh
# Runs the unit test programs given as arguments, shows the output of those that fail, and closes with
# "N passed, N failed". UNDER is a command to run each under (valgrind). A program that dies without a verdict counts as one
# failure. As many run at a time as there are cores; those that took longest the last time, in whatever way, begin first.
set -u
cd "$(dirname "$0")/.." || exit 2
logs=build/logs/unit
mkdir -p "$logs"
passed=0 failed=0
log_of() { echo "$logs/$(echo "$1" | tr / -).log"; }
took_of() { echo "$logs/$(basename "$1").ms"; }
for program in "$@"; do rm -f "$(log_of "$program").status"; done
# shellcheck disable=SC2016
for program in "$@"; do
    took=$(took_of "$program")
    echo "$(cat "$took" 2>/dev/null || echo 0) $program $(log_of "$program") $took"
done | sort -rn | cut -d ' ' -f 2- | xargs -r -P "$(nproc)" -n 3 sh -c 'begun=$(date +%s%3N)
    ${UNDER:-} "./$0" >"$1" 2>&1
    echo $? >"$1.status"
    echo $(($(date +%s%3N) - begun)) >"$2"
    echo "ran $0"'
for program in "$@"; do
    log=$(log_of "$program")
    status=$(cat "$log.status" 2>/dev/null || echo 1)
    good=$(grep -c '^\[       OK \]' "$log")
    bad=$(sed -n 's/^\[  FAILED  \] \([0-9][0-9]*\) test(s).*/\1/p' "$log" | tail -n 1)
    bad=${bad:-0}
    [ $status -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
    passed=$((passed + good)) failed=$((failed + bad))
    if [ "$bad" -gt 0 ]; then
        echo "FAILED $program (exit $status), the end of its output:"
        tail -n 40 "$log" | sed 's/^/    /'
    else
        printf 'ok %-40s %s\n' "$(basename "$program")" "$good"
    fi
done
[ $# -gt 0 ] || echo 'no tests'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
