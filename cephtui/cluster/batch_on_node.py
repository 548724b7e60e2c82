"""Run on a node by Ceph's own Python: several commands of ``ceph`` over one connection.

The argument is a JSON list of commands, each a list of words; the result is a JSON list with the status, the output
and the error output of each. It ends with status 127 where ``ceph`` is not installed, 110 where the cluster does not
answer, and with another one where only ``ceph`` itself may know how to connect.
"""

import argparse
import errno
import json
import os
import shutil
import sys
from typing import Any

CONNECT_SECONDS = 20


def main() -> int:
    try:
        import ceph_argparse
        import rados
    except ImportError:
        return 127
    if not shutil.which("ceph"):
        return 127
    cluster = connected(rados)
    described = ceph_argparse.json_command(cluster, prefix="get_command_descriptions")[1]
    signatures = ceph_argparse.parse_json_funcsigs(described.decode(), "cli")
    answers = []
    for words in json.loads(sys.argv[1]):
        command = ceph_argparse.validate_command(signatures, words)
        if not command:
            return 1
        status, output, message = ceph_argparse.json_command(cluster, argdict=dict(command, format="json"))
        number = abs(status)
        error = "Error {}: {}".format(errno.errorcode.get(number, "Unknown"), message) if number else message
        answers.append([number, output.decode(), error])
    print(json.dumps(answers))
    return 0


def connected(rados: Any) -> Any:
    """The cluster, reached as ``ceph`` reaches it: by ceph.conf, and by what stands in CEPH_ARGS."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--id", "--user", default="admin")
    options.add_argument("-n", "--name")
    known, others = options.parse_known_args(os.environ.get("CEPH_ARGS", "").split())
    cluster = rados.Rados(name=known.name or "client." + known.id, conffile="")
    cluster.conf_parse_argv(others)
    try:
        cluster.connect(timeout=CONNECT_SECONDS)
    except rados.TimedOut as error:
        sys.stderr.write(str(error) + "\n")
        sys.exit(110)
    return cluster


if __name__ == "__main__":
    sys.exit(main())
