# Runs hsbench, which takes its keys from arguments or from its environment only, with keys that are in neither.
#
#   bash -c SCRIPT cephtui-keys COMMAND...
#
# stdin: the access key and the secret key, a line each. The command begins with other words in its environment, of the
# same lengths. A pipe that is full holds it at its first line of output, before any request, until the keys have been
# written over these words in its memory: a program in Go copies its environment at its start, and knows no other copy.
# What others can read in /proc/PID/environ is the block that the kernel has made, and keeps the words.
# Exit status 79: that was not possible, and nothing was sent to the gateway.
set -u +ax
export LC_ALL=C
IFS= read -r access && IFS= read -r secret || { echo 'cephtui: no keys came on stdin' >&2; exit 79; }
exec </dev/null
trap : TERM # it ends with the command, whose last lines are still to come

word() {
    local letters
    letters=$(head -c 8192 /dev/urandom | tr -dc a-z)
    printf %s "${letters:0:${#1}}"
}
access_word=$(word "$access") secret_word=$(word "$secret")

# put START SIZE: the keys in place of the words in this region of its memory; how many is added to $done.
put() {
    local at name key
    while IFS=:= read -r at name _; do
        key=$access
        [ "$name" = AWS_ACCESS_KEY_ID ] || key=$secret
        printf %s "$key" |
            dd of="/proc/$pid/mem" conv=notrunc oflag=seek_bytes seek=$(($1 + at + ${#name} + 1)) && done+=1
    done < <(dd if="/proc/$pid/mem" bs=1M iflag=skip_bytes,count_bytes skip="$1" count="$2" |
        grep -aobF -e "AWS_ACCESS_KEY_ID=$access_word" -e "AWS_SECRET_ACCESS_KEY=$secret_word")
}

exec 5<> <(:)
filled=$(dd if=/dev/zero of=/dev/fd/5 bs=4096 oflag=nonblock 2>&1 | sed -n 's/ bytes.*//p')
AWS_ACCESS_KEY_ID=$access_word AWS_SECRET_ACCESS_KEY=$secret_word "$@" 2>&5 5<&- &
pid=$! done=
trap '' TERM # a signal that ends a `wait` can cost the command's exit status; the command has begun with the default
is_held() { grep -qs pipe_w "/proc/$pid"/task/*/wchan; }
for _ in $(seq 600); do
    is_held && break
    kill -0 "$pid" || break
    sleep 0.05
done 2>/dev/null
is_held && while [ "${#done}" -lt 2 ] && read -r range mode _ _ _ name; do
    case "$mode $name" in 'rw-p ' | 'rw-p [heap]' | 'rw-p [anon'*) ;; *) continue ;; esac
    put $((16#${range%-*})) $((16#${range#*-} - 16#${range%-*}))
done <"/proc/$pid/maps" 2>/dev/null
unset access secret
if [ "${#done}" -lt 2 ] && kill -KILL "$pid" 2>/dev/null; then
    wait "$pid" 2>/dev/null
    echo "cephtui: the keys can't be given to ${1##*/}: this user may not write to the memory of its processes" >&2
    exit 79
fi

{ head -c "$filled" >/dev/null && exec cat; } </dev/fd/5 >&2 5<&- &
exec 5<&-
wait "$pid"
status=$?
wait
exit "$status"
