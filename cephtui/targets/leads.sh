# Functions on what a path leads to, and on who uses that, for the scripts that follow: file_inspect.sh and
# devices/inspect.sh. A path may be a link, a hard link, on a bind mount or behind a loop device: all of them are decided
# by what is at the end. The script that this is part of has `say`, which prints KEY<tab>VALUE...
# the kernel's \040 of $1, in $plain; %b would take a digit after it too
unescape() {
    plain=$1
    case $1 in *\\*) printf -v plain -- "${1//%/%%}"; esac
}
id_of() { stat -Lc %d:%i -- "$1" 2>/dev/null; }

# every path of a file or directory, through bind mounts too: those of the same file system that show it
paths_of() {
    local real root point number best='' inside='' device=''
    real=$(readlink -f -- "$1") && [ -n "$real" ] || return
    echo "$real"
    # without the slash at the end of a root directory: in a pattern bash 5.2 does not match "${root%/}" that is empty
    while read -r _ _ number root point _; do
        unescape "$root"; root=${plain%/}; unescape "$point"; point=${plain%/}
        case $real/ in "$point"/*) ;; *) continue; esac
        [ "${#point}" -ge "${#best}" ] && best=$point device=$number inside=$root${real#"$point"}
    done < /proc/self/mountinfo
    while read -r _ _ number root point _; do
        [ "$number" = "$device" ] || continue
        unescape "$root"; root=${plain%/}; unescape "$point"; point=${plain%/}
        case $inside/ in "$root"/*) echo "$point${inside#"$root"}"; esac
    done < /proc/self/mountinfo
}

# whether it begins with the label of BlueStore, or has one of the copies that it keeps
has_label() {
    local at label size
    size=$(stat -Lc %s -- "$1") # of a device 0
    for at in 0 1073741824 10737418240 107374182400 1073741824000; do
        [ "$size" -eq 0 ] || [ "$at" -lt "$size" ] || break
        label=$(dd if="$1" bs=22 count=1 skip="$at" iflag=skip_bytes,fullblock status=none 2>/dev/null | tr -d '\0')
        [ "$label" = 'bluestore block device' ] && return
    done
    return 1
}

# says `osd NUMBER` for a path in the data directory of an OSD, the number empty where it is not known; and `osd-data FILE`
# for a file that is an OSD's by whatever name
osd_of() {
    local path at
    paths_of "$1" | sort -u | while read -r path; do
        case $path/ in /var/lib/ceph/osd/*-[0-9]*/* | /var/lib/ceph/*/osd.[0-9]*/*) say osd ''; esac
        at=${path%/*}
        while [ -n "$at" ]; do
            [ -f "$at/whoami" ] && [ -f "$at/ceph_fsid" ] && say osd "$(head -c 9 -- "$at/whoami" 2>/dev/null)"
            at=${at%/*}
        done
    done
    [ -f "$1" ] || return 0
    has_label "$1" && say osd-data "$1"
    for path in /var/lib/ceph/osd/*-[0-9]* /var/lib/ceph/*/osd.[0-9]*; do
        [ -d "$path" ] && find -L "$path" -maxdepth 1 -samefile "$1" 2>/dev/null | grep -q . && say osd-data "$1"
    done
    return 0
}

# says who has a file open, mapped, as swap space, or behind a device: `opened PROCESS NAME`, `holder DEVICE`, `swap FILE`
users_of() {
    local id=$1 path=$2 process found device inode number
    inode=${id#*:} number=$(( ${id%:*} ))
    # with the inode's number first: to follow every link to a file could hang on a dead mount
    for found in $(grep -lsx "ino:	$inode" /proc/[0-9]*/fdinfo/* 2>/dev/null) \
        $(find /proc/[0-9]*/fd -maxdepth 1 -lname "$(readlink -f -- "$path")" 2>/dev/null); do
        found=${found/fdinfo/fd}
        [ "$(id_of "$found")" = "$id" ] && process=${found#/proc/} && process=${process%%/*} && [ "$process" != $$ ] &&
            say opened "$process" "$(cat "/proc/$process/comm" 2>/dev/null)"
    done
    device=$(printf '%02x:%02x' $(( (number >> 8 & 0xfff) | (number >> 32 & ~0xfff) )) \
        $(( (number & 0xff) | (number >> 12 & ~0xff) )))
    for found in $(grep -ls " $device $inode " /proc/[0-9]*/maps 2>/dev/null); do
        process=${found#/proc/} process=${process%%/*}
        say opened "$process" "$(cat "/proc/$process/comm" 2>/dev/null)"
    done
    for found in $(losetup -nO NAME -j "$path" 2>/dev/null); do say holder "${found##*/}"; done
    for found in /sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path \
        /sys/kernel/config/target/core/*/*/udev_path /sys/block/loop*/loop/backing_file; do
        [ -r "$found" ] && [ "$(id_of "$(cat "$found" 2>/dev/null)")" = "$id" ] || continue
        case $found in */loop/*) found=${found%/loop/*};; *) found=${found%/*};; esac
        say holder "${found##*/}"
    done
    while read -r found _; do
        unescape "$found"; [ "$(id_of "$plain")" = "$id" ] && say swap "$plain"
    done < /proc/swaps
}

# says `claim free`, or `claim busy` where anybody has a file open or has locked a part of it, in whatever container or on
# whatever host; nothing where that can't be told. A lease (F_SETLEASE) is what the kernel gives where nobody has it open.
# Between two tries it is closed, for a while that chance decides: else two that ask at the same time refuse each other
claim_of() {
    local program
    if command -v perl >/dev/null; then
        program='use Fcntl; $SIG{IO} = "IGNORE"; # of one that asks while this one has the lease
            for (1 .. 8) {
                my $l = pack("s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0);
                open(my $f, "<", $ARGV[0]) or exit 77; fcntl($f, F_GETLK, $l); (unpack("s", $l))[0] == F_UNLCK or exit 75;
                fcntl($f, 1024, F_WRLCK) and exit 0; $!{EAGAIN} or exit 77;
                close($f); select(undef, undef, undef, 0.03 + rand(0.07)) }
            exit 75'
        perl -MErrno -e "$program" "$1"
    elif command -v python3 >/dev/null; then
        program='if True:
            import errno, fcntl, random, signal, struct, sys, time
            signal.signal(signal.SIGIO, signal.SIG_IGN)
            for _ in range(8):
                with open(sys.argv[1], "rb") as file:
                    lock = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack("hhxxxxqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
                    if struct.unpack("hhxxxxqqi4x", lock)[0] != fcntl.F_UNLCK:
                        sys.exit(75)
                    try:
                        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
                        sys.exit(0)
                    except OSError as error:
                        if error.errno != errno.EAGAIN:
                            sys.exit(77)
                time.sleep(random.uniform(0.03, 0.1))
            sys.exit(75)'
        python3 -c "$program" "$1"
    fi >/dev/null 2>&1
    case $? in 0) say claim free;; 75) say claim busy;; esac
}
