#!/bin/sh
# cephtui @VERSION@ with all that it needs but Python. It is unpacked at the first start.
fits='import lzma, sys
if (not "@OLDEST@" <= "%d.%d" % sys.version_info[:2] <= "@NEWEST@" or sys.abiflags
    or sys.implementation._multiarch != "x86_64-linux-gnu"): sys.exit(1)
sys.exit(2 * (open(sys.argv[1], "rb").seek(0, 2) != @_SIZE_@))'
for python in python3 @PYTHONS@; do
    "$python" -ISc "$fits" "$0" 2>/dev/null && exec "$python" -IS "$0" "$@"
    if [ $? -eq 2 ]; then
        echo "cephtui: $0 is incomplete: copy it again" >&2
        exit 1
    fi
done
there=$(python3 -V 2>&1) || there='no python3'
echo "cephtui needs Python @OLDEST@ to @NEWEST@ for x86_64 with glibc and lzma, and here is $there: install one" \
    "(Red Hat: dnf install python3.12), or run cephtui on another machine and name this one with --node" >&2
exit 1
