#!/bin/sh
set -e
py3clean -p cephtui /usr/lib/cephtui
