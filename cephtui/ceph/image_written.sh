# Prints how many bytes of the first objects of an image were ever written, in the image itself or in what it is a clone of.
#
#   bash -c SCRIPT cephtui-image-written POOL IMAGE SPAN
#
# Whole objects are counted: of what was written in an object nothing is known. SPAN are the bytes that are of interest.
set -o pipefail
timeout 20 rbd diff --whole-object --pool "$1" --image "$2" | awk -v span="$3" '
    $3 == "data" && $1 < span { written += ($1 + $2 < span ? $1 + $2 : span) - $1 }
    END { printf "%.0f\n", written }'
