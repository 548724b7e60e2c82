# Functions on an image that the kernel has mapped, for the scripts that follow: krbd_inspect.sh, krbd_place.sh,
# krbd_withdraw.sh. They need no rbd program, which may be in a container.
say() { printf '%s\t%s\n' "$1" "$2"; }
# the numbers N of /dev/rbdN
mappings_of() {
    local file name
    for file in /sys/bus/rbd/devices/*/name; do
        { read -r name < "$file"; } 2>/dev/null && [ "$name" = "$1" ] && file=${file%/name} && echo "${file##*/}"
    done
}
# the device, MAJOR:MINOR, of the file system that is mounted on a directory
mounted_on() {
    local number point found=
    while read -r _ _ number _ point _; do
        [ "$point" = "$1" ] && found=$number
    done < /proc/self/mountinfo
    echo "$found"
}
# MAJOR:MINOR of a device
number_of() {
    # shellcheck disable=SC2046 # two words
    set -- $(stat -Lc '%t %T' -- "$1" 2>/dev/null)
    [ $# = 2 ] && echo "$(( 0x$1 )):$(( 0x$2 ))"
}
# the processes that have a path, or what is below it, open: NAME (PID)
holders_of() {
    local link seen=' '
    find /proc/[0-9]*/{cwd,root,exe,fd} -maxdepth 1 '(' -lname "$1" -o -lname "$1/*" ')' 2>/dev/null |
        while read -r link; do
            link=${link#/proc/} link=${link%%/*}
            case $seen in *" $link "*) continue;; esac
            seen="$seen$link "
            echo "$(cat "/proc/$link/comm" 2>/dev/null) ($link)"
        done
}
listed() { paste -sd, | sed 's/,/, /g'; }
