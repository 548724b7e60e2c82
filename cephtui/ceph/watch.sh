# Reports the state of a cluster until it is ended.
#
#   bash -c SCRIPT cephtui-ceph PROGRAM COMMANDS POOL SECONDS COUNTERS OSDS
#
# POOL may be empty. PROGRAM (watch_on_node.py) asks over one connection, and OSDs for their counters beside it. Where
# only ceph may know how to connect, one ceph process reads the queries: starting ceph costs three times what they do.
# It asks no OSD.
python3 -c "$1" "$2" "$4" "$5" "$6"
[ $? = 127 ] || exit
export PYTHONUNBUFFERED=1
ask() { printf 'osd tree down\nosd tree out\nstatus\nosd perf\n%s' "${1:+osd pool stats $1$'\n'}" 2>/dev/null; }
while ask "$3" && sleep "$4"; do :; done | ceph -f json
