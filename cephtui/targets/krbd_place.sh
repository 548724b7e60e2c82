# Makes a mapped image usable: DIRECTORY/device is a link to it; with a file system, DIRECTORY/mnt has that mounted.
#
#   bash -c MAPPING+SCRIPT cephtui-krbd-place DIRECTORY DEVICE FILESYSTEM
#
# mkfs must not discard, which makes the image thin again, nor leave work for the time after the mount. Where the directory
# was removed meanwhile, by a cleanup after the console was killed, nothing is mounted.
directory=$1 device=$2 filesystem=$3
umask 077
mkdir -p -- "$directory" && ln -sfn -- "$device" "$directory/device" || exit 1
case $filesystem in
'') exit 0;;
ext4) set -- mkfs.ext4 -q -E nodiscard,lazy_itable_init=0,lazy_journal_init=0;;
xfs) set -- mkfs.xfs -q -K;;
*) echo "$filesystem is no file system of cephtui's" >&2; exit 1;;
esac
"$@" "$device" && mkdir -- "$directory/mnt" && mount -t "$filesystem" -- "$device" "$directory/mnt"
