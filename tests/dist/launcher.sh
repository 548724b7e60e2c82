#!/bin/sh
# cephtui @VERSION@ with all that it needs but Python. It is unpacked at the first start.
fits='import lzma, sys
sys.exit(not ("@OLDEST@" <= "%d.%d" % sys.version_info[:2] <= "@NEWEST@"
    and sys.implementation._multiarch == "x86_64-linux-gnu" and not sys.abiflags))'
for python in python3 @PYTHONS@; do
    if "$python" -ISc "$fits" 2>/dev/null; then exec "$python" -IS "$0" "$@"; fi
done
there=$(python3 -V 2>&1) || there='no python3'
echo "cephtui needs Python @OLDEST@ to @NEWEST@ for x86_64 with glibc and lzma, and here is $there: install one" \
    "(Red Hat: dnf install python3.12), or run cephtui on another machine and name this one with --node" >&2
exit 1
