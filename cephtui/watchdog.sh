# Runs a command on a node and leaves nothing of it behind, whatever becomes of the console.
#
#   bash -c SCRIPT cephtui-watchdog TOKEN LIMIT LOCK COMMAND...
#
# stdin is the console's heartbeat, a newline every few seconds. Its end (the console stopped the run, or died) and
# its silence (the link is down) both end the command: TERM, so that it can print its figures, then KILL for every
# process that carries TOKEN in its environment, forked workers that left the process group included.
# LIMIT seconds are the last bound; LOCK, a file or nothing, is held while any of the processes lives.
set -u
token=$1 limit=$2 lock=$3
shift 3
trap '' PIPE HUP
exec 3<&0 </dev/null

if [ -n "$lock" ]; then
    exec 9<"$lock" || exit 74
    flock -n 9 || { echo "cephtui: $lock is in use by another run" >&2; exit 75; }
fi

mine() { grep -lzsx -- "CEPHTUI_RUN=$token" /proc/[0-9]*/environ | cut -d / -f 3; }

sweep() {
    for pid in $(mine); do kill -KILL "$pid" 2>/dev/null; done
}

end() {
    kill -TERM "$tool" 2>/dev/null
    for _ in $(seq 30); do
        kill -0 "$tool" 2>/dev/null || break
        sleep 0.1
    done
    sweep
}

printf 'cephtui started %s\n' "$token"
env CEPHTUI_RUN="$token" timeout -k 3 "$limit" "$@" 3<&- &
tool=$!
{ while read -r -t 15 -u 3 _; do :; done; end; } >/dev/null 2>&1 9<&- &
watcher=$!

wait "$tool"
status=$?
kill "$watcher" 2>/dev/null
sweep
exit "$status"
