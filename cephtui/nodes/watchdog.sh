# Runs a command on a node and ends all its processes, even where the console was killed.
#
#   bash -c SCRIPT cephtui-watchdog TOKEN LIMIT LOCK OWNER IDENTITY DETACHED MACHINE WORDS ACCESS... COMMAND...
#
# stdin is the console's heartbeat, a newline every few seconds, and a line "go" among them begins the command. What
# stands behind "secret " in lines before that is the command's stdin, and in no argument, environment or file. A line
# "later" before it keeps that stdin open for a line "on", which comes after "go" and is passed on. The end of stdin (the
# console stopped the run, or died) and its silence (the link is down) both end the command: TERM, so that it can print
# its figures, then KILL for every process that carries TOKEN in its environment, forked workers that left the process
# group included. So does the end of this shell itself, for which the watcher checks at each heartbeat.
# LIMIT seconds are the last bound; LOCK, a file or empty, is held while any of the processes lives. With OWNER it is
# a file of cephtui's that has to carry this owner in its mark (targets/file.py); IDENTITY, not empty, is what its path has
# to lead to: DEVICE:INODE, or MAJOR:MINOR of a block device. With DETACHED, not empty, what COMMAND
# has left in the background lives on where it has ended by itself, and LOCK is held by this shell and its watcher only.
# MACHINE, the text of machine.sh or empty, reports on stderr what the machine does as long as the command runs.
# ACCESS, a command of so many WORDS, prints a ceph.conf that is a keyring, too. It is kept where only this user can read
# it, in memory if possible, and COMMAND finds it by its environment; however this ends, it is removed. Where there are
# a ceph.conf and keyring in /etc/ceph, nothing is fetched.
# "cephtui ready TOKEN" on stdout and stderr ends the output of a login shell, "cephtui started TOKEN" on stdout
# is followed by the command's own output.
# The exit status is the command's, or 74: no such LOCK, 75: LOCK is held by another, 76: the heartbeat was silent,
# 77: stdin ended before the start, 78: no input came on stdin, 79: ACCESS failed.
set -u +ax  # whatever the login shell has set, no variable is exported and no line is printed
token=$1 limit=$2 lock=$3 owner=$4 identity=$5 detached=$6 machine=$7 words=$8 files=
shift 8
trap '' PIPE HUP
exec 3<&0 </dev/null

identity_of() {
    [ -b "$1" ] || { stat -Lc %d:%i -- "$1"; return; }
    set -- $(stat -Lc '0x%t 0x%T' -- "$1")
    echo "$(( $1 )):$(( $2 ))"
}

if [ -n "$lock" ]; then
    { exec 9<"$lock"; } 2>/dev/null || { echo "cephtui: $lock can't be opened" >&2; exit 74; }
    # not at once: a console that only tests the lock holds it for a moment
    flock -w 1 9 || { echo "cephtui: $lock is in use by another run" >&2; exit 75; }
    # another run may have removed the file before: the tool would create a new one, which no undo list names
    [ "$(stat -Lc %d:%i "/proc/$$/fd/9")" = "$(stat -Lc %d:%i -- "$lock" 2>/dev/null)" ] ||
        { echo "cephtui: $lock was removed" >&2; exit 74; }
    # what its path leads to may have been replaced since it was inspected
    [ -z "$identity" ] || [ "$(identity_of "/proc/$$/fd/9")" = "$identity" ] ||
        { echo "cephtui: $lock leads to something else than when it was inspected" >&2; exit 74; }
    # another run may have taken the file over before it was held
    [ -z "$owner" ] || [ "$(tail -c 4096 <&9 | tr -d '\0' | sed -n 2p)" = "$owner" ] ||
        { echo "cephtui: $lock is in use by another run" >&2; exit 75; }
fi

# a line of the console within 15 s, into the variable $1. Only in POSIX mode does bash measure that by a timer; else it
# compares the time of day, which somebody may set
line_of_console() {
    local status
    set -o posix
    IFS= read -r -t 15 -u 3 "$1"
    status=$?
    set +o posix
    return "$status"
}

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

forget() { [ -z "$files" ] || rm -rf -- "$files"; }

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
    forget
}

# it has a last line to print, which a console that is gone does not take
end_reporter() {
    kill -TERM "$reporter"
    for _ in $(seq 100); do
        kill -0 "$reporter" || return
        sleep 0.02
    done
    kill -KILL "$reporter"
}

watch() {
    local silent=0 line
    [ -n "$later" ] || exec 5<&-
    while kill -0 $$; do
        line_of_console line && { [ "$line" != on ] || [ -z "$later" ] || echo on >&5; continue; }
        [ $? -gt 128 ] && silent=76
        break
    done
    trap '' TERM
    end
    exit "$silent"
}

line_of_console word ||
    { echo "cephtui: nothing comes in on stdin: does the prefix pass it on (kubectl exec -i)?" >&2; exit 78; }
has_own() { [ -r /etc/ceph/ceph.conf ] && cat /etc/ceph/*keyring >/dev/null 2>&1; }

if [ "$words" -gt 0 ] && has_own; then
    shift "$words"
elif [ "$words" -gt 0 ]; then
    trap forget EXIT
    for folder in /run /dev/shm /tmp; do
        mkdir -m 700 -- "$folder/cephtui-$token" 2>/dev/null && files=$folder/cephtui-$token && break
    done
    [ -n "$files" ] || { echo "cephtui: no directory for ceph.conf and keyring can be made" >&2; exit 79; }
    (umask 077; env CEPHTUI_RUN="$token" timeout -k 1 25 "${@:1:$words}" 3<&- 9<&- >"$files/ceph.conf") ||
        { echo "cephtui: ceph.conf and keyring can't be fetched through ceph_prefix" >&2; exit 79; }
    shift "$words"
    set -- env CEPH_CONF="$files/ceph.conf" CEPH_KEYRING="$files/ceph.conf" "$@"
fi
if [ -n "$machine" ]; then
    eval "$machine"
    look_around 2>/dev/null
fi
printf 'cephtui ready %s\n' "$token" >&2
printf 'cephtui ready %s\n' "$token"
word='' secrets='' later=''
until [ "$word" = go ]; do
    line_of_console word || { [ $? -gt 128 ] && exit 76; exit 77; }
    case $word in "secret "*) secrets+=${word#secret }$'\n' ;; later) later=yes ;; esac
done
exec 5</dev/null
if [ -n "$later" ]; then
    exec 5<> <(:)  # a pipe that has no end as long as it is open here
    printf %s "$secrets" >&5
elif [ -n "$secrets" ]; then
    exec 5< <(printf %s "$secrets")
fi
unset word secrets
printf 'cephtui started %s\n' "$token"
exec 4>&2 2>/dev/null  # the shell has a message of its own on a command that was killed, whenever it learns of it
run() {
    [ -z "$detached" ] || exec 9<&-
    exec env CEPHTUI_RUN="$token" timeout -k 3 "$limit" "$@" <&5 2>&4 3<&- 4>&- 5<&-
}
run "$@" &
tool=$!
watch >/dev/null 4>&- &
watcher=$!
reporter=''
[ -z "$machine" ] || { report_machine "$tool" >/dev/null & reporter=$!; }
exec 5<&-

wait "$tool"
status=$?
kill "$watcher" 2>/dev/null
wait "$watcher"
ended=$?
[ "$ended" -eq 76 ] && [ "$status" -ne 0 ] && status=76
[ -z "$reporter" ] || end_reporter
case $detached:$status in
    *:124 | *:137 | :*) sweep; report >&4 ;; # also where the limit has ended what it was
esac
exit "$status"
