# Makes a host of the lab of a virtual machine that has the files of this machine; its variables are of the kernel's
# command line. What is not loaded yet of the kernel's modules is found where a system has them.
# shellcheck disable=SC2154
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /lib/modules
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/sshd /run/lock
mount --bind "$modules/lib/modules" /lib/modules
cp "$lab/hosts/$host/passwd" /etc/passwd
hostname "$host"
ip link set dev lo up
ip address add "$address/24" dev eth0
ip link set dev eth0 up
# Meanwhile the cluster starts: programs that were run once are in memory, and translated.
{ rbd --version; fio --version; python3 -c 'import json, rados'; } >/dev/null 2>&1
echo "booted after $(cut -d' ' -f1 /proc/uptime) s"
/usr/sbin/sshd -f "$lab/hosts/$host/sshd_config" -E /run/sshd.log || cat /run/sshd.log
# Whatever loses its parent in here becomes a child of this process, and is not waited for.
trap '' CHLD
exec sleep infinity
