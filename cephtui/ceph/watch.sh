# Reports the state of a cluster until it is ended.
#
#   bash -c SCRIPT cephtui-ceph POOL SECONDS
#
# One ceph process stays connected and reads the queries: starting ceph costs three times what the queries do.
export PYTHONUNBUFFERED=1
ask() { printf 'osd tree down\nosd tree out\nstatus\nosd perf\nosd pool stats %s\n' "$1" 2>/dev/null; }
while ask "$1" && sleep "$2"; do :; done | ceph -f json
