# Reports whether the kernel can map images, and what is there of one; it writes nothing and loads no module.
#
#   bash -c MAPPING+QUEUES+SCRIPT cephtui-krbd-inspect DIRECTORY IMAGE FILESYSTEM
#
# A line is KEY<tab>VALUE. FILESYSTEM is empty where the device itself is used.
directory=$1 image=$2 filesystem=$3
say kernel "$(uname -r)"
[ "$(id -u)" = 0 ] && say root yes
if [ -r /sys/bus/rbd/supported_features ]; then
    say module loaded
    say features "$(cat /sys/bus/rbd/supported_features)"
elif modprobe -n -q rbd 2>/dev/null; then
    say module loadable
fi
[ -S /run/udev/control ] && say udev yes
[ -z "$filesystem" ] || { command -v "mkfs.$filesystem" >/dev/null && say mkfs yes; }
for mapping in $(mappings_of "$image"); do
    [ "$(readlink -- "$directory/device")" = "/dev/rbd$mapping" ] || continue
    queues "$(readlink -f -- "/sys/block/rbd$mapping")"
    id=$(cat "/sys/bus/rbd/devices/$mapping/image_id") number=$(number_of "/dev/rbd$mapping") || continue
    if [ -z "$filesystem" ]; then
        say identity "$id $number"
    elif [ "$(mounted_on "$directory/mnt")" = "$number" ] && inode=$(stat -c %i -- "$directory/mnt/data" 2>/dev/null); then
        say identity "$id $number $inode"
    fi
done
exit 0
