"""Names that others are not to see: replaced everywhere, in the same width, and nothing else."""

from __future__ import annotations

import string
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.pilot import Pilot

from cephtui.models import JobResult, NameKind, Node, NodeEnvironment, NodeResult, Run, Summary
from cephtui.reports.masking.mask import WORDS, Mask, anonymous, masked, names_in
from cephtui.sessions import store
from cephtui.tui.app import CephtuiApp, SavedApp
from cephtui.tui.screens.replay import ReplayScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.terminal.masking import Masked
from cephtui.tui.terminal.profile import FULL
from cephtui.tui.widgets.runs_table import RunsTable
from tests import screenshots
from tests.support import two_copies
from tests.support.replayed import until

NAMES: dict[str, NameKind] = {
    "lab1": "node",
    "lab2": "node",
    "storage-frankfurt-01": "node",
    "vms": "pool",
    "customer-gold": "pool",
    "vm-100-disk-0": "image",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("osd:host=pve9 is slow", "osd:host=node-1 is slow"),
        ("osd:0,1 osd:class=ssd osd:*", "osd:0,1 osd:class=ssd osd:*"),
        ("s3:http://rgw.example.com:7480/customer", "s3:http://node-1:7480/bucket-1"),
        ("s3:https://[2001:db8::1]:7480", "s3:https://[address-1]:7480"),
        ("host:pve7@10.0.0.2, host:*", "host:node-1@address-1, host:*"),
        ("new-pool:pg=32,size=3,rule=fast-ssd", "new-pool:pg=32,size=3,rule=rule-1"),
        ("new-pool:pg=4,ec=customer", "new-pool:pg=4,ec=profile-1"),
        ("krbd:vms+ext4", "krbd:pool-1"),
        ("ceph --id backup-user, client.other", "ceph --id user-1, client.user-2"),
        (
            "expected host:NODE, osd:host=NAME or s3:ENDPOINT/BUCKET",
            "expected host:NODE, osd:host=NAME or s3:ENDPOINT/BUCKET",
        ),
    ],
)
def test_every_kind_of_target_says_its_names(text: str, expected: str) -> None:
    assert masked(text, {}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ssh: Could not resolve hostname pve9: unknown", "ssh: Could not resolve hostname node-1: unknown"),
        ("connection refused by 10.0.0.7 port 22", "connection refused by address-1 port 22"),
        ("ssh: connect to host PVE9 port 22: refused", "ssh: connect to host node-1 port 22: refused"),
        ("jump host root@gate: no such host: gate (?)", "jump host node-1: no such host: node-2 (?)"),
        ("the jump host can't reach inner port 22: lost", "the jump host can't reach node-1 port 22: lost"),
        ("form a loop: gate -> inner -> gate", "form a loop: node-1 -> node-2 -> node-1"),
        ("Connection closed by pve9 port 22", "Connection closed by node-1 port 22"),
        ("alice@pve9: Permission denied (publickey)", "node-1: Permission denied (publickey)"),
        ("unable to connect to server pve9: No route", "unable to connect to server node-1: No route"),
        ("Connecting to host pve9, port 5201", "Connecting to host node-1, port 5201"),
        ("curl: (6) Could not resolve host: rgw9", "curl: (6) Could not resolve host: node-1"),
        ("curl: (7) Failed to connect to rgw9 port 80", "curl: (7) Failed to connect to node-1 port 80"),
        ("rgw9: Name or service not known", "node-1: Name or service not known"),
        ("dial tcp: lookup rgw9 on 10.0.0.5:53: no", "dial tcp: lookup node-1 on address-1:53: no"),
        ("http://rgw9:7480/x", "http://node-1:7480/x"),
        ("on pve9.corp.example. It is pve9", "on node-1. It is node-2"),
        ("frankfurt.dc2.customer and gate.lan", "node-1 and node-3"),
        ("[2001:db8::7]:22 [fe80::1%eth0] ::ffff:10.1.2.3", "[address-2]:22 [address-3%eth0] ::ffff:address-1"),
        ("mds.files.pve9.abcdef mgr.pve8.qwerty", "mds.node-1.node-2.abcdef mgr.node-3.qwerty"),
        ("osd/host:pve9 x", "osd/host:node-1 x"),
        ("rados -p gold bench; rbd -p iron ls", "rados -p pool-1 bench; rbd -p pool-2 ls"),
        ("--pool=gold --rbdname=vm-7", "--pool=pool-1 --rbdname=image-1"),
        ("hsbench -bp customer -u x", "hsbench -bp bucket-1 -u x"),
        ("osd pool set gold crush_rule fast", "osd pool set pool-1 crush_rule rule-1"),
        ("erasure_code_profile=wide", "erasure_code_profile=profile-1"),
        ("rbd:GOLD/VM", "rbd:pool-1/image-1"),
        ("rbd:gold; gold/vm-8, vm-8 of GOLD/ns/vm-9", "rbd:pool-1; pool-1/image-1, image-1 of pool-1/image-2/image-3"),
    ],
)
def test_names_have_a_shape_or_words_around_them(text: str, expected: str) -> None:
    assert masked(text, {}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "unable to connect to server - server may have stopped running: Connection refused",
        "Connection reset by peer, getaddrinfo: Name or service not known",
        "https://docs.ceph.com/en, https://tracker.ceph.com, quay.io/ceph/ceph:v19, http://localhost:7480",
        "run.json samples.jsonl.gz ceph.conf rc.py cephtui.log",
        "cephtui.reports.masking.mask asyncssh.misc.DisconnectError concurrent.futures.TimeoutError net.core.somaxconn",
        "client.rgw, client.admin, osd.3, mon.a, 6.8.12-4-pve, 19.2.1, fio-3.33, 5.14.0-427.el9.x86_64",
        "osd_op_num_shards 5 -> 8, 10.1k -> 8.25k",
        "host:NODE@ADDRESS, s3:ENDPOINT/BUCKET, krbd:POOL",
        "read/write, 12/18, tuning/3, 4k/64k",
        "crush_rule replicated_rule, erasure_code_profile default",
    ],
)
def test_what_only_looks_like_a_name_stays(text: str) -> None:
    assert masked(text, {"read": "pool"}).replace("pool-1/write", "read/write") == text


@pytest.mark.parametrize("node", ["lab1", "alpha", "n1", "write"])
def test_an_image_of_cephtuis_own_keeps_all_but_its_node(node: str) -> None:
    image = f"cephtui-94c0b37d-{node}-0"
    job = JobResult(job="0", image=image, summary=Summary())
    mask = Mask(names_in([NodeResult(node=node, command=f"fio --rbdname={image}", jobs=(job,))]))
    assert mask.text(f"--rbdname={image}") == "--rbdname=cephtui-94c0b37d-node-1-0"


def test_a_session_with_the_name_of_its_pool_keeps_its_files() -> None:
    mask = Mask({"gold": "pool"})
    assert mask.text("gold/001/run.json gold/12 gold/marks.jsonl") == "pool-1/001/run.json pool-1/12 pool-1/marks.jsonl"


def test_a_name_is_known_in_any_capitals_and_the_programs_own_words_stay() -> None:
    mask = Mask({"Storage-1": "node", "PVE": "node", "write": "node"})
    assert mask.text("STORAGE-1 storage-1-a pve Pve") == "node-1 node-1-a node-2 node-2"
    assert mask.text("Write IOPS of write") == "Write IOPS of node-3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lab1 ready  lab2 ready", "n1   ready  n2   ready"),
        ("on storage-frankfurt-01: no fio", "on node-3              : no fio"),
        ("[lab1]", "[n1  ]"),
        ("cephtui-94c0b37d-lab1-0", "cephtui-94c0b37d-n1  -0"),
        ("rbd:customer-gold/vm-100-disk-0", "rbd:pool-2       /image-1      "),
        ("--pool=vms --rbdname=x", "--pool=p1  --rbdname=x"),
        ("vmstat and vms", "vmstat and p1 "),
        ("rbd:other 4k", "rbd:pool3 4k"),
        ("12.3 MiB/s r/w 4/5 read/write n/a", "12.3 MiB/s r/w 4/5 read/write n/a"),
        ("fio 3.33, ceph 16.2.15, kernel 6.8.12-4", "fio 3.33, ceph 16.2.15, kernel 6.8.12-4"),
        ("from 10.15.33.2:6789 and 127.0.0.1", "from address-1 :6789 and 127.0.0.1"),
        ("file:/mnt/secret/x", "file:/path-1      "),
        ("log in ~/.local/state/cephtui/log", "log in /path-1                   "),
        ("https://docs.ceph.com/en", "https://docs.ceph.com/en"),
        ("expected rbd:POOL or rbd:POOL/IMAGE", "expected rbd:POOL or rbd:POOL/IMAGE"),
        ("rados bench and --ioengine=rbd", "rados bench and --ioengine=rbd"),
    ],
)
def test_what_is_replaced_and_what_is_not(text: str, expected: str) -> None:
    line = Mask(NAMES).line(text)
    assert line == expected
    assert cell_len(line) == cell_len(text)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("│ preset on storage-fr… │", "storage-fr"),
        ("│ preset on storage-frankf│", "frankf"),
        ("the file /srv/secret/fi…", "secret"),
        ("the file /srv/secret/fi", "secret"),
        ("frankfurt-01: no fio", "frankfurt-01"),
        (" customer-go", "customer"),
    ],
)
def test_what_is_cut_off_at_an_edge_is_replaced_too(text: str, hidden: str) -> None:
    line = Mask(NAMES).line(text)
    assert hidden not in line
    assert cell_len(line) == cell_len(text)


@pytest.mark.parametrize("name", ["write", "rbd", "bench", "ok", "p"])
def test_a_name_that_is_a_word_is_replaced_as_a_word_by_itself(name: str) -> None:
    mask = Mask({name: "pool"})
    assert name not in mask.line(f"rbd:{name} x").removeprefix("rbd:")
    for word in (f"{name}-iops", f"over{name}", f"{name}s"):
        assert mask.line(f"{word} x") == f"{word} x"


def test_the_programs_own_words_stay() -> None:
    mask = Mask({"bench": "pool", "rbd": "pool"})
    for text in ("rados bench 60 write", "fio --ioengine=rbd --rw=write", "rbd:POOL", "benchmark"):
        assert mask.line(text) == text


@pytest.mark.parametrize("name", ["1", "100", "4k", " "])
def test_what_looks_like_a_number_is_no_name(name: str) -> None:
    assert Mask({name: "image"}).line("1 of 100, 4k") == "1 of 100, 4k"


def test_a_name_keeps_its_stand_in() -> None:
    mask = Mask({"host-a": "node"})
    assert mask.text("host-a") == "node-1"
    mask.learn({"host-b": "node", "host-a": "node"})
    assert mask.text("host-b host-a") == "node-2 node-1"


def test_text_that_is_handed_on_has_whole_stand_ins() -> None:
    assert masked("lab1 on rbd:vms, /etc/ceph/x.conf", NAMES) == "node-1 on rbd:pool-1, /path-1"
    assert masked("nothing", {}) == "nothing"


def test_a_host_has_several_names() -> None:
    node = Node(name="root@pve1.example.com:22", host="pve1.example.com", user="root", ceph_keyring="/k/r")
    hidden = masked("root@pve1.example.com pve1 pve1.example.com /k/r", names_in([node, Node(name="local")]))
    assert "pve1" not in hidden
    assert "/k/r" not in hidden
    assert masked("local", names_in([Node(name="local")])) == "local"


def test_networks_that_could_be_guessed_are_left_out() -> None:
    node = NodeEnvironment(nic_mtu={"eth0": 1500}, nic_networks={"eth0": "0f3a9c21"})
    hidden = anonymous(node, Mask({}))
    assert (hidden.nic_networks, set(hidden.nic_mtu.values())) == ({}, {1500})


LETTERS = string.ascii_lowercase + string.digits + "-._"
NAME = st.text(LETTERS, min_size=4, max_size=20).filter(lambda name: any(not char.isalpha() for char in name))


@given(st.lists(NAME, min_size=1, max_size=6, unique=True), st.text(LETTERS + " :/@…│語", max_size=30), st.data())
def test_no_name_is_left_and_the_width_stays(names: list[str], around: str, data: Any) -> None:
    mask = Mask(dict.fromkeys(names, "node"))
    chosen = data.draw(st.sampled_from(names))
    line = mask.line(f"{around} {chosen} {around}")
    assert cell_len(line) == cell_len(f"{around} {chosen} {around}")
    known = [name for name in names if name in mask._known]
    assert not any(name in line for name in known if not any(name in f"node-{n}" for n in range(9)))


@given(st.lists(st.sampled_from([*NAMES, "plain", " ", "…", "語"]), max_size=8), st.integers(1, 5))
def test_segments_keep_their_styles_and_widths(parts: list[str], size: int) -> None:
    text = " ".join(parts)
    cuts = [text[at : at + size] for at in range(0, len(text), size)]
    segments = [Segment(cut, Style(bold=bool(number % 2))) for number, cut in enumerate(cuts)]
    mask = Mask(NAMES)
    new = Masked(lambda: mask).apply(segments, Color(0, 0, 0))
    assert [(each.cell_length, each.style) for each in new] == [(each.cell_length, each.style) for each in segments]
    assert "".join(each.text for each in new) == mask.line(text)


def test_a_control_is_let_through() -> None:
    bell = Segment("\a", None, [(1,)])  # type: ignore[list-item]
    mask = Mask(NAMES)
    new = Masked(lambda: mask).apply([bell, Segment("la"), Segment("b1")], Color(0, 0, 0))
    assert [each.text for each in new] == ["\a", "n1", "  "]


# ---------------------------------------------------------------------------------------------- on every screen


def leaks(app: CephtuiApp) -> list[str]:
    """Rows with a name in them."""
    rows = [strip.text for strip in app.screen._compositor.render_strips()]
    return [row for row in rows if any(name in _own_words_left_out(row) for name in HIDDEN)]


HIDDEN = ("lab1", "lab2", "lab3", ":bench", "=bench", "/var/tmp", "/dev/", "lab/ceph")


def _own_words_left_out(row: str) -> str:
    return row.replace("rados bench", "")


async def pressed(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await pilot.pause(0.3)


@asynccontextmanager
async def saved_app(session: Path, *screens: Any, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Any]:
    app = SavedApp(session.parent, screens)
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        yield app, pilot


def test_the_demo_has_the_names_that_are_looked_for(demo_session: Path) -> None:
    names = names_in([store.read_run(demo_session, two_copies.STAR)])
    assert {"lab1", "lab2", "lab3", "bench"} <= set(names)
    assert not WORDS & {"lab1"}


def test_hosts_and_pools_in_options_are_names() -> None:
    config = {
        "osd/host:ceph-a1 osd_recovery_sleep": "1",
        "mon.ceph-b1 debug_mon": "0",
        "mgr.ceph-c1.xyz log_file": "x",
        "mon.a debug_mon": "0",
        "client rbd_default_data_pool": "customer-ec",
        "osd osd_max_backfills": "3",
    }
    run = Run.model_validate(
        {
            "session": "s",
            "run": 1,
            "batch": "b",
            "preset": "p",
            "tool": "fio",
            "target": "file:/x",
            "options": {},
            "command": "",
            "started_at": "2026-11-21T10:00:00Z",
            "cluster": {"config": config},
        }
    )
    named = {"customer-ec": "pool", **dict.fromkeys(("ceph-a1", "ceph-b1", "ceph-c1"), "node")}
    assert names_in([run]) == {**named, "/x": "path"}


def test_a_file_is_known_without_its_line_and_a_host_without_its_device(demo_session: Path) -> None:
    jobs = (JobResult(job="osd.0", place="pve9 sdb", summary=Summary()),)
    node = NodeResult(node="local", command="x", jobs=jobs)
    run = store.read_run(demo_session, two_copies.STAR).model_copy(
        update={"imported_from": "old.txt:12", "nodes": (node,)}
    )
    mask = Mask(names_in([run]))
    assert mask.text("old.txt:40, pve9 nvme0n1, sdb") == "path-1:40, node-4 nvme0n1, sdb"


async def test_a_saved_session_is_masked_on_each_of_its_screens(demo_session: Path) -> None:
    async with saved_app(demo_session, SessionScreen(demo_session)) as (app, pilot):
        await until(pilot, lambda: "lab1" in "".join(leaks(app)))
        await pressed(pilot, "P")
        await until(pilot, lambda: not leaks(app))
        assert "P masked" in "".join(strip.text for strip in app.screen._compositor.render_strips())
        for keys in (
            ("enter", "escape"),
            ("l", "escape"),
            ("f", "escape"),
            ("c", "escape"),
            ("question_mark", "escape"),
        ):
            await pressed(pilot, keys[0])
            assert not leaks(app), keys
            await pressed(pilot, keys[1])
        await pressed(pilot, "P")
        await until(pilot, lambda: "lab1" in "".join(leaks(app)))


async def test_a_replay_is_masked_before_it_has_begun(demo_session: Path) -> None:
    async with saved_app(demo_session, ReplayScreen(demo_session, two_copies.STAR, 20.0)) as (app, pilot):
        await pressed(pilot, "P", "space")
        assert not leaks(app)
        await pressed(pilot, "space")
        for key in ("b", "h", "l", "escape", "f"):
            await pressed(pilot, key)
            assert not leaks(app), key


async def test_the_console_is_masked_on_each_of_its_screens(demo_session: Path) -> None:
    app = screenshots.console(demo_session, FULL)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await until(pilot, lambda: len(app.screen.query(RunsTable)) > 0)
        await until(pilot, lambda: "lab1" in "".join(leaks(app)))
        await pressed(pilot, "P")
        await until(pilot, lambda: not leaks(app))
        app.notify("lab1: cannot reach 10.0.0.7, see /var/tmp/lab/ceph.conf")
        await pilot.pause()
        assert not leaks(app)
        for key in ("n", "e", "u", "l", "f", "question_mark", "p", "o"):
            await pressed(pilot, key)
            assert not leaks(app), key
            await pressed(pilot, "escape", "escape")
