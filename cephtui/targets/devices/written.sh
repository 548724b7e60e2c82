# Prints how many of the first bytes of a block device were ever written, where a loop device or a thin volume tells that;
# else nothing.
#
#   bash -c SCRIPT cephtui-device-written PATH SPAN SYS
#
# SYS is /sys.
path=$1 span=$2 sys=$3
# prints the bytes of a file that are no holes, from one offset to another
data_in() {
    if command -v perl >/dev/null; then
        perl -MErrno -e 'my ($name, $at, $end) = @ARGV; my $sum = 0; open(my $file, "<", $name) or exit 1;
            while ($at < $end) {
                my $data = sysseek($file, $at, 3);
                unless (defined $data) { $!{ENXIO} ? last : exit 1 }
                last if $data >= $end;
                my $hole = sysseek($file, $data, 4) or exit 1;
                $hole = $end if $hole > $end; $sum += $hole - $data; $at = $hole }
            printf "%.0f\n", $sum' "$@"
    elif command -v python3 >/dev/null; then
        python3 -c 'if True:
            import errno, os, sys
            at, end, total = int(sys.argv[2]), int(sys.argv[3]), 0
            file = os.open(sys.argv[1], os.O_RDONLY)
            while at < end:
                try:
                    data = os.lseek(file, at, os.SEEK_DATA)
                except OSError as error:
                    if error.errno == errno.ENXIO:
                        break
                    raise
                if data >= end:
                    break
                at = min(os.lseek(file, data, os.SEEK_HOLE), end)
                total += at - data
            print(total)' "$@"
    else
        return 1
    fi 2>/dev/null
}
# shellcheck disable=SC2046 # two words
set -- $(stat -Lc '%t %T' -- "$path" 2>/dev/null)
[ $# = 2 ] || exit 0
node=$(readlink -f -- "$sys/dev/block/$(( 0x$1 )):$(( 0x$2 ))")
if [ -r "$node/loop/backing_file" ]; then
    file=$(cat "$node/loop/backing_file") from=$(cat "$node/loop/offset")
    # in another mount namespace the path may lead to another file
    inode=$(losetup -nO BACK-INO "/dev/${node##*/}" 2>/dev/null | tr -d ' ')
    [ -z "$inode" ] || [ "$inode" = "$(stat -Lc %i -- "$file")" ] || exit 0
    data=$(data_in "$file" "$from" $(( from + span ))) && all=$(data_in "$file" 0 "$(stat -Lc %s -- "$file")") || exit 0
    # where holes can't be told all is data, and what is compressed takes less room than it has data
    [ "$data" -lt "$span" ] || [ $(( $(stat -Lc '%b * %B' -- "$file") )) -ge "$all" ] || exit 0
    echo "$data"
elif read -r _ length kind mapped _ < <(dmsetup status -- "$path" 2>/dev/null) && [ "$kind" = thin ]; then
    if [ "$mapped" -ge "$length" ]; then echo "$span"
    elif [ $(( length * 512 )) -eq "$span" ]; then echo $(( mapped * 512 )); fi
fi
exit 0
