# Prints how many of the first bytes of an image are in objects that exist, in the image itself or in what it is a clone of;
# then of some of these objects how many bytes were written, and how many they could have.
#
#   bash -c SCRIPT cephtui-image-written POOL IMAGE SPAN OBJECT_BYTES IMAGE_BYTES DATA_POOL PREFIX...
#
# SPAN are the bytes that are of interest, PREFIX is that of the names of the image's objects; more pools and prefixes are
# those of what it is a clone of. Nothing is known of objects in an erasure-coded pool.
set -o pipefail
pool=$1 image=$2
export span=$3 object_bytes=$4 image_bytes=$5
shift 5
{ read -r written && objects=$(cat); } < <(
    timeout 20 rbd diff --whole-object --pool "$pool" --image "$image" |
        awk -v span="$span" -v size="$object_bytes" -v most=16 '
            $3 == "data" && $1 < span {
                written += ($1 + $2 < span ? $1 + $2 : span) - $1
                for (at = $1; at < $1 + $2 && at < span; at += size) objects[count++] = int(at / size)
            }
            END {
                printf "%.0f\n", written
                step = count > most ? count / most : 1
                for (at = 0; at < count; at += step) print objects[int(at)]
            }' || echo failed
)
case "$written $objects" in *failed*) exit 1;; esac
sampled() { # how much of an object is written, and how much could be
    local number=$1 extents sum=0 from length over most=$object_bytes end
    for end in "$image_bytes" "$span"; do
        end=$(( end - number * object_bytes ))
        [ "$end" -ge "$most" ] || most=$end
    done
    shift
    while [ $# -ge 2 ]; do
        extents=$(timeout 10 rados --pool "$1" mapext "$(printf '%s.%016x' "$2" "$number")" 2>/dev/null) && break
        shift 2
    done
    [ $# -ge 2 ] || return 0
    while read -r from length; do
        [ -n "$length" ] || continue
        over=$(( 16#$from + 16#$length )) from=$(( 16#$from ))
        [ "$over" -le "$most" ] || over=$most
        [ "$over" -le "$from" ] || sum=$(( sum + over - from ))
    done <<< "$extents"
    echo "$sum $most"
}
export -f sampled
printf '%s\n' "$objects" | xargs -r -P 8 -I '{}' bash -c 'sampled "$@"' cephtui-image-sampled '{}' "$@" |
    awk -v written="$written" '{ done += $1; of += $2 } END { printf "%s %.0f %.0f\n", written, done, of }'
