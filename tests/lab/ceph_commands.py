"""Commands of `ceph` over one connection: starting `ceph` for each would take a hundred times as long.

Started as a script by Ceph's own Python: CONF. A line is a JSON list of words; the answer is a line with the JSON list
of the status, what it prints, and what it complains of.
"""

import json
import sys
from typing import Any

import ceph_argparse
import rados


def main() -> None:
    """Answers each line until there is no more."""
    cluster = rados.Rados(conffile=sys.argv[1])
    cluster.connect()
    _, known, _ = ceph_argparse.json_command(cluster, prefix="get_command_descriptions")
    signatures = ceph_argparse.parse_json_funcsigs(known.decode(), "cli")
    read: dict[str, Any] = {}  # to read the words of a command takes ten times as long as the command
    for line in sys.stdin:
        words = json.loads(line)
        if line not in read:
            read[line] = ceph_argparse.validate_command(signatures, words)
        command = read[line]
        answer = (-22, b"", f"invalid command: {words}")
        if command:
            target = ceph_argparse.find_cmd_target(words)
            answer = ceph_argparse.json_command(cluster, target=target, argdict={**command, "format": "json"})
        status, output, complaint = answer
        print(json.dumps([status, output.decode(), complaint]), flush=True)


if __name__ == "__main__":
    main()
