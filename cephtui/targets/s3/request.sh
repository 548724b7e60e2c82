# Sends a request to an S3 endpoint: curl's config, with the signature, comes on stdin, and so is in no argument.
# It prints the body of the answer, and on a line of its own the HTTP status.
command -v curl >/dev/null 2>&1 || { echo 'curl is not installed: apt-get install curl' >&2; exit 127; }
exec curl -q -K -
