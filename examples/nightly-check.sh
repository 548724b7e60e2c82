#!/bin/sh
# Is the cluster still as fast as when the baseline was measured? For cron, which mails what is printed.
#
#   nightly-check.sh [BASELINE]      a saved run; default: night/1, with its repeats
set -u
baseline=${1:-night/1}
session=check-$(date +%Y-%m-%d)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

cephtui check --against "$baseline" --runs 3 --require -20 --session "$session" > "$log" 2>&1
code=$?

case $code in
    0) exit 0 ;;                                        # shown to be at most 20 % worse: no mail
    5) echo "slower than $baseline by more than 20 %" ;;
    6) echo "inconclusive: the runs show neither" ;;
    3) echo "refused, nothing was measured" ;;
    *) echo "not complete (exit code $code)" ;;
esac
cat "$log"
exit "$code"
