# Deletes pools whose owner was checked before, and the rule and the erasure code profile that were made with them.
#
#   bash -c SCRIPT cephtui-pool-delete MADE_WITH POOL...
#
# MADE_WITH is the name of rule and profile. What does not exist is no error. Where the monitors do not allow it,
# mon_allow_pool_delete is set for the moment, and for each monitor by its name: what is set for all of them stays as it
# is, so that nothing has to be remembered and to put it back is to remove those, whoever does it and how often. Each
# deletion notes under a key of its own in the cluster that it sets them: should it be killed in between, the next one of
# whatever pools removes them. One that still runs sets them again.
made_with=$1; shift
option=mon_allow_pool_delete notes=cephtui/$option
note=$notes/$made_with
trap '' HUP PIPE TERM
ceph() { command ceph --connect-timeout 20 "$@"; }

delete() {
    local pool
    for pool in "$@"; do
        ceph osd pool rm "$pool" "$pool" --yes-i-really-really-mean-it || return 1
    done
}

monitors() {
    local found
    found=$(ceph mon dump -f json 2>/dev/null) || return 1
    printf '%s\n' "$found" | tr ',{' '\n\n' | sed -n 's/^ *"name": *"\([^"]*\)".*/\1/p'
}

is_noted_for_all() {
    ceph config-key exists "$notes" >/dev/null 2>&1
    case $? in 0) return 0 ;; 2) return 1 ;; *) echo "can't ask for $notes" >&2; exit 1 ;; esac
}

is_noted() {
    local found
    found=$(ceph config-key ls 2>/dev/null) || { echo "can't ask for $notes" >&2; exit 1; }
    case $found in *"\"$notes/"*) return 0; esac
    return 1
}

# whether a monitor has a setting of its own that no deletion has made; one that ends or begins is seen at the next look
is_others() {
    local found
    for _ in 1 2 3; do
        is_noted && return 1
        found=$(ceph config dump -f json) || return 1
        printf '%s\n' "$found" | tr '{' '\n' | grep -F "\"name\":\"$option\"" | grep -q '"section":"mon\.' || return 1
        sleep 0.5
    done
}

allow() {
    local monitor
    if is_others; then
        echo "a monitor has a $option of its own: ceph config dump" >&2
        return 1
    fi
    ceph config-key set "$note" 1 >/dev/null 2>&1 || return 1
    for monitor in $(monitors); do
        ceph config set "mon.$monitor" "$option" true || return 1
    done
}

put_back() {
    local monitor
    put_back_for_all || return 1
    is_noted || return 0
    for monitor in $(monitors || echo /); do
        ceph config rm "mon.$monitor" "$option" || return 1
    done
    ceph config-key rm "$note" >/dev/null 2>&1
}

# what an earlier cephtui has set for all monitors, and stored under the key
put_back_for_all() {
    local was
    is_noted_for_all || return 0
    was=$(ceph config-key get "$notes" 2>/dev/null) || return 1
    case $was in
        unset) ceph config rm mon "$option" ;;
        *) ceph config set mon "$option" "$was" ;;
    esac || return 1
    ceph config-key rm "$notes" >/dev/null 2>&1
}

failed=$(delete "$@" 2>&1)
status=$?
# the monitors take it over a moment later, and another deletion that has ended meanwhile has removed it
for _ in $(seq 20); do
    case $status:$failed in 0:*) break ;; *"$option"*) ;; *) break ;; esac
    allowed=$(allow 2>&1) || { failed=$allowed; break; }
    sleep 0.5
    failed=$(delete "$@" 2>&1)
    status=$?
done
put_back || { echo "$option was not put back to what it was: cephtui cleanup tries again" >&2; exit 1; }
[ "$status" -eq 0 ] || { printf '%s\n' "$failed" >&2; exit 1; }
ceph osd crush rule rm "$made_with" >/dev/null && ceph osd erasure-code-profile rm "$made_with" >/dev/null
