#!/bin/sh
# What a root directory of a release has besides its packages: root_hook.sh ROOT RELEASE, while ROOT has apt's lists.
set -eu
root=$1 release=$2

# The kernel of the virtual machine.
here=$(dirname "$0")
packages=$(chroot "$root" sh <"$here/kernel_packages.sh")
# shellcheck disable=SC2016,SC2086
chroot "$root" sh -euc 'cd /tmp; apt-get -q download "$@"' - $packages
sh "$here/kernel_files.sh" "$root" "$root"/tmp/linux-*.deb
rm "$root"/tmp/linux-*.deb

# No second interpreter of a process can import it, and every module of Ceph's manager does (Ceph 18.2). Here none has
# passwords.
if [ "$release" = trixie ]; then
    rm -r "$root/usr/lib/python3/dist-packages/bcrypt"
    touch "$root/usr/lib/python3/dist-packages/bcrypt.py"
fi
