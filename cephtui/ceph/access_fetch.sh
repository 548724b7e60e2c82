# Prints a ceph.conf with the key of a user in it, which is a keyring, too: of the cluster that ceph here has.
#
#   sh -c SCRIPT cephtui-access ID
#
# Without the right to ask for keys it is that of a file, as Ceph finds it.
id=$1
ceph --connect-timeout 20 --id "$id" config generate-minimal-conf 2>/dev/null ||
    grep -vE '^[[:space:]]*(keyring|keyfile|key)[[:space:]]*=' /etc/ceph/ceph.conf || exit 1
ceph --connect-timeout 20 --id "$id" auth get "client.$id" 2>/dev/null | grep -v '^[[:space:]]*caps ' | grep . && exit 0
for file in "/etc/ceph/ceph.client.$id.keyring" /etc/ceph/ceph.keyring /etc/ceph/keyring; do
    [ -r "$file" ] && exec grep -v '^[[:space:]]*caps ' "$file"
done
echo "no key of client.$id: it may not be asked for, and there is no keyring in /etc/ceph" >&2
exit 1
