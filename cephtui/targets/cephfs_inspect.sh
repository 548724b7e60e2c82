# Reports which CephFS a directory is in; it writes nothing.
#
#   bash -c SCRIPT cephtui-cephfs DIRECTORY
#
# A line is KEY<tab>VALUE. The pool of new files is that of the nearest directory above that has a layout of its own; with
# no such directory it is the default of the file system.
directory=$1
say() { printf '%s\t%s\n' "$1" "$2"; }
attribute() {
    if command -v getfattr >/dev/null; then
        getfattr --absolute-names --only-values -n "$1" -- "$2"
    else
        python3 -c 'import os, sys; print(os.getxattr(sys.argv[2], sys.argv[1]).decode())' "$1" "$2"
    fi 2>/dev/null
}
[ -d "$directory" ] || exit 0
say type "$(findmnt -no FSTYPE -T "$directory")"
say source "$(findmnt -no SOURCE -T "$directory")"
say options "$(findmnt -no OPTIONS -T "$directory")"
top=$(findmnt -no TARGET -T "$directory") each=$(readlink -f -- "$directory")
while :; do
    pool=$(attribute ceph.dir.layout.pool "$each") && [ -n "$pool" ] && { say pool "$pool"; break; }
    [ "$each" = "$top" ] || [ "$each" = / ] && break
    each=$(dirname -- "$each")
done
exit 0
