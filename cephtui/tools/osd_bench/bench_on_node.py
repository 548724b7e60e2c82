"""Run on a node by Ceph's own Python: OSDs write and remove objects for a while, in portions, over one connection.

    python3 -c SCRIPT cephtui-osd-bench ID OSDS TOGETHER SECONDS BLOCK FIRST MOST

ID is Ceph's user, or empty. OSDS are ``*`` for all, ``0,1`` by number, ``host=NAME`` or ``class=NAME``; TOGETHER is
``yes`` or ``no``. The first line is an object with what these OSDs are; then comes one for each portion that has ended,
as ``ceph tell osd.N bench`` reports it, with the OSD's number; of a portion that has failed its OSD, ``unanswered``,
with the parameters of the command. An OSD can't be stopped in a portion: the first has
FIRST bytes, each later one as many as the OSD writes in about a second, at most MOST, in whole blocks. Each OSD has one
portion at least. It ends with the number of the error where an OSD can't be told to write.
"""

import json
import os
import sys
import threading
import time
from typing import Any

from cephtui.ceph.commands_on_node import answer, connected, end, rados_module

PORTION_SECONDS = 120
"""An OSD that takes longer for a portion has failed."""


class Bench:
    """All that the portions of all OSDs have in common."""

    def __init__(self, cluster: Any, seconds: float, sizes: Any) -> None:
        self.cluster, self.until = cluster, time.monotonic() + seconds
        self.block, self.first, self.most = sizes
        self.next: Any = {}
        self.lock = threading.Lock()
        self.failed = 0

    def goes_on(self) -> bool:
        return not self.failed and time.monotonic() < self.until

    def portion(self, osd: int) -> None:
        count = self.next.get(osd, self.first)
        command = {"prefix": "bench", "count": count, "size": self.block, "format": "json"}
        status, output, error = answer(self.cluster.osd_command(osd, json.dumps(command), b""))
        if status:
            self.failed = self.failed or status
            sys.stderr.write(f"osd.{osd}: {error.strip()}\n")
            self.say({"unanswered": osd, "count": count, "size": self.block})
            return
        done = json.loads(output)
        blocks = int(done["bytes_per_sec"]) // self.block
        self.next[osd] = min(max(blocks, 1) * self.block, self.most)
        self.say(dict(done, osd=osd))

    def say(self, record: Any) -> None:
        with self.lock:
            try:
                sys.stdout.write(json.dumps(record) + "\n")
                sys.stdout.flush()
            except OSError:  # nobody reads it any more: nothing is to be written for them
                os._exit(0)

    def in_turn(self, osds: Any) -> None:
        for osd in osds:
            if not self.failed:
                self.portion(osd)
        while self.goes_on():
            for osd in osds:
                if self.goes_on():
                    self.portion(osd)

    def together(self, osds: Any) -> None:
        threads = [threading.Thread(target=self.in_turn, args=([osd],)) for osd in osds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def ask(cluster: Any, prefix: str, **parameters: str) -> Any:
    """The answer of the monitors; ends the process where there is none."""
    command = dict(parameters, prefix=prefix, format="json")
    status, output, error = answer(cluster.mon_command(json.dumps(command), b""))
    if status:
        sys.stderr.write(error.strip() + "\n")
        end(status)
    return json.loads(output)


def chosen(cluster: Any, which: str) -> Any:
    """The numbers of the OSDs."""
    key, _, name = which.partition("=")
    if which == "*":
        return ask(cluster, "osd ls")
    if key == "host":
        return ask(cluster, "osd ls-tree", name=name)
    if key == "class":
        return ask(cluster, "osd crush class ls-osd", **{"class": name})
    return [int(number) for number in which.split(",")]


def about(cluster: Any, osds: Any) -> Any:
    """Class, host and devices of each OSD."""
    nodes = ask(cluster, "osd tree")["nodes"]
    classes = {node["id"]: node.get("device_class", "") for node in nodes}
    hosts = {osd: node["name"] for node in nodes if node["type"] == "host" for osd in node.get("children", [])}
    devices = {osd_metadata.get("id"): osd_metadata.get("devices", "") for osd_metadata in ask(cluster, "osd metadata")}
    return [
        {"id": osd, "class": classes.get(osd, ""), "host": hosts.get(osd, ""), "devices": devices.get(osd, "")}
        for osd in osds
    ]


def bench() -> int:
    rados = rados_module()
    if rados is None:
        sys.stderr.write("Ceph's Python module rados is not installed: apt-get install ceph-common\n")
        return 127
    user, which, together, seconds, *sizes = sys.argv[2:]
    if user:
        os.environ["CEPH_ARGS"] = "{} --id {}".format(os.environ.get("CEPH_ARGS", ""), user)
    try:
        cluster = connected(rados, PORTION_SECONDS)
    except rados.Error as error:
        sys.stderr.write(str(error) + "\n")
        return 110
    osds = chosen(cluster, which)
    if not osds:
        sys.stderr.write(f"there is no OSD of {which}\n")
        return 2
    work = Bench(cluster, float(seconds), [int(size) for size in sizes])
    work.say({"osds": about(cluster, osds)})
    if together == "yes":
        work.together(osds)
    else:
        work.in_turn(osds)
    return work.failed


if __name__ == "__main__":
    end(bench())
