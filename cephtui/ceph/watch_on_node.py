"""Run on a node by Ceph's own Python: the state of a cluster, and what its OSDs count, over one connection.

    python3 -c SCRIPT COMMANDS SECONDS COUNTERS OSDS

COMMANDS are asked every SECONDS, as in commands_on_node.py; their outputs are a line each. COUNTERS is a JSON list of
loggers and counters, ``[["osd", "op_r"]]``, OSDS one of numbers. About each second 16 OSDs at most are asked for their
counters, more of them in turn; when all have been, a line has them,
``{"osd_counters": {"3": [12.5, 0.01, 70, [9, 0.1]]}}``: the time, how long the longest answer took, then each counter,
null where the OSD has none of that name, and of a mean its count and its sum. An OSD that does not answer in
time is not in it. ``{"osd_counters": null}`` is the last where the cephx caps deny to ask OSDs.

An OSD that does not answer holds up a thread, and neither the other OSDs nor the state of the cluster.
"""

import concurrent.futures
import json
import os
import random
import sys
import threading
import time
from typing import Any

from cephtui.ceph.commands_on_node import answer, ask, connect_or_end, end

ROUND_SECONDS = 1.0
ROUND_JITTER = 0.2
"""The part by which a round is longer or shorter than that, by chance: an OSD that stands still at regular times, half
of each second, would be asked always while it does, or never."""
ANSWER_SHARE = 0.8
"""The part of a round after which an OSD that has not answered is left out."""
OSDS_A_ROUND = 16
CPU_SHARE = 0.05
"""The part of a core that this process may use: where a round takes more, the next one comes later."""
DENIED = (1, 13)


def main() -> int:
    commands, seconds, counters, osds = (json.loads(word) for word in sys.argv[1:5])
    cluster = connect_or_end()
    lock = threading.Lock()

    def say(text: str) -> None:
        with lock:
            try:
                sys.stdout.write(text + "\n")
                sys.stdout.flush()
            except OSError:  # nobody reads it any more
                os._exit(0)

    if osds:
        threading.Thread(target=count, args=(cluster, counters, osds, say), daemon=True).start()
    while True:
        for command in commands:
            output = ask(cluster, command)[1].strip()
            if output:
                say(output)
        time.sleep(seconds)


def count(cluster: Any, counters: Any, osds: Any, say: Any) -> None:
    threads = concurrent.futures.ThreadPoolExecutor(len(osds))
    waiting: Any = {}
    seconds = ROUND_SECONDS
    while True:
        counted: Any = {}
        for first in range(0, len(osds), OSDS_A_ROUND):
            begun, used = time.monotonic(), time.process_time()
            portion = osds[first : first + OSDS_A_ROUND]
            for osd in portion:
                if osd not in waiting or waiting[osd].done():
                    waiting[osd] = threads.submit(counted_by, cluster, counters, osd)
            concurrent.futures.wait([waiting[osd] for osd in portion], ANSWER_SHARE * seconds)
            counted.update((osd, waiting[osd].result()) for osd in portion if waiting[osd].done())
            length = seconds * (1 + ROUND_JITTER * random.uniform(-1, 1))
            time.sleep(max(0.0, begun + length - time.monotonic()))
            seconds = max(ROUND_SECONDS, (time.process_time() - used) / CPU_SHARE)
        if all(status in DENIED for status in counted.values()) and counted:
            say('{"osd_counters": null}')
            return
        answered = {osd: values for osd, values in counted.items() if isinstance(values, list)}
        say(json.dumps({"osd_counters": answered}, separators=(",", ":")))


def counted_by(cluster: Any, counters: Any, osd: int) -> Any:
    """The time of the last answer, how long the longest took, and the counters; a status where there is none."""
    dumps: Any = {}
    at, longest = time.monotonic(), 0.0
    for logger in dict.fromkeys(logger for logger, _ in counters):
        command = json.dumps({"prefix": "perf dump", "logger": logger, "format": "json"})
        try:
            status, output, _ = answer(cluster.osd_command(osd, command, b""))
            dumps[logger] = json.loads(output).get(logger, {}) if not status else {}
        except Exception:  # an OSD that is gone, or an answer that is none: others are asked still
            return -1
        if status:
            return status
        asked, at = at, time.monotonic()
        longest = max(longest, at - asked)
    return [round(at, 3), round(longest, 4), *(compact(dumps[logger].get(name)) for logger, name in counters)]


def compact(value: Any) -> Any:
    return [value.get("avgcount"), value.get("sum")] if isinstance(value, dict) else value


if __name__ == "__main__":
    end(main())
