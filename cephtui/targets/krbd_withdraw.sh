# Unmounts the file system on a mapped image, and removes its directory; then prints the devices that are to be unmapped,
# and who has them open. Done twice it does nothing.
#
#   bash -c MAPPING+SCRIPT cephtui-krbd-withdraw DIRECTORY IMAGE
#
# The exit status is 75 if the file system is in use or just being mounted, 76 if another one is mounted there.
directory=$1 image=$2
mappings=$(mappings_of "$image")
while number=$(mounted_on "$directory/mnt") && [ -n "$number" ]; do
    ours=
    for mapping in $mappings; do
        [ "$(number_of "/dev/rbd$mapping")" = "$number" ] && ours=yes
    done
    [ -n "$ours" ] || { echo "$directory/mnt: another device is mounted there" >&2; exit 76; }
    umount -- "$directory/mnt" && continue
    who=$(holders_of "$directory/mnt" | listed)
    echo "$directory/mnt is in use${who:+ by $who}" >&2
    exit 75
done
if [ -d "$directory" ]; then
    rm -f -- "$directory/device" && { [ ! -d "$directory/mnt" ] || rmdir -- "$directory/mnt"; } &&
        rmdir -- "$directory" || exit 75
    rmdir -- "${directory%/*}" 2>/dev/null
fi
[ -S /run/udev/control ] && say udev yes
for mapping in $mappings; do
    say device "/dev/rbd$mapping"
    who=$({ holders_of "/dev/rbd$mapping"; findmnt -rno TARGET "/dev/rbd$mapping" | sed 's/^/a mount on /'; } | listed)
    [ -z "$who" ] || say holders "$who"
done
exit 0
