# Deletes pools whose owner was checked before, and the rule and the erasure code profile that were made with them.
#
#   bash -c SCRIPT cephtui-pool-delete MADE_WITH POOL...
#
# MADE_WITH is the name of rule and profile. What does not exist is no error. Where the monitors do not allow it,
# mon_allow_pool_delete is set for the moment. What it was is stored in the cluster before, under a key, and put back
# from there: should this be killed in between, the next one does it.
made_with=$1; shift
option=mon_allow_pool_delete key=cephtui/$option
trap '' HUP PIPE TERM
ceph() { command ceph --connect-timeout 20 "$@"; }

delete() {
    local pool
    for pool in "$@"; do
        ceph osd pool rm "$pool" "$pool" --yes-i-really-really-mean-it || return 1
    done
}

# the value in the configuration database for all monitors, or "unset"
current() {
    local found
    found=$(ceph config dump -f json) || return 1
    found=$(printf '%s\n' "$found" | tr '{' '\n' | grep -F '"section":"mon"' | grep -F "\"name\":\"$option\"" |
        grep -v '"mask":"[^"]' | sed -n 's/.*"value":"\([^"]*\)".*/\1/p')
    echo "${found:-unset}"
}

is_stored() {
    ceph config-key exists "$key" >/dev/null 2>&1
    case $? in 0) return 0 ;; 2) return 1 ;; *) echo "can't ask for $key" >&2; exit 1 ;; esac
}

put_back() {
    local was
    is_stored || return 0
    was=$(ceph config-key get "$key" 2>/dev/null) || return 1
    case $was in
        unset) ceph config rm mon "$option" ;;
        *) ceph config set mon "$option" "$was" ;;
    esac || return 1
    ceph config-key rm "$key" >/dev/null 2>&1
}

allow() {
    local was
    is_stored || { was=$(current) && ceph config-key set "$key" "$was" >/dev/null; } || return 1
    ceph config set mon "$option" true
}

failed=$(delete "$@" 2>&1)
status=$?
case $status:$failed in
    0:*) ;;
    *"$option"*)
        if allow; then
            # the monitors take it over a moment later
            for _ in $(seq 20); do
                failed=$(delete "$@" 2>&1)
                status=$?
                case $status:$failed in 0:*) break ;; *"$option"*) sleep 0.5 ;; *) break ;; esac
            done
        fi ;;
esac
put_back || { echo "$option was not put back to what it was: cephtui cleanup tries again" >&2; exit 1; }
[ "$status" -eq 0 ] || { printf '%s\n' "$failed" >&2; exit 1; }
ceph osd crush rule rm "$made_with" >/dev/null && ceph osd erasure-code-profile rm "$made_with" >/dev/null
