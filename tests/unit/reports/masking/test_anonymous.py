"""No name is left in a report without names, nor on a masked screen, whichever field of a run or a suite it is in.

Each place has a canary of its own, which no other place has: what makes it known can only be its own field, or shape.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from cephtui.analysis.runs.change import Change
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement, conclude
from cephtui.models import Ceiling, Interval, Mark, Model, NamesOf, Node, Run, Sample
from cephtui.models.expectation import Expected
from cephtui.models.session_row import SessionRow
from cephtui.models.study import CHECK, CheckGoal, Ordered, SavedStudy
from cephtui.models.verdict import Conclusion, Verdict
from cephtui.reports.masking.mask import Mask, anonymous, names_in
from cephtui.reports.render import FORMATS
from cephtui.reports.render.svg import svgs_of
from cephtui.reports.views.report.content import document_of, report_view
from cephtui.reports.views.report.material import Material, with_stand_ins
from cephtui.reports.writing import default_name
from cephtui.sessions import store
from cephtui.sessions.jsonlines import as_json
from cephtui.studies.check import Check
from cephtui.tui.app import SavedApp
from cephtui.tui.charts.overlay import curve_points
from cephtui.tui.console.check import CheckScreen
from cephtui.tui.screens.compare import CompareScreen
from cephtui.tui.screens.details import DetailsScreen
from cephtui.tui.screens.matrix import MatrixScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.why import WhyScreen
from tests.support import conducting, desks, studies
from tests.support.canaries import filled, public_models
from tests.support.documents import AT
from tests.support.replayed import screen_text, until
from tests.support.runs import IOPS, STARTED, STEP_SECONDS, total

OWN = {
    "Run.tool": "fio",
    "Run.options key": "rw",
    "Run.options value": "randwrite",
    "Run.edited": "rw",
    "Run.asked key": "rw",
    "Run.asked value": "randwrite",
    "ClusterEnvironment.image_limits key": "rbd_qos_iops_limit",
    "Ceiling.limit": "network",
    "Ceiling.direction": "write",
    "Finding.code": "health",
    "Finding.values key": "pool",
    "Cell.options key": "iodepth",
    "Cell.of_preset key": "rw",
    "Summary.other key": "delete",
    "NodeEnvironment.tools key": "fio",
    "ClusterEnvironment.pool key": "name",
    "NodeResult.depths key": "1",
    "Verdict.tool": "fio",
    "Verdict.direction": "write",
    "Verdict.figure": "iops",
    # numbers of OSDs, and of runs behind the names of their sessions
    "ClusterEnvironment.pgs_by_osd key": "0",
    "ClusterEnvironment.class_by_osd key": "0",
    "ClusterEnvironment.disk_by_osd key": "0",
    "ClusterEnvironment.model_by_osd key": "0",
    "OsdOption.osds": "0",
    "OsdPing.osd": "0",
    "OsdPing.peer": "0",
    "Run.osds key": "0",
    "SlowestOperation.osd": "osd.3",
    "SlowestOperation.stages key": "queue",
    "LeftOut.run": "tuning/2",
    "Verdict.before": "tuning/1",
    "Verdict.after": "tuning/3",
    "Expected.expectation": "write iops>=1",
    "Expected.runs": "tuning/1",
    "Expected.direction": "write",
    "Expected.figure": "iops",
    "Node.programs key": "fio",
    "SessionRow.outcomes key": "ok",
    "SessionRow.validity key": "VALID",
}
"""Places of words of the program's own, by which it looks things up; with one of them."""
CHOSEN = {
    *(
        "Run.session",
        "Run.batch",
        "Run.preset",
        "Cell.preset",
        "Cell.batch",
        "SavedStudy.id",
        "SavedStudy.kind",
        "SavedStudy.suite",
        "StageChange.preset",
        "Verdict.preset",
    ),
    *("CheckGoal.before", "CheckGoal.after", "CheckGoal.before_session", "SessionRow.session", "SessionRow.presets"),
    "Expected.preset",
}
"""Places of what the user has called a session, a preset or a suite: hidden are only names that are known besides."""
FREE = {
    *(
        "Run.heading",
        "Run.other_options key",
        "Run.other_options value",
        "Run.error",
        "Run.command",
        "Run.cephtui_version",
        "Run.user",
        "Ceiling.basis",
        "Ceiling.not_measured",
        "Finding.text",
        "Finding.label",
        "Finding.values value",
        "Mark.text",
        "LeftOut.why",
    ),
    *(f"ClusterEnvironment.{name}" for name in ("ceph_version", "health", "checks", "failure_domain", "osd_flags")),
    *(
        f"ClusterEnvironment.{name}"
        for name in ("disk_by_osd value", "model_by_osd value", "osd_op_queue", "osd_mclock_profile", "image_features")
    ),
    "OsdPing.network",
    *(f"OsdOption.{name}" for name in ("name", "value", "default", "source")),
    *(f"ClusterEnvironment.{name}" for name in ("osds_by_class key", "class_by_osd value")),
    *(f"ClusterEnvironment.{name}" for name in ("pg_states key", "pool value", "no_permission")),
    *(f"ClusterEnvironment.{name} {part}" for name in ("pool_settings", "config") for part in ("key", "value")),
    *(f"NodeEnvironment.{name}" for name in ("os", "kernel", "cpu", "tools value", "missing", "filesystem", "device")),
    *(f"NodeEnvironment.{name} key" for name in ("nic_bits_per_second", "nic_mtu", "settings")),
    *(f"NodeEnvironment.{name} {part}" for name in ("nic_networks", "nic_shaping") for part in ("key", "value")),
    *("NodeEnvironment.settings value", "NodeResult.error", "NodeResult.command", "DiskUse.name"),
    *(
        "MachineUse.nic_packets key",
        "MachineUse.nic_drops key",
        "MachineUse.nic_errors key",
        "MachineUse.disk_busy_ratio key",
    ),
    "MachineUse.kernel_errors",
    *(
        "JobResult.job",
        "JobResult.group",
        "Ordered.title",
        "SavedStudy.title",
        "SavedStudy.goal key",
        "SavedStudy.goal value",
        "Cell.step",
        "Cell.options value",
        "Cell.of_preset value",
    ),
    *("Promise.step", "Promise.expect", "MeasuredVolume.name", "MeasuredVolume.device_class", "Expected.step"),
    *("Cell.expect", "Conclusion.changed", "Conclusion.noted", "Conclusion.notes"),
    *("CheckGoal.metrics", "CheckGoal.directions", "CheckGoal.without"),
    *(f"Node.{name}" for name in ("user", "prefix", "ceph_prefix", "ceph_mon_host", "programs value")),
    *(f"SessionRow.{name}" for name in ("path", "cluster", "note", "tags", "error")),
}
"""Places of words in which names may be."""
ROOTS: tuple[type[Model], ...] = (
    Run,
    Mark,
    Ordered,
    SavedStudy,
    Verdict,
    Conclusion,
    Expected,
    CheckGoal,
    Node,
    SessionRow,
)
"""What a report and the screens are made of."""
KNOWN = "zanzibar-gold"
"""A pool that another run names."""
SENTENCE = (
    "{known}/{name}i: ssh: Could not resolve hostname {name}a: see root@{name}b, {name}c.corp.example, /srv/{name}d, "
    "rbd:{name}e/{name}f, ZANZIBAR-GOLD"
)
COMMAND = "rados --id {name}u bench -p {name}p; fio --pool={known} --rbdname={name}r /dev/{name}d"


def places(roots: Sequence[type[Model]] = ROOTS) -> list[str]:
    """All in which there is text."""
    found: dict[str, None] = {}

    def visited(where: str) -> str:
        found[where] = None
        return "x"

    for model in roots:
        filled(model, visited)
    return list(found)


def said(where: str) -> str | None:
    """What a place names, by its field."""
    model, _, field = where.partition(".")
    field, _, part = field.partition(" ")
    about = next(each for each in public_models() if each.__name__ == model).model_fields[field]
    kinds = [each.kind for each in about.metadata if isinstance(each, NamesOf)]
    return kinds[0] if kinds and part != "value" else None


NUMBERS = {where: number for number, where in enumerate(places())}


def canary(side: str) -> Callable[[str], str]:
    """What stands in a place; ``side`` sets it apart from the same place of another model."""

    def text(where: str) -> str:
        name = f"zan{side}{NUMBERS[where]:03}"
        if where in OWN:
            return OWN[where]
        if where in CHOSEN:
            return f"write {KNOWN}"
        if where.endswith("command"):
            return COMMAND.format(name=name, known=KNOWN)
        if where == "ClusterEnvironment.pool value":
            return name
        forms = {"target": "rbd:{0}t/{0}i", "path": "{0}.txt:12", "pool": "{0}p", None: SENTENCE}
        return forms.get(said(where), "{0}n").format(name, name=name, known=KNOWN)

    return text


def leaks(text: str) -> list[str]:
    """What is left of canaries, each with what is around it."""
    low = text.casefold()
    return [text[max(0, at - 30) : at + 30] for at in range(len(low)) if low.startswith("zan", at)]


def run_of(number: int, iops: float, **given: Any) -> Run:
    """With a canary in each place."""
    run = Run.model_validate(
        filled(Run, canary("abcdefgh"[number]), session="tuning", run=number, batch="b", outcome="ok") | given
    )
    of_all = run.summary.model_copy(update={"write": total(iops=iops, latency_p99_seconds=1 / iops)})
    return run.model_copy(update={"started_at": STARTED + timedelta(seconds=STEP_SECONDS * number), "summary": of_all})


def runs() -> tuple[Run, ...]:
    """Two pairs, of which one run has failed; one knows the pool."""
    failed = run_of(2, 900.0, outcome="failed", preset=f"write {KNOWN}")
    return (
        run_of(1, 1000.0, preset=f"write {KNOWN}"),
        failed,
        run_of(3, 800.0, preset=f"write {KNOWN}"),
        run_of(4, 810.0, preset=f"write {KNOWN}", target=f"rbd:{KNOWN}"),
    )


def second(name: str) -> list[Sample]:
    flow = Interval(ios=1, bytes=1, iops=1.0, bandwidth_bytes=1.0)
    return [Sample(1, None, name, "run", 1.0, 1.0, None, flow)]


def of_change() -> Material:
    """With its verdict."""
    found = runs()
    change = Change(found[:2], found[2:])
    judged = conclude([change], ConclusionTerms(lambda _: IOPS), AT)
    conclusion = Conclusion.model_validate(filled(Conclusion, canary("z"), answer="met"))
    text = SENTENCE.format(name="zanm001", known=KNOWN)
    network = Ceiling(limit="network", direction="write", metric="iops", measured=1.0, at_most=2.0, basis="")
    return Material(
        runs=found,
        changes=(change,),
        judgement=Judgement(judged.verdicts, conclusion),
        headline=lambda _: IOPS,
        marks=(Mark(at=found[2].started_at - timedelta(seconds=1), text=canary("y")("Mark.text")),),
        lines={},
        files=((f"tuning/001/raw/{found[0].nodes[0].node}.stdout", "0" * 64),),
        other_runs=("tuning/11",),
        notes=(text.replace("zanm001", "zanm002"),),
        made_at=AT,
        title="",
        ceilings={"tuning/1": (network.model_copy(update={"basis": text.replace("zanm001", "zanm003")}),)},
        seconds=second,
        expected=(Expected.model_validate(filled(Expected, canary("w"), word="PASS", answer="met", given=None)),),
    )


def of_study() -> Material:
    """Without a verdict, of what was ordered as a whole; its session has the name of a pool."""
    named = [run.model_copy(update={"session": KNOWN}) for run in runs()]
    ordered = Ordered.model_validate(filled(Ordered, canary("x")))
    title = SENTENCE.format(name="zanm004", known=KNOWN)
    return replace(
        of_change(), runs=tuple(named), changes=(), judgement=None, ordered=ordered, title=title,
        other_runs=(f"{KNOWN}/11",), files=((f"{KNOWN}/001/run.json", "0" * 64),), sides=("before", "after"),
        ceilings={},
    )  # fmt: skip


def outputs(of: Material) -> dict[str, str]:
    """All that ``cephtui report`` writes, as text; and what it makes that of, since another may show more of it."""
    judged = [of.judgement.conclusion, *of.judgement.verdicts] if of.judgement else []
    models = [*of.runs, *of.marks, *judged, *of.expected]
    models += [of.ordered] if of.ordered else []
    found: dict[str, str] = {"models": "\n".join(map(as_json, models)), "title": document_of(of).title}
    found["name"] = default_name(of.sessions[-1], "xlsx")
    for form, each in FORMATS.items():
        content = each.render(report_view(of, seconds=True))
        if isinstance(content, bytes):
            with zipfile.ZipFile(BytesIO(content)) as book:
                found |= {f"{form} {name}": book.read(name).decode() for name in book.namelist()}
        else:
            found[form] = content
    return found | svgs_of(document_of(of))


# ---------------------------------------------------------------------------------------------- places


def test_of_each_text_it_is_known_whether_it_is_a_name_or_words() -> None:
    for where in places():
        kinds = [where in OWN, where in CHOSEN, where in FREE, said(where) is not None]
        assert sum(kinds) == 1, f"{where}: say what it names, or list it here with what may be in it"
    assert {*OWN, *CHOSEN, *FREE} <= {*places()}


# ---------------------------------------------------------------------------------------------- reports


@pytest.mark.parametrize("of", [of_change, of_study])
def test_no_name_is_left_in_a_report(of: Callable[[], Material]) -> None:
    material = of()
    assert leaks("".join(outputs(material).values())), "they are there if they are not hidden"
    hidden = {name: found for name, text in outputs(with_stand_ins(material)).items() if (found := leaks(text))}
    assert hidden == {}


def test_what_is_added_to_a_report_is_looked_at_here() -> None:
    hidden = {"runs", "changes", "judgement", "marks", "files", "other_runs", "notes", "title", "sides", "ceilings"}
    hidden |= {"expected"}
    of_runs = {"headline", "lines", "made_at", "ordered", "osds", "seconds", "is_versus", "until_stable"}
    of_runs |= {"is_diagnosis"}
    assert {field.name for field in fields(Material)} == hidden | of_runs


@pytest.mark.parametrize("name", ["name", "crush_rule", "erasure_code_profile"])
def test_what_a_pool_was_made_with_is_a_name(name: str) -> None:
    found = runs()[0]
    assert found.cluster
    cluster = found.cluster.model_copy(update={"pool": {name: "zanzibar9", "type": "replicated"}})
    of = replace(of_change(), runs=(found.model_copy(update={"cluster": cluster}),), changes=(), judgement=None)
    assert [leaks(text) for text in outputs(with_stand_ins(of)).values() if leaks(text)] == []


def test_options_that_no_preset_can_have_keep_their_names_and_lose_those_in_their_values() -> None:
    given = {"log_avg_msec": "1000", "verify": "write", "hostname": "10.0.0.1", "write_bw_log": "/srv/zanzibar/x"}
    (run, *_) = runs()
    found = anonymous(run.model_copy(update={"other_options": given}), Mask({"log": "node", "verify": "pool"}))
    assert [*found.other_options] == [*given]
    assert (found.other_options["log_avg_msec"], found.other_options["verify"]) == ("1000", "write")
    assert not leaks(str(found.other_options))
    assert "10.0.0.1" not in found.other_options.values()


# ---------------------------------------------------------------------------------------------- screens


@pytest.mark.parametrize("model", ROOTS)
def test_what_a_model_names_is_known_before_any_of_it_is_shown(model: type[Model]) -> None:
    given: dict[str, Any] = {"session": "tuning", "target": f"rbd:{KNOWN}"} if model is Run else {}
    found = model.model_validate(filled(model, canary("v"), **given))
    mask = Mask({KNOWN: "pool", **names_in([found])})
    assert leaks(as_json(found))
    assert leaks(mask.text(as_json(found))) == []
    for words in as_json(found).split():
        assert leaks(mask.text(words)) == [], "also where the words around it are on another line"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with marks between its runs."""
    ordered = Ordered.model_validate(filled(Ordered, canary("x")))
    directory = studies.write(tmp_path_factory.mktemp("names"), runs(), ordered)
    marks = (Mark(at=run.started_at, text=canary(side)("Mark.text")) for side, run in zip("stuv", runs(), strict=True))
    (directory / "marks.jsonl").write_text("".join(f"{as_json(mark)}\n" for mark in marks))
    return directory


def guided() -> CheckGoal:
    asked = {"takes_turns": False, "before_runs": 6, "most": 12, "fixed": None, "confidence": 0.95}
    words = {"presets": ["write-iops"], "metrics": [], "directions": [], "before": ["b"], "after": ["a"]}
    return CheckGoal.model_validate(filled(CheckGoal, canary("w"), **asked, **words))


def compared(directory: Path) -> CompareScreen:
    one, _, two, _ = store.read_runs(directory)[0]
    marks = tuple(store.read_marks(directory))
    curves = curve_points(store.read_history(directory, 1))
    return CompareScreen(Side((one,), marks), Side((two,), marks), curves, curves)


def checked(directory: Path) -> CheckScreen:
    """On a node and a target with names of their own."""
    own = canary("w")
    study = conducting.study("write-iops", paths=[f"/{own('Cell.target')}"], node=Node(name=own("Cell.nodes")))
    goal = guided().model_dump(mode="json")
    saved = study.saved.model_copy(update={"kind": CHECK, "goal": goal, "title": own("SavedStudy.title")})
    return CheckScreen(Check(saved, study.requests), desks.desk_at(directory))


SCREENS: dict[str, Callable[[Path], Screen[None]]] = {
    "runs": SessionScreen,
    "details": lambda directory: DetailsScreen(directory, store.read_run(directory, 1)),
    "failed": lambda directory: DetailsScreen(directory, store.read_run(directory, 2)),
    "compare": compared,
    "matrix": MatrixScreen,
    "why": WhyScreen,
    "check": checked,
}


@pytest.mark.parametrize("name", SCREENS)
async def test_no_name_is_left_on_a_masked_screen(session: Path, name: str) -> None:
    app = SavedApp(session.parent, [SCREENS[name](session)])
    async with app.run_test(size=(100, 300)) as pilot:
        await until(pilot, lambda: bool(leaks(screen_text(app))))
        await pilot.press("P")
        await until(pilot, lambda: app.masking.is_on)
        assert leaks(screen_text(app)) == []
