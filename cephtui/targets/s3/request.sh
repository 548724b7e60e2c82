# Sends a request to an S3 endpoint: METHOD URL BODY HEADER...
# It prints the body of the answer, and on a line of its own the HTTP status.
set -u
method=$1 url=$2 body=$3
shift 3
command -v curl >/dev/null 2>&1 || { echo 'curl is not installed: apt-get install curl' >&2; exit 127; }
words=()
for header; do words+=(-H "$header"); done
[ -z "$body" ] || words+=(--data-raw "$body")
exec curl -q -sS -g --path-as-is --connect-timeout 10 --max-time 120 -X "$method" -w '\n%{http_code}\n' \
    -H 'Content-Type:' -H 'Expect:' "${words[@]}" -- "$url"
