# Functions on the mark of a file of cephtui, for the scripts that follow: file_inspect.sh, file_create.sh,
# file_remove.sh.
marked() {
    [ -f "$1" ] && [ "$(tail -c 4096 -- "$1" 2>/dev/null | head -c 20 | tr -d '\0')" = "cephtui scratch file" ]
}
owner_of() ( set -o pipefail; tail -c 4096 -- "$1" | tr -d '\0' | sed -n 2p )
