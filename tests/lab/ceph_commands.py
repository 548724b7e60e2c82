"""Commands of `ceph` over one connection: starting `ceph` for each would take a hundred times as long.

Started as a script by Ceph's own Python: CONF. A line is a JSON list of words; the answer is a line with the JSON list
of the status, what it prints, and what it complains of. ``own NAME`` is no command of Ceph's: it lists, by pool, the
images whose names begin so, and the namespaces that do with the number of their objects.
"""

import json
import sys
from collections import Counter
from typing import Any

import ceph_argparse
import rados
import rbd


def own(cluster: Any, name: str) -> dict[str, Any]:
    """What there is of one client's, by pool."""
    found = {}
    cluster.wait_for_latest_osdmap()
    for pool in (pool for pool in cluster.list_pools() if not pool.startswith(".")):
        with cluster.open_ioctx(pool) as opened:
            images = [image for image in rbd.RBD().list(opened) if image.startswith(name)]
            opened.set_namespace(rados.LIBRADOS_ALL_NSPACES)
            objects = Counter(each.nspace for each in opened.list_objects() if each.nspace.startswith(name))
        found[pool] = [images, objects]
    return found


def main() -> None:
    """Answers each line until there is no more."""
    cluster = rados.Rados(conffile=sys.argv[1])
    cluster.connect()
    _, known, _ = ceph_argparse.json_command(cluster, prefix="get_command_descriptions")
    signatures = ceph_argparse.parse_json_funcsigs(known.decode(), "cli")
    read: dict[str, Any] = {}  # to read the words of a command takes ten times as long as the command
    for line in sys.stdin:
        words = json.loads(line)
        if words[0] == "own":
            print(json.dumps([0, json.dumps(own(cluster, words[1])), ""]), flush=True)
            continue
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
