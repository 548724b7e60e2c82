#!/bin/sh
# Unpacks what the lab's virtual machine needs of packages with Debian's kernel: kernel_files.sh DIRECTORY PACKAGE...
# They are not installed: this machine boots another. Of the drivers only those of block devices, networks and virtual
# machines are kept.
set -eu
directory=$1
shift
mkdir -p "$directory/usr/lib" "$directory/boot"
[ -e "$directory/lib" ] || ln -s usr/lib "$directory/lib"
for package; do
    # The kernel and its modules may have a package each: then none has all of these, and tar complains.
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$directory" --keep-directory-symlink --wildcards \
        './boot/vmlinuz-*' './*lib/modules/*/vmlinuz' './*lib/modules/*/modules.*' './*lib/modules/*/kernel/arch' \
        './*lib/modules/*/kernel/crypto' './*lib/modules/*/kernel/fs' './*lib/modules/*/kernel/lib' \
        './*lib/modules/*/kernel/net' './*lib/modules/*/kernel/drivers/block' './*lib/modules/*/kernel/drivers/md' \
        './*lib/modules/*/kernel/drivers/net' './*lib/modules/*/kernel/drivers/virtio' 2>/dev/null || :
done
version=$(cd "$directory/lib/modules" && echo *)
[ ! -e "$directory/lib/modules/$version/vmlinuz" ] ||
    mv "$directory/lib/modules/$version/vmlinuz" "$directory/boot/vmlinuz-$version"
ls "$directory/boot/vmlinuz-$version" "$directory/lib/modules/$version/kernel/net/ceph"
/sbin/depmod -b "$directory" "$version"
