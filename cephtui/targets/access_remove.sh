# Removes the ceph.conf and keyring that were fetched for a run, unless a process of the run still lives.
#
#   bash -c SCRIPT cephtui-access-remove TOKEN
#
# TOKEN is the run's, and part of the directory's name. The exit status is 75 if the run is not over.
token=$1
grep -lzsx -- "CEPHTUI_RUN=$token" /proc/[0-9]*/environ | grep -q . && { echo "the run is not over" >&2; exit 75; }
for folder in /run /dev/shm /tmp; do
    files=$folder/cephtui-$token
    [ -d "$files" ] && [ ! -L "$files" ] && [ -O "$files" ] || continue
    rm -f -- "$files/ceph.conf" && rmdir -- "$files" || exit 1
done
exit 0
