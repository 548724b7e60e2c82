# Runs a command on a node and ends all its processes, even where the console was killed.
#
#   bash -c SCRIPT cephtui-watchdog TOKEN LIMIT LOCK OWNER COMMAND...
#
# stdin is the console's heartbeat, a newline every few seconds, and a line "go" among them begins the command. Its end
# (the console stopped the run, or died) and its silence (the link is down) both end the command: TERM, so that it can
# print its figures, then KILL for every process that carries TOKEN in its environment, forked workers that left the
# process group included. So does the end of this shell itself, for which the watcher checks at each heartbeat.
# LIMIT seconds are the last bound; LOCK, a file or empty, is held while any of the processes lives. With OWNER it is
# a file of cephtui's that has to carry this owner in its mark (targets/file.py).
# "cephtui ready TOKEN" on stdout and stderr ends the output of a login shell, "cephtui started TOKEN" on stdout
# is followed by the command's own output.
# The exit status is the command's, or 74: no such LOCK, 75: LOCK is held by another, 76: the heartbeat was silent,
# 77: stdin ended before the start, 78: no input came on stdin.
# A login shell may be fish, which sees an escape in two backslashes and in one before a quote: there are none here.
set -u
token=$1 limit=$2 lock=$3 owner=$4
shift 4
trap '' PIPE HUP
exec 3<&0 </dev/null

if [ -n "$lock" ]; then
    { exec 9<"$lock"; } 2>/dev/null || { echo "cephtui: $lock can't be opened" >&2; exit 74; }
    # not at once: a console that only tests the lock holds it for a moment
    flock -w 1 9 || { echo "cephtui: $lock is in use by another run" >&2; exit 75; }
    # another run may have removed the file before: the tool would create a new one, which no undo list names
    [ "$(stat -Lc %d:%i "/proc/$$/fd/9")" = "$(stat -Lc %d:%i -- "$lock" 2>/dev/null)" ] ||
        { echo "cephtui: $lock was removed" >&2; exit 74; }
    # another run may have taken the file over before it was held
    [ -z "$owner" ] || [ "$(tail -c 4096 <&9 | tr -d '\0' | sed -n 2p)" = "$owner" ] ||
        { echo "cephtui: $lock is in use by another run" >&2; exit 75; }
fi

mine() { grep -lzsx -- "CEPHTUI_RUN=$token" /proc/[0-9]*/environ | cut -d / -f 3; }

# KILL, for a second: a process may fork while the others are searched for
sweep() {
    local pids
    for _ in $(seq 10); do
        pids=$(mine)
        [ -n "$pids" ] || return
        kill -KILL $pids 2>/dev/null
        sleep 0.1
    done
}

# A process that KILL does not end hangs in the kernel, in state D. The state stands after the name, of any characters.
report() {
    local pid stat name
    for pid in $(mine); do
        { stat=$(<"/proc/$pid/stat") && name=$(<"/proc/$pid/comm"); } 2>/dev/null || continue
        stat=${stat##*) }
        echo "cephtui: process $pid ($name) can't be ended, it is in state ${stat%% *}"
    done
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

read -r -t 15 -u 3 _ ||
    { echo "cephtui: nothing comes in on stdin: does the prefix pass it on (kubectl exec -i)?" >&2; exit 78; }
printf 'cephtui ready %s\n' "$token" >&2
printf 'cephtui ready %s\n' "$token"
word=
until [ "$word" = go ]; do
    read -r -t 15 -u 3 word && continue
    [ $? -gt 128 ] && exit 76
    exit 77
done
printf 'cephtui started %s\n' "$token"
exec 4>&2 2>/dev/null  # the shell has a message of its own on a command that was killed, whenever it learns of it
env CEPHTUI_RUN="$token" timeout -k 3 "$limit" "$@" 2>&4 3<&- 4>&- &
tool=$!
watch >/dev/null 4>&- 9<&- &
watcher=$!

wait "$tool"
status=$?
kill "$watcher" 2>/dev/null
wait "$watcher"
[ $? -eq 76 ] && [ "$status" -ne 0 ] && status=76
sweep
report >&4
exit "$status"
