#!/bin/sh
# cephtui @VERSION@ with all that it needs but Python. It is unpacked at the first start.
fits='import lzma, sys
sys.exit(not ("@OLDEST@" <= "%d.%d" % sys.version_info[:2] <= "@NEWEST@"
    and sys.implementation._multiarch == "x86_64-linux-gnu" and not sys.abiflags))'
for python in python3 @PYTHONS@; do
    if "$python" -ISc "$fits" 2>/dev/null; then exec "$python" -IS "$0" "$@"; fi
done
there=$(python3 -V 2>&1) || there='no python3'
echo "cephtui: here is $there, and Python @OLDEST@ to @NEWEST@ for x86_64 and glibc is needed, with its module lzma:" \
    "install one (Debian: apt-get install python3; Red Hat: dnf install python@NEWEST_RPM@)," \
    "or run cephtui on another machine, with --node for this one" >&2
exit 1
