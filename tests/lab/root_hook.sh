#!/bin/sh
# What a root directory of a release has besides its packages: root_hook.sh ROOT RELEASE, while ROOT has apt's lists.
set -eu
root=$1 release=$2

# The kernel of the virtual machine.
# shellcheck disable=SC2016
chroot "$root" sh -euc 'cd /tmp
    needed() { apt-cache depends --no-recommends --no-suggests "$1" | sed -n "s/^ *Depends: *//p"; }
    image=$(needed linux-image-amd64 | grep "^linux-image-" | head -n 1)
    # Where it is in several packages. shellcheck disable=SC2046
    others=$(for each in "$image" linux-base-amd64; do needed "$each"; done | grep "^linux-[a-z]*-[0-9]" || :)
    apt-get -q download "$image" $others'
sh "$(dirname "$0")/kernel_files.sh" "$root" "$root"/tmp/linux-*.deb
rm "$root"/tmp/linux-*.deb

# No second interpreter of a process can import it, and every module of Ceph's manager does (Ceph 18.2). Here none has
# passwords.
if [ "$release" = trixie ]; then
    rm -r "$root/usr/lib/python3/dist-packages/bcrypt"
    touch "$root/usr/lib/python3/dist-packages/bcrypt.py"
fi
