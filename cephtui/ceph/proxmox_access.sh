# Reports which Ceph programs, configurations, keyrings and Proxmox VE storages a node has.
#
#   bash -c SCRIPT cephtui-access ROOT
#
# lines.sh comes first; the last line is "done".
for name in ceph rbd rados; do command -v $name >/dev/null && say program $name; done
for file in "$root"/etc/ceph/*.conf "$root"/etc/ceph/*.keyring "$root"/etc/ceph/keyring "$root"/etc/pve/ceph.conf \
        "$root"/etc/pve/priv/ceph.*.keyring "$root"/etc/pve/priv/ceph/*.conf "$root"/etc/pve/priv/ceph/*.keyring; do
    [ -e "$file" ] || continue
    if [ -r "$file" ]; then say file "${file#"$root"}"; else say unreadable "${file#"$root"}"; fi
done
text storage "$root/etc/pve/storage.cfg"
say 'done' ''
