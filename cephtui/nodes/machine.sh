# What a whole machine does beside the benchmark: functions for watchdog.sh, which evaluates this text.
#
# From the begin of the command to its end there is a line each second on descriptor 4, in one write of less than 4 KiB.
# Behind a mark with the run's token, which no tool prints, it has groups of words, with a control character before each
# (nodes/machine.py). A group of what is missing or can't be read is left out. Nothing is forked in between but ss, twice a
# minute.
declare -A disks=()
cpus=0 disordered=0 needless=0 swap=-1 nics=' ' ceph='' log_end='' gone='' turn=0 family=()
cgroups=/sys/fs/cgroup
[ -e "$cgroups/cgroup.controllers" ] || cgroups+=/unified  # version 2 beside version 1

# what is looked up before the command begins
look_around() {
    local name path at log=() lines=()
    for path in /sys/block/*; do
        name=${path##*/}
        case $name in rbd*) disks[$name]=0 ;; *) [ ! -e "$path/device" ] || disks[$name]=0 ;; esac
    done
    lines_of /proc/stat
    for name in "${lines[@]%% *}"; do
        case $name in cpu[0-9]*) cpus=$((cpus + 1)) ;; esac
    done
    lines_of /proc/net/dev
    for name in "${lines[@]%%:*}"; do
        name=${name##* }
        # those of containers and VMs count packets once more
        [ ! -e "/sys/class/net/$name/device" ] || nics+="$name "
    done
    # only where all processes are in sight, what is not theirs is that of other programs
    [ "$(readlink /proc/self/ns/pid)" != 'pid:[4026531836]' ] || ! read -r _ </proc/1/comm || daemons_of_ceph
    lines_of /proc/net/netstat
    set -- ${lines[0]-}
    for ((at = $#; at > 0; at--)); do
        case ${!at} in TCPOFOQueue) disordered=$at ;; TCPDSACKRecvSegs) needless=$at ;; esac
    done
    lines_of /proc/vmstat
    for at in "${!lines[@]}"; do
        case ${lines[at]} in 'pswpin '*) swap=$at ;; esac
    done
    mapfile -t log < <(dmesg)
    [ ${#log[@]} -eq 0 ] || log_end=${log[-1]}
}

daemons_of_ceph() {
    local path name
    ceph=' '
    for path in /proc/[0-9]*; do
        read -r name <"$path/comm" && case $name in ceph-*|radosgw*|rbd-*) ceph+="${path##*/} " ;; esac
    done
}

# the lines of a file, none of one that can't be read
lines_of() { lines=() && mapfile -t lines <"$1"; }

# a group of words behind the others, as long as there is room
group() { [ $((${#record} + ${#1})) -gt 3800 ] || record+=$'\x1f'$1; }

# ticks in user mode and in the kernel of some processes, with those of their children that have ended
ticks_of() {
    local name=$1 pid line user=0 kernel=0
    shift
    for pid; do
        read -r line <"/proc/$pid/stat" || { [ "$name" = own ] || gone=yes; continue; }
        set -- ${line##*) }
        user=$((user + ${12:-0} + ${14:-0})) kernel=$((kernel + ${13:-0} + ${15:-0}))
    done
    group "$name $user $kernel"
}

# nanoseconds in which the first threads of processes waited for a CPU, and in which they had one
waits_of() {
    local pid ran waited had=0 sum=0
    for pid; do
        read -r ran waited _ <"/proc/$pid/schedstat" && had=$((had + ran)) sum=$((sum + waited))
    done
    group "waited $sum $had"
}

# microseconds of all that is in a cgroup, user mode and kernel: threads of the kernel are in none
cgroups_time() {
    local path name used sum=0
    for path in "$cgroups"/*/cpu.stat; do
        read -r name used <"$path" && [ "$name" = usage_usec ] && sum=$((sum + used))
    done
    [ "$sum" -eq 0 ] || group "cgroups $sum"
}

# ticks in user mode of the programs that are in sight and are neither the command nor Ceph's, of normal priority and of
# a lower one, unless these are too many
others_in_sight() {
    local path line user=0 nice=0 own=" $$ $BASHPID ${family[*]} "
    set -- /proc/[0-9]*
    [ $# -le 150 ] || return
    for path; do
        case $own in *" ${path##*/} "*) continue ;; esac
        read -r line <"$path/stat" || continue
        case $line in *'(ceph-'*|*'(radosgw)'*|*'(rbd-'*) continue ;; esac
        set -- ${line##*) }
        if [ "${17:-0}" -gt 0 ]; then nice=$((nice + ${12:-0})); else user=$((user + ${12:-0})); fi
    done
    group "others $user $nice"
}

# a process and its descendants; none where these can't be known, or are too many
family_of() {
    local at=0 children=''
    family=("$1")
    [ -r "/proc/$1/task/$1/children" ] || family=()
    while [ "$at" -lt "${#family[@]}" ]; do
        read -r children <"/proc/${family[at]}/task/${family[at]}/children"  # a line without an end
        family+=($children) children='' at=$((at + 1))
        [ "$at" -le 200 ] || family=()
    done
}

heat() {
    local path count events=0 milliseconds=0 files=0
    for path in /sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count; do
        read -r count <"$path" || continue
        events=$((events + count)) files=$((files + 1))
        read -r count <"${path%count}total_time_ms" && milliseconds=$((milliseconds + count))
    done
    [ "$files" -eq 0 ] || group "heat $events $milliseconds"
}

# how often a quota of the cgroups that a process is in ran out, and nanoseconds for which it held their threads back
quota_of() {
    local line lines=() top below name value times='' nanoseconds=0
    lines_of "/proc/$1/cgroup"
    for line in "${lines[@]}"; do
        line=${line#*:}
        case $line in
            :/*) top=$cgroups ;;
            cpu:/*|cpu,cpuacct:/*) top=/sys/fs/cgroup/${line%%:*} ;;  # version 1
            *) continue ;;
        esac
        below=${line#*:} below=${below%/}/
        while [ -n "$below" ]; do
            below=${below%/*}
            while read -r name value; do
                case $name in
                    nr_throttled) times=$((times + value)) ;;
                    throttled_usec) nanoseconds=$((nanoseconds + 1000 * value)) ;;
                    throttled_time) nanoseconds=$((nanoseconds + value)) ;;
                esac
            done <"$top$below/cpu.stat"
        done
    done
    [ -z "$times" ] || group "quota $times $nanoseconds"
}

errors_of_log() {
    local log=() at most=0
    [ -n "$log_end" ] || return
    mapfile -t log < <(dmesg)
    for ((at = ${#log[@]} - 1; at >= 0; at--)); do
        [ "${log[at]}" != "$log_end" ] && [ "$most" -lt 8 ] || break
        case ${log[at]} in
            *'dev fd'*|*'dev sr'*) ;;
            *'I/O error'*|*'medium error'*|*'ink is '[Dd]own*|*'Link down'*|*'link status'*down*|*'blocked for more than'*|\
            *'Out of memory'*|*'out of memory'*|*'soft lockup'*|*'hard LOCKUP'*|*'detected stall'*|*'NETDEV WATCHDOG'*|\
            *'[Hardware Error]'*|*nvme*timeout*|*nvme*'controller is down'*|ata*'exception Emask'*|*'task abort'*)
                group "log ${log[at]:0:200}"
                most=$((most + 1)) ;;
        esac
    done
}

# the shortest round trip to each address of OSDs, in microseconds, of the connections to their usual ports
round_trips() {
    local line
    while read -r line; do group "trip $line"; done < <(
        ss -Htin state established '( dport >= 6800 and dport <= 7568 )' | awk '
            /^[^ \t]/ { peer = $4; sub(/:[0-9]+$/, "", peer) }
            match($0, / minrtt:[0-9.]+/) {
                trip = substr($0, RSTART + 8, RLENGTH - 8)
                if (!(peer in least) || trip < least[peer]) least[peer] = trip + 0
            }
            END { for (peer in least) printf "%s %d\n", peer, 1000 * least[peer] + 0.5 }'
    )
}

# the groups of a moment; those of disks only where they have been busy since the last
moment() {
    local line lines=() name received now=${EPOCHREALTIME-}
    [ -n "$now" ] || printf -v now '%(%s)T' -1
    read -r line _ </proc/uptime && group "time $now $line"
    read -r line </proc/stat && group "cpus $cpus" && group "$line"
    read -r _ _ _ line _ </proc/loadavg && group "run ${line%/*}"
    [ "$swap" -lt 0 ] || ! read -r line </proc/pressure/memory || ! mapfile -t -s "$swap" -n 1 lines </proc/vmstat ||
        group "memory ${line##*=} ${lines[0]##* }"
    [ "$turn" -gt 3 ] && [ $((turn % 10)) -gt 0 ] || family_of "$1"  # it grows in the beginning, if at all
    if [ ${#family[@]} -gt 0 ]; then
        ticks_of own "${family[@]}"
        waits_of "${family[@]}"
        [ -z "$gone" ] || [ $((turn % 10)) -gt 0 ] || daemons_of_ceph  # one may have been started again
        if [ -n "$ceph" ]; then ticks_of ceph $ceph; ticks_of watch "$BASHPID"; cgroups_time; else others_in_sight; fi
    fi
    lines_of /proc/net/snmp
    for line in "${lines[@]}"; do
        case $line in 'Tcp: '[0-9]*) set -- $line; group "tcp ${12} ${13}"; received=${11} ;; esac
    done
    if [ "$disordered" -gt 0 ]; then
        lines_of /proc/net/netstat
        set -- ${lines[1]-}
        group "order ${received-} ${!disordered-}"
        [ "$needless" -eq 0 ] || group "needless ${!needless-}"
    fi
    lines_of /proc/net/dev
    for line in "${lines[@]:2}"; do
        name=${line%%:*} name=${name##* }
        case $nics in ' ') [ "$name" != lo ] ;; *" $name "*) ;; *) false ;; esac || continue
        set -- ${line#*:}
        group "nic $name $1 $2 $3 $4 $9 ${10} ${11} ${12}"
    done
    lines_of /proc/diskstats
    for line in "${lines[@]}"; do
        set -- $line
        [ "${disks[$3]-${13}}" = "${13}" ] || { disks[$3]=${13}; group "disk $3 ${13}"; }
    done
    [ $((turn % 30)) -ne 4 ] || round_trips
}

# for the process that is the command; TERM ends it, after a last line
report_machine() {
    local record='' command=$1
    exec 3<&- 5<&- 9<&- 6<> <(:)  # a pipe that has no end as long as it is open here
    set +u -o posix               # only then a signal ends read, whose time is that of a timer
    unset IFS
    LC_ALL=C
    trap last_record TERM
    heat
    quota_of $$
    while kill -0 $$; do
        moment "$command"
        print_record || exit
        turn=$((turn + 1))
        read -r -t 1 -u 6 _
    done
}

print_record() { printf '\x01cephtui node %s%s\n' "$token" "$record" >&4 && record=''; }

# wherever the reporter is: what it was about to print is left out
last_record() {
    record=''
    moment "$command"
    heat
    quota_of $$
    errors_of_log
    print_record
    exit
}
