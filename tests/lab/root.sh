#!/bin/sh
# Makes a tree of a root directory, and says where: root.sh ROOT AT KEPT...
# What is written to it is in memory. The directories KEPT, and the devices, are those of this machine, under the same
# names. It all ends with the namespace of mounts in which this runs.
set -eu
root=$1 at=$2
shift 2
mkdir -p "$at"
mount -t tmpfs -o mode=755 tmpfs "$at"
mkdir "$at/upper" "$at/work" "$at/tree"
mount -t overlay -o "lowerdir=$root,upperdir=$at/upper,workdir=$at/work" overlay "$at/tree"
mount --rbind /dev "$at/tree/dev"
mount --rbind /sys "$at/tree/sys"
for kept; do
    mkdir -p "$at/tree$kept"
    mount --bind "$kept" "$at/tree$kept"
done
echo "$at/tree"
