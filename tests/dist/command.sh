#!/bin/sh
exec /usr/lib/cephtui/bin/python -I -m cephtui "$@"
