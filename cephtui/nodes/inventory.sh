# Reports the disks, the network interfaces and the OSDs of a node. It opens no disk, and writes nothing.
#
#   bash -c SCRIPT cephtui-inventory SYS CEPH
#
# SYS and CEPH are /sys and /var/lib/ceph, which only root and Ceph can read. A line is a key and its values with tabs
# between them; text that may have any characters comes last. The last line is "done".
sys=$1 ceph=$2
say() { printf '%s' "$1"; shift; printf '\t%s' "$@"; printf '\n'; }
value_of() { value=; { IFS= read -r value < "$1"; } 2>/dev/null || [ -n "$value" ]; }

for node in "$sys"/block/*; do
    name=${node##*/}
    case $name in sr[0-9]*|fd[0-9]*|rbd[0-9]*|nbd[0-9]*) continue;; esac # removable, or of a network
    # what is made of others (loop, dm, md, zram) is no device
    [ -e "$node/device" ] && value_of "$node/size" && [ "$value" -gt 0 ] || continue
    value_of "$node/hidden" && [ "$value" = 1 ] && continue # one path of several to an NVMe
    value_of "$node/size"; size=$(( value * 512 ))
    value_of "$node/queue/rotational"; rotational=$value
    value_of "$node/device/model"
    say disk "${name//!//}" "$size" "$rotational" "$value"
    for part in "$node"/*/partition; do
        [ -e "$part" ] || continue
        part=${part%/partition}
        value_of "$part/start"; start=$(( value * 512 )); value_of "$part/size"; length=$(( value * 512 ))
        part=${part##*/}
        say partition "${name//!//}" "${part//!//}" "$start" "$length"
    done
done

# The disks below a block device, through volumes, encryption and partitions
disks_of() {
    local below found=
    for below in "$1"/slaves/*; do
        [ -e "$below" ] && { disks_of "$sys/class/block/${below##*/}"; found=yes; }
    done
    [ -z "$found" ] || return
    below=$(readlink -f -- "$1")
    [ -e "$below/partition" ] && below=${below%/*}
    below=${below##*/}
    printf '%s\n' "${below//!//}"
}

# In a container a volume's path is no link to its device
device_of() {
    local path dm
    path=$(readlink -f -- "$1") && [ -n "$path" ] || return
    [ -e "$sys/class/block/${path##*/}" ] && { printf '%s' "${path##*/}"; return; }
    for dm in "$sys"/block/dm-*; do
        value_of "$dm/dm/name" && [ "$value" = "${path##*/}" ] && { printf '%s' "${dm##*/}"; return; }
    done
}

for link in "$ceph"/osd/*-*/block* "$ceph"/*/osd.*/block*; do # the second is cephadm's, below the cluster's id
    [ -L "$link" ] && device=$(device_of "$link") && [ -n "$device" ] || continue
    osd=${link%/*} use=${link##*/}
    case $use in block|block.db|block.wal) ;; *) continue;; esac
    for disk in $(disks_of "$sys/class/block/$device" | sort -u); do
        say osd "${osd##*[-.]}" "$use" "$disk"
    done
done

for nic in "$sys"/class/net/*; do
    name=${nic##*/} kind=
    case $name in lo|tap*|fwbr*|fwln*|fwpr*|vnet*|veth*|ifb*|cali*|lxc*) continue;; esac # of guests and containers
    [ -d "$nic" ] || continue
    if [ -d "$nic/bonding" ]; then kind=bond
    elif [ -d "$nic/bridge" ]; then kind=bridge
    elif grep -qsx DEVTYPE=vlan "$nic/uevent"; then kind=vlan
    elif [ -e "$nic/device" ]; then kind=physical
    fi
    value_of "$nic/operstate"; state=$value
    [ "$kind" = physical ] || [ "$state" = up ] || continue
    value_of "$nic/mtu"; mtu=$value
    value_of "$nic/speed"; speed=$value
    members=
    for member in "$nic"/lower_*; do
        [ -e "$member" ] || [ -L "$member" ] || continue
        member=${member##*/lower_}
        case $member in tap*|fwbr*|fwln*|fwpr*|vnet*|veth*) ;; *) members="$members $member";; esac
    done
    say nic "$name" "$kind" "$state" "$mtu" "$speed" "${members# }"
done
ip -o addr show scope global 2>/dev/null | while read -r _ name _ address _; do say address "${name%@*}" "$address"; done
say 'done' ''
exit 0
