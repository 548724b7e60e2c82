# Runs a command on a node and leaves nothing of it behind, whatever becomes of the console.
#
#   bash -c SCRIPT cephtui-watchdog TOKEN LIMIT LOCK COMMAND...
#
# stdin is the console's heartbeat, a newline every few seconds. Its end (the console stopped the run, or died) and
# its silence (the link is down) both end the command: TERM, so that it can print its figures, then KILL for every
# process that carries TOKEN in its environment, forked workers that left the process group included. So does the end
# of this shell itself, which the watcher looks for at each heartbeat.
# LIMIT seconds are the last bound; LOCK, a file or nothing, is held while any of the processes lives.
# The exit status is the command's, or 74: no such LOCK, 75: LOCK is held by another, 76: the heartbeat was silent.
set -u
token=$1 limit=$2 lock=$3
shift 3
trap '' PIPE HUP
exec 3<&0 </dev/null

if [ -n "$lock" ]; then
    { exec 9<"$lock"; } 2>/dev/null || { echo "cephtui: $lock can't be opened" >&2; exit 74; }
    # not at once: whoever looks whether it is held holds it for a moment
    flock -w 1 9 || { echo "cephtui: $lock is in use by another run" >&2; exit 75; }
    # who held it may have removed the file: the tool would make a new one, which nobody knows
    [ "$(stat -Lc %d:%i "/proc/$$/fd/9")" = "$(stat -Lc %d:%i -- "$lock" 2>/dev/null)" ] ||
        { echo "cephtui: $lock is gone" >&2; exit 74; }
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

watch() {
    local silent=0
    while kill -0 $$; do
        read -r -t 15 -u 3 _ && continue
        [ $? -gt 128 ] && silent=76
        break
    done
    trap '' TERM
    end
    exit "$silent"
}

printf 'cephtui started %s\n' "$token"
env CEPHTUI_RUN="$token" timeout -k 3 "$limit" "$@" 3<&- &
tool=$!
watch >/dev/null 2>&1 9<&- &
watcher=$!

wait "$tool"
status=$?
kill "$watcher" 2>/dev/null
wait "$watcher"
[ $? -eq 76 ] && [ "$status" -ne 0 ] && status=76
sweep
exit "$status"
