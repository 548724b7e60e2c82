#!/bin/sh
# Prints the packages that have Debian's kernel, by apt's lists: one, or where they are apart those of its parts.
needed() { apt-cache depends --no-recommends --no-suggests "$1" | sed -n 's/^ *Depends: *//p'; }
image=$(needed linux-image-amd64 | grep '^linux-image-' | head -n 1)
[ -n "$image" ] || exit 1
echo "$image"
for each in "$image" linux-base-amd64; do needed "$each"; done 2>/dev/null | grep '^linux-[a-z]*-[0-9]' || :
