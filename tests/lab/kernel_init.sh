#!/busybox sh
# The first process of a virtual machine of the lab, with busybox and some modules alone: it makes the files of this
# machine its own, read-only below and writable in memory above, and goes on with `second` in them.
b=/busybox
$b mkdir -p /proc /lower /upper /root
$b mount -t proc proc /proc
for module in /modules/*; do
    $b insmod "$module"
done
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro root /lower
$b mount -t tmpfs -o size=75% tmpfs /upper
$b mkdir /upper/files /upper/work
$b mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /root
# shellcheck disable=SC2154 # of the kernel's command line
exec $b switch_root /root /bin/bash "$second"
