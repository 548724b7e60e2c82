"""The links between nodes: from a session's runs to the matrix, and to the ceiling of the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cephtui.analysis.detectors.ceiling import ClusterRecords, ceilings
from cephtui.analysis.runs.links import Link, links_of, nics_of
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import judge_sides
from cephtui.analysis.views.matrix import matrix_of
from cephtui.cli.commands.show import show_saved
from cephtui.cli.emit import Output
from cephtui.models import (
    Ceiling,
    ClusterEnvironment,
    ClusterLink,
    HostNics,
    NodeEnvironment,
    NodeResult,
    Run,
    Summary,
    Total,
)
from cephtui.models.findings.client import NETWORK_UNKNOWN
from cephtui.models.metrics import BY_NAME
from cephtui.reports.blocks import Block, Table, Text, plain_text
from cephtui.reports.views.links import link_rows, links_blocks
from cephtui.reports.views.matrix import column_titles
from cephtui.reports.views.report.content import document_of
from cephtui.reports.views.report.material import Material
from cephtui.reports.views.report.tables import runs_table
from cephtui.reports.words.run import ceiling_lines
from cephtui.reports.words.text import conditions, metric_of, short_conditions
from cephtui.sessions.cluster_records import keep_records, kept_records
from cephtui.sessions.jsonlines import as_json
from cephtui.tui.widgets.run_rows import TableContent
from tests.support.documents import study
from tests.support.drawings import draw_comparison, draw_links, links_markdown, printed
from tests.support.golden import Golden
from tests.support.runs import STARTED, STEP_SECONDS, nodes, recorded, total
from tests.support.sessions import write_session
from tests.unit.analysis.detectors.test_ceiling import CLUSTER, NIC, wrote

GBIT = 125e6


def of_link(rate: float, retransmits: int | None = None, rtt: float | None = None) -> Total:
    transferred = {"ios": None, "bytes": int(10 * rate), "runtime_seconds": 10, "bandwidth_bytes": rate}
    return total(retransmits=retransmits, rtt_seconds=rtt, **transferred)


def link_run(number: int, near: str, far: str, *, target: str = "", network: str = "public", **changes: Any) -> Run:
    """``out`` of ``near`` to ``far`` with 1 Gbit/s."""
    usual: dict[str, Any] = {
        "tool": "iperf3",
        "preset": "network",
        "batch": f"{number:08x}",
        "target": target or f"host:{far}",
        "options": {"network": network, "direction": "out", "parallel": 4, "runtime": 10, "omit": 1},
        "nodes": (NodeResult(node=near, outcome="ok", command="iperf3"),),
        "environment": {near: NodeEnvironment(), far: NodeEnvironment()},
        "summary": Summary(write=of_link(GBIT, 0, 0.0004)),
        "findings": (),
        "seconds": None,
        "started_at": STARTED + timedelta(seconds=STEP_SECONDS * number),
    }
    return recorded(number, **{**usual, **changes})


def one_way(number: int, near: str, far: str, rate: float, retransmits: int = 0) -> Run:
    return link_run(number, near, far, summary=Summary(write=of_link(rate, retransmits)))


TRIANGLE = (
    one_way(1, "b", "a", GBIT),
    one_way(2, "c", "a", 0.1 * GBIT, 12),
    one_way(3, "a", "b", 0.9 * GBIT),
    one_way(4, "c", "b", 0.2 * GBIT),
    one_way(5, "a", "c", GBIT),
    one_way(6, "b", "c", GBIT),
)
"""``c`` sends slowly."""


def texts(links: list[Link], *, ascii_only: bool = False) -> list[str]:
    return [line.rstrip() for line in printed(draw_links(links, ascii_only=ascii_only)).splitlines()]


def test_every_pair_is_a_cell_from_sender_to_receiver_and_the_slowest_is_marked(golden: Golden) -> None:
    _, title, *cells, slowest = texts(links_of(TRIANGLE))
    golden.same([title, slowest])
    assert cells == [
        "from \\ to            a          b           c",
        "a                      900 Mbit/s 1.00 Gbit/s",
        "b          1.00 Gbit/s            1.00 Gbit/s",
        "c         100 Mbit/s ▼ 200 Mbit/s",
    ]
    assert "100 Mbit/s v" in "\n".join(texts(links_of(TRIANGLE), ascii_only=True))


def test_what_is_received_is_the_other_direction_and_both_at_once_stand_apart(golden: Golden) -> None:
    received = link_run(1, "a", "b", summary=Summary(read=of_link(GBIT)))
    both = link_run(2, "a", "b", summary=Summary(read=of_link(0.5 * GBIT), write=of_link(0.6 * GBIT, 3)))
    links = links_of([received, both])
    assert [(link.ends, link.is_bidirectional, link.is_slowest) for link in links] == [
        (("b", "a"), False, False),
        (("a", "b"), True, False),
        (("b", "a"), True, True),
    ]
    golden.same([text for text in texts(links) if "public" in text])


def test_networks_and_typed_addresses_are_not_compared_with_each_other(golden: Golden) -> None:
    runs = [
        link_run(1, "a", "b"),
        link_run(2, "a", "b", network="cluster"),
        link_run(3, "a", "b", target="host:b@10.1.1.2"),
    ]
    links = links_of(runs)
    assert [link.network for link in links] == ["public", "cluster", ""]
    assert not any(link.is_slowest for link in links)
    golden.same(texts(links))


def test_repeats_are_one_link_and_what_did_not_end_well_is_none() -> None:
    runs = [one_way(1, "a", "b", GBIT, 5), one_way(2, "a", "b", 4 * GBIT, 7), link_run(3, "b", "a", outcome="failed")]
    (link,) = links_of(runs)
    assert link.bandwidth_bytes == pytest.approx(2 * GBIT)
    assert (link.retransmits, link.runs) == (7, (1, 2))
    assert texts([link]) == [], "a single link is in its run"
    assert links_of([recorded(1)]) == [], "data is no link"


def test_it_is_a_table_in_markdown_and_rows_of_json() -> None:
    text = links_markdown(links_of(TRIANGLE))
    assert f"**{texts(links_of(TRIANGLE))[1]}**" in text
    assert "| c | 100 Mbit/s ▼ | 200 Mbit/s |  |" in text
    rows = [json.loads(as_json(row)) for row in link_rows(links_of(TRIANGLE), "s")]
    assert [(row["source"], row["destination"]) for row in rows if row["slowest"]] == [("c", "a")]
    assert rows[1] == {
        "event": "link", "schema_version": 1, "session": "s", "network": "public", "both": False, "source": "c",
        "destination": "a", "bandwidth_bytes": 0.1 * GBIT, "retransmits": 12, "rtt_seconds": None, "runs": [2],
        "slowest": True,
    }  # fmt: skip
    assert list(links_blocks([])) == []


@pytest.mark.parametrize(("direction", "word"), [("out", "b to a"), ("in", "b from a"), ("both", "b and a")])
def test_a_run_is_listed_with_both_ends_of_its_link(direction: str, word: str) -> None:
    options = {"network": "public", "direction": direction, "parallel": 4, "runtime": 10, "omit": 1}
    run = link_run(1, "b", "a", options=options)
    text = f"{word}, {direction}, 4 streams, public network, 10 s"

    assert (conditions(run), short_conditions(run)) == (text, text)
    assert TableContent({1: run}).rows()[0].texts["differs"] == word


def test_a_session_is_shown_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    write_session(tmp_path / "sessions", TRIANGLE, name="s")
    for form, wanted in (("table", "slowest: c"), ("md", "**public network"), ("json", '"event":"link"')):
        show_saved("s", False, False, None, Output(form))
        assert wanted in capsys.readouterr().out, form


def tables_of_figures(of: Material) -> tuple[Block, ...]:
    (found,) = (section for section in document_of(of).sections if section.title == "Figures")
    return found.blocks


def test_a_report_has_it() -> None:
    material = replace(study(), runs=TRIANGLE, headline=lambda run: BY_NAME["bandwidth_bytes"])
    _, title, table, slowest = tables_of_figures(material)[:4]
    assert isinstance(title, Text)
    assert isinstance(table, Table)
    assert isinstance(slowest, Text)
    assert table.titles == ("from \\ to", "a", "b", "c")
    assert table.texts[2] == ("c", "100 Mbit/s ▼", "200 Mbit/s", "")
    assert plain_text(slowest.text).startswith("slowest: c → a, 100 Mbit/s")
    assert not any("slowest" in text for text in map(str, tables_of_figures(study())))
    of_runs = "\n".join(cell for row in runs_table(material).texts for cell in row)
    assert "100 Mbit/s" in of_runs
    assert "B/s" not in of_runs


# ---------------------------------------------------------------------------------------------- the ceiling

NODES = ("pve1", "pve2", "pve3")


def on(nic: NodeEnvironment, *names: str) -> dict[str, NodeEnvironment]:
    return {name: nic.model_copy(update={"hostname": name}) for name in names}


def of_network(run: Run, *of_session: Run, links: Sequence[ClusterLink] = ()) -> Ceiling:
    (network,) = [each for each in ceilings(run, of_session, ClusterRecords(tuple(links))) if each.limit == "network"]
    return network


def test_what_a_client_sends_is_the_limit_of_writes_and_what_it_receives_that_of_reads(golden: Golden) -> None:
    """The faster direction says nothing of the slower one."""
    inward, outward = one_way(1, "pve2", "pve1", 4 * GBIT), one_way(2, "pve1", "pve2", 0.08 * GBIT)
    writes = of_network(wrote(9, bandwidth=5e6), inward, outward)
    assert writes.at_most == pytest.approx(0.75 * 0.08 * GBIT)
    reads = of_network(wrote(9, summary=Summary(read=total(bandwidth_bytes=5e6))), inward, outward)
    assert reads.at_most == pytest.approx(1.5 * 4 * GBIT)
    golden.same([writes.basis, reads.basis])


def test_a_host_that_sends_slowly_slows_the_copies_of_all_clients(golden: Golden) -> None:
    outside = wrote(9, bandwidth=5e6, environment=on(NIC, "client"), nodes=nodes("client"))
    slow, fast = one_way(1, "pve3", "pve2", 0.1 * GBIT), one_way(2, "pve1", "pve2", GBIT)
    assert "client sends: NIC" in of_network(outside, slow).basis, "either end may be the slow one"
    network = of_network(outside, slow, fast)
    assert network.at_most == pytest.approx(0.1 * GBIT * 3 / 2)
    golden.same(network.basis)


def test_of_several_clients_each_has_its_own_limit(golden: Golden) -> None:
    environment = {**on(NIC, "c1"), **on(NodeEnvironment(nic_bits_per_second={"e": 10**9}), "c2")}
    two = wrote(9, bandwidth=5e6, environment=environment, nodes=nodes("c1", "c2"))
    network = of_network(two, one_way(1, "c1", "pve1", 0.2 * GBIT))
    assert network.at_most == pytest.approx(0.2 * GBIT + 0.94e9 / 8)
    golden.same(network.basis)


def test_a_slow_link_is_that_of_the_end_that_has_no_faster_one() -> None:
    run = wrote(9, bandwidth=5e6)
    slow, fast = one_way(1, "pve1", "pve2", 0.1 * GBIT), one_way(2, "pve1", "pve3", 0.8 * GBIT)
    network = of_network(run, slow, fast)
    assert network.at_most == pytest.approx(0.1 * GBIT)
    assert "pve2 receives: 100 Mbit/s as measured" in network.basis


def test_links_in_other_networks_and_of_other_hosts_say_nothing_of_a_node() -> None:
    run, slow = wrote(9, bandwidth=5e6), one_way(1, "pve1", "pve2", 0.1 * GBIT)
    for other in (
        link_run(3, "pve1", "pve2", network="cluster"),
        link_run(3, "pve1", "pve2", target="host:pve2@10.1.1.2"),
        link_run(3, "pve1", "pve2", findings=(NETWORK_UNKNOWN.found(node="pve1"),)),
        one_way(3, "x", "y", 0.1 * GBIT),
    ):
        assert "pve1 sends: NIC" in of_network(run, other).basis
    assert ceilings(slow, [slow]) == [], "a link has no ceiling"


def test_the_copies_pass_the_cluster_network_where_there_is_one() -> None:
    cluster = CLUSTER.model_copy(update={"networks_apart": True})
    run = wrote(9, bandwidth=5e6, cluster=cluster)
    own = [
        link_run(1, "pve1", "pve3", network="cluster"),
        link_run(2, "pve2", "pve3", network="cluster", summary=Summary(write=of_link(0.1 * GBIT))),
    ]
    network = of_network(run, *own)
    assert network.at_most == pytest.approx(0.1 * GBIT * 3 / 2)
    assert "pve2 sends in the cluster network: 100 Mbit/s as measured" in network.basis


def test_a_host_has_as_much_of_the_data_as_of_the_pgs_whatever_the_number_of_its_osds() -> None:
    """Four small disks on one host take as much as one large disk on each of the others."""
    pgs = {"0": 8, "1": 8, "2": 8, "3": 8, "4": 32, "5": 32}
    disks = {osd: f"pve{max(1, int(osd) - 2)}.example.net sd{osd}" for osd in pgs}
    unequal = CLUSTER.model_copy(
        update={"osds_by_host": {"pve1": 4, "pve2": 1, "pve3": 1}, "pgs_by_osd": pgs, "disk_by_osd": disks}
    )
    slow, fast = one_way(1, "pve1", "pve2", 0.1 * GBIT), one_way(2, "pve3", "pve2", 0.5 * GBIT)

    def network(cluster: ClusterEnvironment) -> Ceiling:
        outside = wrote(9, bandwidth=5e6, environment=on(NIC, "client"), nodes=nodes("client"), cluster=cluster)
        return of_network(outside, slow, fast)

    assert network(unequal).at_most == pytest.approx(0.1 * GBIT * 3 / 2), "it sends the copies of a third"
    unknown = unequal.model_copy(update={"disk_by_osd": {**disks, "5": "elsewhere sda"}})
    assert network(unknown).at_most == pytest.approx(0.1 * GBIT * 3 / 4), "of four sixths, by the number of OSDs"


# ---------------------------------------------------------------------------------------------- which link counts


def kept_link(rate: float, ago: timedelta, nics: HostNics | None = None, **fields: Any) -> ClusterLink:
    """From pve1 to pve2, measured some time before the ninth run."""
    usual = {
        "source": "pve1",
        "destination": "pve2",
        "network": "public",
        "bandwidth_bytes": rate,
        "session": "early",
        "run": 3,
        "measured_at": wrote(9).started_at - ago,
        "source_nics": nics,
        "destination_nics": nics,
    }
    return ClusterLink.model_validate({**usual, **fields})


HOUR = timedelta(hours=1)
NICS = nics_of(NIC)
assert NICS
CHANGED = HostNics(bits_per_second={"bond0": 1_000_000_000})
SHAPED = NICS.model_copy(update={"shaping": {"bond0": "tbf rate 80Mbit"}})
ELSEWHERE = NICS.model_copy(update={"networks": {"eno1": "0a1b2c3d", "bond0": "86f91c53"}})
UNPLACED = NICS.model_copy(update={"networks": {}})


def both_known(**changes: Any) -> Run:
    return wrote(9, bandwidth=5e6, environment=on(NIC, "pve1", "pve2"), **changes)


def test_the_newest_valid_measurement_counts_and_never_the_fastest() -> None:
    links = [kept_link(8 * GBIT, 3 * HOUR), kept_link(0.5 * GBIT, HOUR, run=4), kept_link(2 * GBIT, -HOUR, run=5)]
    network = of_network(both_known(), links=links)
    assert network.at_most == pytest.approx(0.75 * 0.5 * GBIT), "what is measured later is not known yet"
    own = one_way(8, "pve1", "pve2", 0.4 * GBIT).model_copy(update={"session": "tuning"})
    session = of_network(both_known(), own, links=links)
    assert session.at_most == pytest.approx(0.75 * 0.4 * GBIT)
    assert "(#8)" in session.basis
    before = one_way(8, "pve1", "pve2", 0.4 * GBIT).model_copy(update={"started_at": wrote(9).started_at - 2 * HOUR})
    older = of_network(both_known(), before, links=links)
    assert older.at_most == network.at_most, "a run of the session counts by the same rule"


def test_what_a_host_sends_is_what_it_sent_when_that_was_last_measured() -> None:
    """A fast link to another host that was measured earlier says nothing of what it sends now."""
    earlier = kept_link(8 * GBIT, 3 * HOUR, destination="pve3")
    slow = kept_link(0.7 * GBIT, HOUR, session="now", run=1)
    assert of_network(both_known(), links=[earlier, slow]).at_most == pytest.approx(0.75 * 0.7 * GBIT)
    beside = kept_link(0.8 * GBIT, HOUR + timedelta(minutes=5), session="now", destination="pve3")
    both = of_network(both_known(), links=[earlier, slow, beside])
    assert both.at_most == pytest.approx(0.75 * 0.8 * GBIT), "the other end of the slow one may be slow"


@pytest.mark.parametrize(
    ("link", "is_valid"),
    [
        (kept_link(GBIT, 23 * HOUR), True),
        (kept_link(GBIT, 25 * HOUR), False),
        (kept_link(GBIT, 1000 * HOUR, NICS), True),
        (kept_link(GBIT, HOUR, CHANGED), False),
        (kept_link(GBIT, 1000 * HOUR, CHANGED), False),
        (kept_link(GBIT, 1000 * HOUR, NICS, destination_nics=None), False),
        (kept_link(GBIT, HOUR, NICS, destination_nics=CHANGED), False),
        (kept_link(GBIT, HOUR, ELSEWHERE), False),
        (kept_link(GBIT, HOUR, UNPLACED), True),
        (kept_link(GBIT, 1000 * HOUR, UNPLACED), False),
        (kept_link(GBIT, HOUR, SHAPED), False),
        (kept_link(GBIT, HOUR, NICS, destination_nics=SHAPED), False),
    ],
    ids=["fresh", "old", "same NICs", "NIC changed", "old, NIC changed", "old, one end unknown", "other end changed",
         "other networks", "networks unknown", "old, networks unknown", "limit gone", "limit of the other end gone"],
)  # fmt: skip
def test_a_link_is_valid_for_a_day_or_with_the_same_nics(link: ClusterLink, is_valid: bool, golden: Golden) -> None:
    network = of_network(both_known(), links=[link])
    assert (network.at_most == pytest.approx(0.75 * GBIT)) is is_valid
    assert ("NIC 10.0 Gbit/s" in network.basis) is not is_valid
    golden.same(network.basis)


def test_a_link_counts_under_the_limit_of_tc_that_it_was_measured_under(golden: Golden) -> None:
    now = NIC.model_copy(update={"nic_shaping": {"bond0": "tbf rate 80Mbit"}})
    limited = wrote(9, bandwidth=5e6, environment=on(now, "pve1", "pve2"))
    measured = kept_link(0.08 * GBIT, HOUR, SHAPED)
    assert of_network(limited, links=[measured]).at_most == pytest.approx(0.75 * 0.08 * GBIT)
    for other in (kept_link(GBIT, HOUR, NICS), kept_link(GBIT, 25 * HOUR, SHAPED)):
        assert "NIC 10.0 Gbit/s" in of_network(limited, links=[other]).basis
    alone = wrote(9, bandwidth=5e6)
    of_other_end = kept_link(0.08 * GBIT, 0.5 * HOUR, NICS, destination_nics=SHAPED)
    assert of_network(alone, links=[of_other_end]).at_most == pytest.approx(0.75 * 0.08 * GBIT)
    later = of_other_end.model_copy(update={"measured_at": of_other_end.measured_at - HOUR})
    golden.same(of_network(alone, links=[later]).basis)


def test_a_host_that_is_not_in_the_run_may_have_another_nic_a_day_later() -> None:
    alone = wrote(9, bandwidth=5e6)
    assert "10.0 Gbit/s" in of_network(alone, links=[kept_link(GBIT, 25 * HOUR, NICS)]).basis
    assert of_network(alone, links=[kept_link(GBIT, 23 * HOUR, NICS)]).at_most == pytest.approx(0.75 * GBIT)


def test_a_link_that_counts_no_more_is_said_where_no_nic_is_known(golden: Golden) -> None:
    unknown = wrote(9, bandwidth=5e6, environment={})
    network = of_network(unknown, links=[kept_link(GBIT, 30 * HOUR)])
    assert (network.at_most, network.is_known, network.is_exceeded) == (None, False, False)
    golden.same(ceiling_lines([network]))


# ---------------------------------------------------------------------------------------------- kept with the cluster


FSID = "0a1b2c3d-0000-4000-8000-00000000beef"
NAMED = {"a": "pve1", "b": "pve2", "c": "pve3"}
"""What the hosts call themselves."""


def of_hosts(value: Run) -> Run:
    environment = {name: NIC.model_copy(update={"hostname": NAMED[name]}) for name in value.environment}
    return value.model_copy(update={"environment": environment})


def in_cluster(fsid: str | None) -> Run:
    return wrote(9, bandwidth=50e6, cluster=CLUSTER.model_copy(update={"fsid": fsid}))


def test_a_link_is_kept_with_its_cluster_and_is_the_ceiling_of_another_session(tmp_path: Path, golden: Golden) -> None:
    root = tmp_path / "sessions"
    for value in (*TRIANGLE, one_way(7, "a", "b", 0.5 * GBIT)):
        keep_records(root, of_hosts(value), FSID)
    run = in_cluster(FSID)
    kept = list(kept_records(root, FSID).links)
    assert len(kept) == 7, "which of them counts depends on the run"
    assert kept[-1].source_nics == kept[-1].destination_nics == NICS
    network = of_network(run, links=kept)
    assert network.at_most == pytest.approx(1.5 * 0.2 * GBIT)
    golden.same(network.basis)


def test_a_line_of_an_earlier_cephtui_is_a_link(tmp_path: Path) -> None:
    path = tmp_path / "clusters" / f"{FSID}.jsonl"
    path.parent.mkdir()
    path.write_text(
        '{"source":"pve1","destination":"pve2","network":"public","bandwidth_bytes":1e8,"session":"s","run":1,'
        '"measured_at":"2026-11-20T10:00:00Z"}\n'
    )
    (link,) = kept_records(tmp_path / "sessions", FSID).links
    assert (link.bandwidth_bytes, link.source_nics) == (1e8, None)


def test_what_is_not_known_to_be_of_the_cluster_is_not_kept(tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    both = link_run(1, "a", "b", summary=Summary(write=of_link(GBIT), read=of_link(GBIT)))
    failed = link_run(2, "a", "b", outcome="failed")
    for value, fsid in ((both, FSID), (failed, FSID), (TRIANGLE[0], ""), (TRIANGLE[0], "../../x")):
        keep_records(root, of_hosts(value), fsid)
    assert [*tmp_path.iterdir()] == []
    keep_records(root, of_hosts(TRIANGLE[0]), FSID)
    with (root.parent / "clusters" / f"{FSID}.jsonl").open("a") as file:
        file.write('{"torn')
    assert len(kept_records(root, FSID).links) == 1
    for other in (FSID.replace("beef", "dead"), None):
        assert kept_records(root, other) == ClusterRecords()


def test_what_two_measurements_of_a_link_show_is_in_bits() -> None:
    """In the table of a comparison and in its verdict; but what a test of data shows is in bytes."""
    rates = enumerate((1.0, 1.01, 0.99, 0.5, 0.505, 0.495), 1)
    runs = [one_way(number, "a", "b", rate * GBIT) for number, rate in rates]
    left, right = Side(tuple(runs[:3])), Side(tuple(runs[3:]))
    judged = judge_sides(left, right, lambda run: BY_NAME["bandwidth_bytes"], datetime(2026, 11, 24, tzinfo=UTC))
    text = printed(draw_comparison(left, right, judged), 80)
    assert "write bandwidth 1.00 Gbit/s -> 500 Mbit/s" in text
    assert "MiB/s" not in text
    assert metric_of("bandwidth_bytes", "fio").as_text(GBIT) == "119 MiB/s"


def test_in_the_table_of_a_session_a_link_has_the_names_of_its_ends_and_osds_have_no_node() -> None:
    osds = link_run(7, "a", "", target="osd:*", tool="osd-bench", options={})
    matrix = matrix_of([*TRIANGLE, osds], lambda _: BY_NAME["bandwidth_bytes"])

    assert column_titles(matrix) == ["b to a", "c to a", "a to b", "c to b", "a to c", "b to c", "osd:*"]
