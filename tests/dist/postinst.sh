#!/bin/sh
set -e
if [ "$1" = configure ]; then
    py3compile -p cephtui /usr/lib/cephtui
fi
