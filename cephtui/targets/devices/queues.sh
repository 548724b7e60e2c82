# Reports the settings of the queues of the disks that a block device is made of.
#
# queues DIRECTORY: the device's in sysfs, without links. A partition has the queue of its disk; a volume has those of
# the disks below it. The script that this is part of has `say`, which prints KEY<tab>VALUE.
queues() {
    local disk=$1 below key value
    [ -e "$disk/partition" ] && disk=${disk%/*}
    for below in "$disk"/slaves/*; do
        [ -e "$below" ] && queues "$(readlink -f -- "$below")"
    done
    [ -e "$below" ] && return
    for key in scheduler nr_requests read_ahead_kb rotational; do
        { read -r value < "$disk/queue/$key"; } 2>/dev/null && say "queue/$key" "$value"
    done
}
