#!/bin/sh
# The commands under $UNDER (valgrind) over small fixtures: each ends and says what $HBMVIEW says alone.
set -u
cd "$(dirname "$0")/.." || exit 2
program=${HBMVIEW:-build/hbmview}
logs=build/logs/memcheck
mkdir -p "$logs"
profiles=tests/fixtures/logdir/plugins/profile
passed=0 failed=0
check() {
    "$program" "$@" >"$logs/alone" 2>/dev/null
    code=$?
    # shellcheck disable=SC2086
    $UNDER "$program" "$@" >"$logs/under" 2>"$logs/errors"
    under=$?
    if [ $under -eq $code ] && [ -s "$logs/alone" ] && cmp -s "$logs/alone" "$logs/under"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $* (exit $under, alone $code)"
        tail -n 40 "$logs/errors" | sed 's/^/    /'
    fi
}
for session in v5e_matmul v5e_replicated_oom v5e_host_offload v5e_gpt_12layer_oom tf_tiny; do
    check report --format=json "$profiles/$session"
    check report "$profiles/$session"
done
for session in v5e_matmul v5e_replicated_oom v5e_gpt_12layer_oom; do check advise --format=json "$profiles/$session"; done
for session in v5e_replicated_oom v5e_gpt_12layer_oom; do
    check explain --format=json "tests/fixtures/oom_messages/$session.txt" --logdir="$profiles/$session"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
