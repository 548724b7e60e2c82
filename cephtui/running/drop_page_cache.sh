# Drops the page cache of a node, after what it has not written yet is on its disks.
#
#   bash -c SCRIPT cephtui-drop-page-cache FILE
#
# FILE is /proc/sys/vm/drop_caches, where 3 stands for the cached data of files and devices, and inodes and dentries.
[ "$(id -u)" = 0 ] || { echo "that needs root: log in as root, or set prefix = [\"sudo\", \"-n\"] for the node" >&2; exit 1; }
sync
{ echo 3 > "$1"; } 2>/dev/null || { echo "$1 can't be written: is it a container without privileges?" >&2; exit 1; }
