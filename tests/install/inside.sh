#!/bin/sh
# Runs a script in a tree of a root directory, as root without network: inside.sh ROOT AT SCRIPT KEPT...
# It is to run in namespaces of mounts, of networks and of processes of its own.
set -eu
root=$1 at=$2 script=$3
shift 3
tree=$(sh "$(dirname "$0")/../lab/root.sh" "$root" "$at" "$@")
mount -t proc proc "$tree/proc"
exec chroot "$tree" env -i HOME=/root TERM=xterm-256color LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/root/.local/bin bash -euc "$script"
