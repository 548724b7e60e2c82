"""Records a real cluster's answers, in the states that matter: python record.py LAB, on a lab of one's own.

The lab (python -m tests.lab up LAB) is put through every state, so that nobody else may use it meanwhile.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from cephtui.ceph import cluster, config, images, in_use, pools, rates, watch  # noqa: E402

POOL, QUOTA, ERASURE = "rec", "recquota", "recdata"
STATE = {
    "status": cluster.STATUS_ARGV,
    "osd-map": pools.OSD_MAP_ARGV,
    "usage": pools.USAGE_ARGV,
    "osd-usage": pools.OSD_USAGE_ARGV,
    "pgs": pools.PGS_ARGV,
    "osd-perf": rates.OSD_PERF_ARGV,
    "pool-stats": rates.pool_stats_argv(POOL),
}
CLUSTER = {
    **STATE,
    "versions": cluster.VERSIONS_ARGV,
    "crush-rules": pools.CRUSH_RULES_ARGV,
    **{name: cluster.option_argv(name) for name in cluster.OSD_OPTIONS},
    "config-dump": config.CONFIG_ARGV,
    "option-unknown": cluster.option_argv("osd_no_such_option"),
    "in-use": in_use.in_use_argv(POOL),
}
OPTIONS = {
    "osd": "osd_op_num_shards_hdd 8",
    "osd/class:hdd": "osd_max_backfills 2",
    "osd/host:lab1": "osd_recovery_sleep 0.5",
    "mgr": "mgr/dashboard/GRAFANA_API_PASSWORD hunter2 --force",
    "client.rgw.lab1": "rgw_keystone_admin_password hunter3",
}


class Lab:
    """Runs commands on its first host, and keeps the answers."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        commands = HERE / "commands.json"
        self._commands: dict[str, dict[str, object]] = json.loads(commands.read_text()) if commands.exists() else {}

    def start(self, command: str, key: str = "admin") -> subprocess.Popen[str]:
        """A shell command with a key."""
        keys = {"CEPH_CONF": f"{self._directory}/ceph.conf", "CEPH_ARGS": f"--id {key}"}
        keys["CEPH_KEYRING"] = f"{self._directory}/ceph.client.{key}.keyring"
        exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in keys.items())
        argv = ["ssh", "-F", f"{self._directory}/ssh_config", "lab1", f"export {exports}; {command}"]
        pipe = subprocess.PIPE
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)

    def do(self, command: str) -> str:
        """A shell command that has to succeed."""
        process = self.start(command)
        stdout, stderr = process.communicate(timeout=120)
        if process.returncode:
            sys.exit(f"{command}: {stderr}")
        return stdout

    def record(self, state: str, asked: dict[str, Sequence[str]], key: str = "admin") -> None:
        """Keeps the answers to these questions."""
        folder = HERE / state
        folder.mkdir(exist_ok=True)
        for name, argv in asked.items():
            process = self.start(shlex.join(argv), key)
            stdout, stderr = process.communicate(timeout=120)
            (folder / f"{name}.stdout").write_text(stdout)
            said = {"argv": [*argv[:3], *argv[3:]], "status": process.returncode, "stderr": stderr}
            self._commands[f"{state}/{name}"] = said if argv[0] != "bash" else {**said, "argv": ["bash", *argv[3:]]}

    def wait(self, what: str, test: Callable[[cluster.ClusterState], bool], seconds: float = 90) -> None:
        """Until the cluster is in a state."""
        end = time.monotonic() + seconds
        while not test(cluster.parse_status(self.do(shlex.join(cluster.STATUS_ARGV)))):
            if time.monotonic() > end:
                sys.exit(f"{what}: not within {seconds} s")
            time.sleep(0.3)

    def settled(self) -> None:
        """Until nothing moves."""
        self.wait("settled", lambda state: not state.unclean and state.health == "HEALTH_OK")

    def save(self) -> None:
        """Writes what was asked."""
        (HERE / "commands.json").write_text(json.dumps(self._commands, indent=1) + "\n")


def some(*names: str) -> dict[str, Sequence[str]]:
    """These questions of the cluster's state."""
    return {name: STATE[name] for name in names}


def has(code: str) -> Callable[[cluster.ClusterState], bool]:
    """Whether health complains of this."""
    return lambda state: any(check.code == code for check in state.checks)


def make_pools(lab: Lab) -> None:
    lab.do("ceph osd erasure-code-profile set rec-ec k=2 m=1 crush-failure-domain=osd")
    for name, more in ((POOL, "replicated"), (QUOTA, "replicated"), (ERASURE, "erasure rec-ec")):
        lab.do(f"ceph osd pool create {name} 16 16 {more}; ceph osd pool application enable {name} rbd")
    lab.do(f"ceph osd pool set {POOL} size 2; ceph osd pool set {POOL} pg_autoscale_mode on")
    lab.do(f"ceph osd pool set {ERASURE} allow_ec_overwrites true; rbd pool init {POOL}; rbd pool init {QUOTA}")
    lab.do("ceph config set mgr target_max_misplaced_ratio 1")
    lab.settled()


def make_images(lab: Lab) -> None:
    clone = "rbd clone --rbd-default-clone-format 2"
    for command in (
        "rbd create rec/plain --size 1G",
        "rbd create rec/ec --size 64M --data-pool recdata",
        "rbd create rec/snapped --size 64M && rbd snap create rec/snapped@before",
        f"rbd create rec/parent --size 64M && rbd snap create rec/parent@base && {clone} rec/parent@base rec/child",
        f"rbd create rec/gone --size 64M && rbd snap create rec/gone@x && {clone} rec/gone@x rec/orphan",
        "rbd snap rm rec/gone@x",
        "rbd mirror pool enable rec image",
        "rbd create rec/journal --size 64M --image-feature exclusive-lock,journaling",
        "rbd mirror image enable rec/journal journal",
        "rbd create rec/mirrored --size 64M && rbd mirror image enable rec/mirrored snapshot",
        "rbd create rec/moving --size 64M && rbd migration prepare rec/moving rec/moved",
    ):
        lab.do(command)


def image_questions(name: str) -> dict[str, Sequence[str]]:
    return {
        f"{name}.info": images.info_argv(POOL, name),
        f"{name}.status": images.status_argv(POOL, name),
        f"{name}.snapshots": images.snapshots_argv(POOL, name),
        f"{name}.children": images.children_argv(POOL, name),
    }


def record_images(lab: Lab) -> None:
    for name in ("plain", "ec", "snapped", "parent", "child", "gone", "journal", "mirrored", "moved", "none"):
        lab.record("images", image_questions(name))
    lab.record("images", {"no-pool.info": images.info_argv("nopool", "x")})


def record_healthy(lab: Lab) -> None:
    time.sleep(12)  # until the rates forget the questions about images, which are client I/O too
    for where, option in OPTIONS.items():
        lab.do(f"ceph config set {where} {option}")
    lab.record("healthy", CLUSTER)
    for where, option in OPTIONS.items():
        lab.do(f"ceph config rm {where} {option.partition(' ')[0]}")


def record_load(lab: Lab) -> None:
    bench = lab.start("timeout 24 rbd bench --io-type write --io-size 4K --io-total 40G --io-pattern rand rec/plain")
    time.sleep(8)
    lab.record(
        "busy",
        {
            **some("status", "osd-perf", "pool-stats"),
            "plain.status": images.status_argv(POOL, "plain"),
            "in-use": in_use.in_use_argv(POOL),
        },
    )
    lab.record("busy-denied", {"in-use": in_use.in_use_argv(POOL)}, key="rec-only")
    lab.record("watch", {"admin": ("timeout", "7", *watch.watch_argv(POOL, 1))})
    lab.record("watch", {"denied": ("timeout", "3", *watch.watch_argv(POOL, 1))}, key="rec-only")
    bench.communicate()


def record_slow(lab: Lab) -> None:
    delay = "osd_debug_inject_dispatch_delay"
    bench = lab.start("timeout 60 rbd bench --io-type write --io-size 4K --io-total 40G --io-pattern rand rec/plain")
    lab.do("ceph config set osd osd_op_complaint_time 1")
    lab.do(f"ceph config set osd.2 {delay}_duration 3; ceph config set osd.2 {delay}_probability 1")
    lab.wait("slow", has("SLOW_OPS"), 50)
    lab.record("slow", {"status": cluster.STATUS_ARGV})
    lab.do(f"ceph config rm osd osd_op_complaint_time; ceph config rm osd.2 {delay}_probability")
    bench.communicate()
    lab.wait("calm", lambda state: not has("SLOW_OPS")(state), 120)


def record_faults(lab: Lab) -> None:
    lab.do("ceph osd out 2")
    lab.wait("moving", lambda state: bool(state.misplaced_ratio or state.degraded_ratio))
    lab.record("osd-out", some("status", "pgs", "osd-usage", "pool-stats"))
    lab.do("ceph osd in 2")
    lab.settled()
    lab.do("ceph osd set noup && ceph osd down 2")
    lab.wait("degraded", lambda state: bool(state.degraded_ratio))
    time.sleep(3)
    lab.record("osd-down", {**some("status", "pgs"), "in-use": in_use.in_use_argv(POOL)})
    lab.do("ceph osd unset noup")
    lab.settled()


def record_full(lab: Lab) -> None:
    lab.do(f"ceph osd pool set-quota {QUOTA} max_bytes 8388608; rbd create {QUOTA}/x --size 64M")
    lab.do(f"rbd bench --io-type write --io-size 1M --io-total 24M {QUOTA}/x")
    lab.wait("quota", has("POOL_FULL"))
    lab.record("quota-full", some("status", "osd-map", "usage"))
    lab.do(f"ceph osd pool set-quota {QUOTA} max_bytes 1073741824")
    lab.settled()
    lab.record("quota", {"osd-map": pools.OSD_MAP_ARGV, "usage": pools.USAGE_ARGV, "status": cluster.STATUS_ARGV})
    ratios = ((0.001, "nearfull"), (0.002, "backfillfull"), (0.003, "full"))
    for ratio, name in ratios:
        lab.do(f"ceph osd set-{name}-ratio {ratio}")
        code = {"nearfull": "OSD_NEARFULL", "backfillfull": "OSD_BACKFILLFULL", "full": "OSD_FULL"}[name]
        lab.wait(name, has(code))
        time.sleep(2)
        lab.record(name, some("status", "osd-map", "osd-usage"))
    for ratio, name in ((0.95, "full"), (0.90, "backfillfull"), (0.85, "nearfull")):
        lab.do(f"ceph osd set-{name}-ratio {ratio}")
    lab.settled()
    lab.do("ceph osd set pause && ceph osd set noout")
    lab.wait("paused", has("OSDMAP_FLAGS"))
    lab.record("paused", {"status": cluster.STATUS_ARGV, "osd-map": pools.OSD_MAP_ARGV})
    lab.do("ceph osd unset pause && ceph osd unset noout")
    lab.settled()


def record_denied(lab: Lab, directory: str) -> None:
    other = {"other-pool.info": images.info_argv(QUOTA, "x"), "other-pool.in-use": in_use.in_use_argv(QUOTA)}
    lab.record("denied", {**CLUSTER, "plain.info": images.info_argv(POOL, "plain"), **other}, key="rec-only")
    Path(f"{directory}/ceph.client.nobody.keyring").write_text("")
    no_key = {"no-key.status": cluster.STATUS_ARGV, "no-key.info": images.info_argv(POOL, "plain")}
    lab.record("denied", no_key, key="nobody")


def main(directory: str, *parts: str) -> None:
    """Every state one after the other, or these alone in a lab that has the pools already."""
    lab = Lab(directory)
    if not parts:
        make_pools(lab)
        make_images(lab)
        key = f"mon 'profile rbd' osd 'profile rbd pool={POOL}' -o {directory}/ceph.client.rec-only.keyring"
        lab.do(f"ceph auth get-or-create client.rec-only {key}")
    recorders: dict[str, Callable[[Lab], None]] = {
        "images": record_images,
        "healthy": record_healthy,
        "denied": lambda lab: record_denied(lab, directory),
        "busy": record_load,
        "faults": record_faults,
        "full": record_full,
        "slow": record_slow,
    }
    for part in parts or recorders:
        recorders[part](lab)
        lab.save()


if __name__ == "__main__":
    main(*sys.argv[1:])
