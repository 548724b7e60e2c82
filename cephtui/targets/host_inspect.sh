# Reports under which addresses a node can be reached, and a port on which nothing listens.
#
#   bash -c SCRIPT cephtui-host FIRST_PORT LAST_PORT
#
# A line is KEY<tab>VALUE.
say() { printf '%s\t%s\n' "$1" "$2"; }
say interfaces "$(ip -j address show up 2>/dev/null)"
for port in $(seq "$1" "$2"); do
    # the local address is the first of two in a line, in hexadecimal
    grep -qsE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$port") " /proc/net/tcp /proc/net/tcp6 && continue
    say port "$port"
    break
done
set -- ${SSH_CONNECTION:-}
say ssh "${3:-}"
exit 0
