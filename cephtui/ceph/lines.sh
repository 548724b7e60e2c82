# Functions that report what files have: a line is a key and its value with a tab between them.
#
# ROOT stands before all paths, and is left out of what is reported.
root=$1
most=262144 lines=5000 # of a file
say() { printf '%s\t%s\n' "$1" "$2"; }
text() { # KEY FILE: its lines
    [ -e "$2" ] || return 1
    if [ -f "$2" ] && [ -r "$2" ]; then
        head -c "$most" -- "$2" 2>/dev/null | tr -d '\0' | head -n "$lines" |
            while IFS= read -r line || [ -n "$line" ]; do say "$1" "$line"; done
    else say unreadable "${2#"$root"}"
    fi
}
