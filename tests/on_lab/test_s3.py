"""S3 against the lab's gateway: figures as in its log, keys that nobody sees, and nothing left there."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab import Lab
from tests.lab.processes import holders
from tests.on_lab.runs import ENDLESS, Bench, Console, Event
from tests.on_lab.s3 import admin, configure, own_at, requests, wait_nothing_left

SMALL: dict[str, Any] = {"size": "16K", "threads": 2, "runtime": 2}
LONG: dict[str, Any] = {"size": "16K", "threads": 2, "runtime": ENDLESS}
GOSBENCH: dict[str, Any] = {
    **dict.fromkeys(("delete_weight", "list_weight"), 0),
    **dict.fromkeys(("read_weight", "write_weight"), 50),
    "size_min": "16k",
    "objects": 20,
    "buckets": 1,
    "parallel_clients": 2,
    "runtime": 3,
}
SOMEBODY = "somebody"


@pytest.fixture
def somebody(bench: Bench) -> Iterator[tuple[str, str]]:
    """The keys of a user who has a bucket of its own."""
    bench.lab.gateway()
    made = admin(bench.lab, "user", "create", "--uid", SOMEBODY, "--display-name", SOMEBODY)["keys"][0]
    yield made["access_key"], made["secret_key"]
    admin(bench.lab, "user", "rm", "--uid", SOMEBODY, "--purge-data")


def section(endpoint: str, keys: tuple[str, str]) -> tuple[str, ...]:
    """Of a config that has the keys."""
    return "[s3.lab]", f'endpoint = "{endpoint}"', f'access_key = "{keys[0]}"', f'secret_key = "{keys[1]}"'


def ended(console: Console) -> Event:
    """Its only run, which has gone well."""
    assert console.process.returncode == 0, console.describe()
    (run,) = console.runs
    return run


@pytest.mark.essential
def test_figures_are_those_of_the_gateways_log_and_its_users_are_removed(bench: Bench) -> None:
    endpoint = configure(bench)
    before = requests(bench.lab, "cephtui-*")
    run = ended(bench.run("s3-put-get-delete", on=("lab1", "lab2"), target=f"s3:{endpoint}", **SMALL))
    summary = run["summary"]
    flows = {"PUT": summary["write"], "GET": summary["read"], "DELETE": summary["other"]["delete"]}
    logged = requests(bench.lab, "cephtui-*") - before
    assert {method: flow["ios"] for method, flow in flows.items()} == {method: logged[method] for method in flows}
    assert flows["PUT"]["ios"] > 10
    sizes = {"PUT": 16384, "GET": 16384, "DELETE": 0}
    assert {method: flow["bytes"] for method, flow in flows.items()} == {
        method: flow["ios"] * sizes[method] for method, flow in flows.items()
    }
    assert summary["write"]["latency_p99_seconds"] is None, "of two nodes it can't be known"
    for put in (node["summary"]["write"] for node in run["nodes"]):
        assert (put["latency_p99_seconds"] is not None) == (put["ios"] >= 1000)
        assert 0 < put["latency_mean_seconds"] <= put["latency_max_seconds"]
    assert {"first-byte"} <= {finding["code"] for finding in run["findings"]}
    assert own_at(bench.lab) == []


def test_keys_are_seen_by_nobody(bench: Bench, somebody: tuple[str, str]) -> None:
    """Not in /proc, while it runs; not in what is stored, said or logged."""
    endpoint = configure(bench, *section(bench.lab.gateway(), somebody))
    seen: set[str] = set()
    over = threading.Event()

    def watch() -> None:
        """A signature stands beside the access key."""
        while not over.is_set():
            seen.update(holders(*somebody))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        console = bench.run("s3-put-get-delete", target=f"s3:{endpoint}", **SMALL)
    finally:
        over.set()
        watching.join()
    run = ended(console)
    assert run["summary"]["write"]["ios"] == requests(bench.lab, SOMEBODY)["PUT"]
    assert seen == set()
    files = [path for path in bench.sandbox.root.rglob("*") if path.is_file() and path != bench.config]
    assert len(files) > 5
    assert [path for path in files if somebody[1].encode() in path.read_bytes()] == []
    assert somebody[1] not in console.stdout + console.stderr
    assert admin(bench.lab, "bucket", "list", "--uid", SOMEBODY) == []


@pytest.fixture
def trusting(lab: Lab) -> Iterator[str]:
    """The gateway's endpoint with TLS, whose certificate ``lab1`` trusts."""
    endpoint, node, trusted = lab.tls_gateway(), "lab1", "/etc/ssl/certs"
    certificate = lab.gateway_certificate.read_text().partition("-----BEGIN CERTIFICATE-----")
    try:
        made = lab.on(node, "mount", "-t", "tmpfs", "tmpfs", trusted)
        assert made.returncode == 0, made.stderr
        lab.on(node, "tee", f"{trusted}/ca-certificates.crt", input="".join(certificate[1:]))
        yield endpoint
    finally:
        lab.on(node, "umount", trusted)


@pytest.mark.parametrize(("preset", "options"), [("s3-put-get-delete", SMALL), ("s3-mixed", GOSBENCH)])
def test_with_tls_and_buckets_whose_names_begin_as_asked(
    bench: Bench, trusting: str, somebody: tuple[str, str], preset: str, options: dict[str, Any]
) -> None:
    """The keys of a user who is no admin: the buckets are the user's own, and none is left."""
    configure(bench, *section(trusting, somebody))
    bench_of = f"s3:{trusting}/bench"
    run = ended(bench.run(preset, target=bench_of, **options))
    assert run["target"] == bench_of
    assert run["summary"]["write"]["ios"] > 0
    assert run["summary"]["read"]["ios"] > 0
    made = {json.loads(line)["target"] for line in (bench.sandbox.session() / "undo.jsonl").read_text().splitlines()}
    (buckets,) = made
    assert buckets.startswith(f"s3:{trusting}/bench-cephtui-")
    assert admin(bench.lab, "bucket", "list", "--uid", SOMEBODY) == []


def test_a_certificate_that_is_not_trusted_is_refused(bench: Bench, somebody: tuple[str, str]) -> None:
    endpoint = bench.lab.tls_gateway()
    configure(bench, *section(endpoint, somebody))
    console = bench.run("s3-put-get-delete", target=f"s3:{endpoint}", **SMALL)
    assert console.process.returncode == 3, console.describe()
    assert re.search(r"self-signed certificate.*: add its CA to those of the node", console.stderr), "curl words it"


def test_the_quota_of_its_own_user_is_said_with_how_much_it_is(bench: Bench) -> None:
    endpoint = configure(bench)
    pool = admin(bench.lab, "zone", "get")["placement_pools"][0]["val"]["storage_classes"]["STANDARD"]["data_pool"]
    bench.lab.ceph("osd", "pool", "set-quota", pool, "max_bytes", str(16 << 20))
    try:
        console = bench.run("s3-put-get-delete", target=f"s3:{endpoint}", **{**SMALL, "size": "1M", "runtime": 30})
    finally:
        bench.lab.ceph("osd", "pool", "set-quota", pool, "max_bytes", "0")
    (run,) = console.runs
    texts = [run["error"] or "", *(finding["text"] for finding in run["findings"])]
    (text, *_) = [text for text in texts if "QuotaExceeded" in text]
    assert re.search(
        r"QuotaExceeded: the run's own user may write [\d.]+ MiB, so that the pool can't become full", text
    )
    wait_nothing_left(bench.lab)


def test_no_bucket_is_left_after_the_kill_of_the_console(bench: Bench, somebody: tuple[str, str]) -> None:
    endpoint = configure(bench, *section(bench.lab.gateway(), somebody))
    console = bench.start("s3-put-get-delete", target=f"s3:{endpoint}", **LONG)
    console.wait_for_samples()
    console.process.kill()
    console.process.wait()
    bench.wait_nothing_runs()
    assert own_at(bench.lab)
    before = admin(bench.lab, "bucket", "list")
    bench.clean_up()
    assert own_at(bench.lab) == []
    assert [name for name in before if not name.startswith("cephtui-")] == admin(bench.lab, "bucket", "list")


@pytest.mark.essential
def test_wrong_keys_are_refused_before_anything_is_made(bench: Bench, somebody: tuple[str, str]) -> None:
    endpoint = configure(bench, *section(bench.lab.gateway(), (somebody[0], "x" * 40)))
    console = bench.run("s3-put-get-delete", target=f"s3:{endpoint}", **SMALL)
    assert console.process.returncode == 3, console.describe()
    assert "SignatureDoesNotMatch" in console.stderr
    assert "x" * 40 not in console.stdout + console.stderr
    assert own_at(bench.lab) == []
