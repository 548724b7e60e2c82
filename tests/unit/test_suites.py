"""Suites: their files, which target each step takes, in which order all is run, and what is left of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from cephtui.cli.verbs import cli
from cephtui.models import Mark, Node
from cephtui.models.study import Cell, SavedStudy
from cephtui.ordering import by_kind, cells_of, in_slices, once, place, plan_of, plans_of, requests_of, steps_per_repeat
from cephtui.paths import packaged_suites_dir
from cephtui.planning import Order, Request
from cephtui.presets import Preset, PresetError, combinations
from cephtui.studies.runs import Runs
from cephtui.suites import Suite, Suites, SuiteStep, find_suites, load_suite, shared_options, suite_rows
from cephtui.targets import KINDS, Target, parse_target
from cephtui.tools.base import OptionError
from tests.support.conducting import run_of
from tests.support.golden import Golden
from tests.support.plans import catalogue, packaged
from tests.support.sessions import write_session

WRITES = '[[steps]]\npreset = "write-iops"\n'


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "suites"
    folder.mkdir()
    return folder


def written(folder: Path, steps: str, head: str = 'title = "Mine"', name: str = "mine") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(f"{head}\n{steps}")
    return path


def loaded(folder: Path, steps: str, head: str = 'title = "Mine"') -> Suite:
    return load_suite(written(folder, steps, head), catalogue(), user=True)


# ---------------------------------------------------------------------------------------------- files


def test_a_suite_has_all_that_its_file_says(own: Path) -> None:
    head = 'title = "Night"\ndescription = "all"\norder = "abba"\nrepeats = 3\n[options]\nruntime = 20\niodepth = 4'
    steps = (
        '[[steps]]\npreset = "rados-write"\ntargets = ["pool"]\noptional = true\n'
        '[[steps]]\npreset = "write-iops"\ntitle = "small"\nrepeats = 5\neach = "node"\nexpect = ["iops>=5000"]\n'
        'options = { blocksize = ["4k", "8k"], runtime = 10 }\n'
    )
    suite = loaded(own, steps, head)
    first, second = suite.steps
    assert (suite.name, suite.user, suite.file.order) == ("mine", True, "abba")
    assert (first.title, first.options, first.repeats) == ("rados-write", {"runtime": 20}, 3), "it has no iodepth"
    assert (first.schemes, first.optional, first.each_node) == (("pool",), True, False)
    assert second.options == {"runtime": 10, "iodepth": 4, "bs": ["4k", "8k"]}
    assert (second.title, second.repeats, second.each_node) == ("small", 5, True)
    assert second.expect == ("iops>=5000",)


def test_a_step_is_called_by_its_preset_and_what_it_sets(own: Path) -> None:
    steps = f'{WRITES}options = {{ iodepth = [1, 4], size = "1G" }}\n{WRITES}'
    suite = loaded(own, steps, 'title = "Mine"\n[options]\nruntime = 5')
    assert [step.title for step in suite.steps] == ["write-iops size 1G", "write-iops"]


WRONG = {
    "no steps": ("", "steps: missing"),
    "an empty list": ("steps = []", "steps: List should have at least 1 item"),
    "steps of another type": ("steps = 4", "steps: expected a valid list, got 4"),
    "a step that is none": ("steps = [4]", "steps.1: "),
    "an unknown key": (f"{WRITES}nodes = 3\n", "steps.1.nodes: "),
    "no preset": ('[[steps]]\ntitle = "x"\n', "steps.1.preset: missing"),
    "an unknown preset": ('[[steps]]\npreset = "write-iop"\n', "unknown preset 'write-iop': did you mean write-iops?"),
    "repeats as text": (f'{WRITES}repeats = "3"\n', "steps.1.repeats: expected a valid integer, got '3'"),
    "no repeats": (f"{WRITES}repeats = 0\n", "steps.1.repeats: expected greater than or equal to 1, got 0"),
    "huge repeats": (f"{WRITES}repeats = {'9' * 4000}\n", "steps.1.repeats: expected less than or equal to 1000, got"),
    "endless repeats": (f"{WRITES}repeats = {'9' * 5000}\n", ""),
    "an expectation that is none": (
        f'{WRITES}expect = ["iops>=1", "fast"]\n',
        "steps.1.expect: expected [read|write|flush|commit] FIGURE>=NUMBER",
    ),
    "another each": (f'{WRITES}each = "osd"\n', "steps.1.each: expected 'node', got 'osd'"),
    "an unknown kind of target": (
        f'{WRITES}targets = ["nfs"]\n',
        f"steps.1.targets.1: expected {', '.join(KINDS)}, got 'nfs'",
    ),
    "an unknown option": (f"{WRITES}options = {{ depth = 4 }}\n", "steps.1.options.depth: unknown option"),
    "a refused option": (f'{WRITES}options = {{ filename = "/x" }}\n', "steps.1.options.filename: not allowed"),
    "an option of a wrong type": (f"{WRITES}options = {{ bs = {{ a = 1 }} }}\n", "steps.1.options.bs: expected text"),
    "an empty sweep": (f"{WRITES}options = {{ bs = [] }}\n", "steps.1.options.bs: expected at least one value"),
    "a number for an expected figure": (f"{WRITES}expect = [5]\n", "steps.1.expect.1: expected a valid string, got 5"),
    "a second step": (f"{WRITES}{WRITES}options = {{ bs = 0 }}\n", "steps.2.options.bs: "),
    "too many steps": (WRITES * 101, "steps: List should have at most 100 items"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_names_the_file_the_key_and_what_was_expected(own: Path, name: str, golden: Golden) -> None:
    text, expected = WRONG[name]
    path = written(own, text)
    with golden.raises(PresetError) as error:
        load_suite(path, catalogue(), user=True)
    assert str(error.value).startswith(f"{path}: {expected}")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 700


HEADS = (
    'title = "x"\ncolor = 3',
    "description = 'x'",
    'title = "x"\norder = "random"',
    'title = "x"\n[options]\ndepth = 4',
    'title = "x',
)


@pytest.mark.parametrize("head", HEADS)
def test_an_error_in_the_head_of_a_suite(own: Path, head: str, golden: Golden) -> None:
    path = written(own, WRITES, head)
    with golden.raises(PresetError) as error:
        load_suite(path, catalogue(), user=True)
    assert str(error.value).startswith(f"{path}: ")


def test_what_is_no_text_or_no_file_is_an_error_of_its_own(own: Path, golden: Golden) -> None:
    (own / "binary.toml").write_bytes(b"\x00\xff\xfe" * 100)
    (own / "folder.toml").mkdir()
    (own / "large.toml").write_text("# " + "x" * (1 << 20))
    (own / "quick.toml").write_text(f'title = "Mine"\n{WRITES}')
    (own / "latency.toml").write_text(f'title = "Mine"\n{WRITES}')
    suites = find_suites(packaged_suites_dir(), own, catalogue())
    errors = {name: str(entry) for name, entry in suites.items() if isinstance(entry, PresetError)}
    assert errors.keys() == {"binary", "folder", "large", "latency"}
    golden.same(text for _, text in sorted(errors.items()))
    quick = suites["quick"]
    assert isinstance(quick, Suite)
    assert (quick.user, quick.path) == (True, own / "quick.toml"), "a user's own replaces the packaged one"
    listed = {row.suite: row for row in suite_rows(suites)}
    assert listed["folder"].error
    assert (listed["quick"].runs, listed["quick"].user, listed["quick"].error) == (1, True, None)


def packaged_suites() -> Suites:
    return find_suites(packaged_suites_dir(), Path("/nonexistent"), catalogue())


def test_the_packaged_suites_are_valid_and_described() -> None:
    for name, suite in packaged_suites().items():
        assert isinstance(suite, Suite), suite
        assert suite.file.title, name
        assert suite.file.description, name


def test_what_the_packaged_suites_measure(golden: Golden) -> None:
    for name, suite in packaged_suites().items():
        assert isinstance(suite, Suite)
        assert len(suite.file.description) < 100
        golden.same(
            f"{name}: {each.title}: {tool.bind(options).describe()}"
            for each in suite.steps
            for tool in [each.preset.tool]
            for options in combinations(tool, {**each.preset.file.options, **each.options})
        )


def test_the_proxmox_suite_runs_on_each_node_and_then_on_all() -> None:
    suite = packaged_suites()["proxmox"]
    assert isinstance(suite, Suite)
    placed, _ = place(suite.steps, [[target("rbd:v")]])
    on = [cell.nodes for cell in cells_of(placed, ("a", "b", "c"))]
    assert on == [("a",), ("b",), ("c",)] * 4 + [("a", "b", "c")] * 4
    assert len(cells_of(place(once(suite.steps), [[target("rbd:v")]])[0], ("a",))) == 4, "of a single node once"
    spans = {each.title: each.options["size"] for each in suite.steps}
    assert [spans[name] for name in ("write-iops", "read-iops")] == ["1280M", "10G"], "10 GiB, by 8 jobs and by one"


def test_quick_takes_about_five_minutes() -> None:
    (quick,) = (row for row in suite_rows(packaged_suites()) if row.suite == "quick")
    assert 240 < quick.duration_seconds < 330
    assert [step.preset for step in quick.steps] == ["rados-write", "write-iops", "latency"]


def test_an_option_is_set_where_the_tool_has_it() -> None:
    both = [packaged("rados-write")[0], packaged("write-iops")[0]]
    assert shared_options(both, {"blocksize": "8k", "runtime": 5}) == [{"runtime": 5}, {"bs": "8k", "runtime": 5}]
    assert shared_options(both, {"pool": "x"}) == [{"pool": "x"}] * 2, "each tool knows why it does not take it"


# ---------------------------------------------------------------------------------------------- targets by kind


def target(text: str) -> Target:
    return parse_target(text, owner_id="0badcafe")


def step(name: str, repeats: int = 1, **more: object) -> SuiteStep:
    (preset,) = packaged(name)
    return replace(SuiteStep(preset, name, {}, repeats), **more)  # type: ignore[arg-type]


def taken(steps: Sequence[SuiteStep], *values: str) -> dict[str, list[str]]:
    """Which targets each step is run on."""
    placed, _ = place(steps, by_kind([[target(text) for text in value.split(",")] for value in values]))
    return {each.step.title: [target.spec for target in each.targets] for each in placed}


def test_a_step_takes_the_first_target_that_its_tool_can_use() -> None:
    steps = [step("rados-write"), step("write-iops")]
    expected = {"rados-write": ["pool:v"], "write-iops": ["rbd:v"]}
    assert taken(steps, "pool:v", "rbd:v") == expected
    assert taken(steps, "rbd:v", "pool:v") == expected


def test_several_of_a_kind_are_an_axis() -> None:
    steps = [step("rados-write"), step("write-iops")]
    expected = {"rados-write": ["pool:a", "pool:b"], "write-iops": ["rbd:v"]}
    assert taken(steps, "pool:a,pool:b", "rbd:v") == expected
    assert taken(steps, "pool:a", "rbd:v", "pool:b") == expected
    assert taken(steps[1:], "rbd:v,file:/x") == {"write-iops": ["rbd:v", "file:/x"]}, "with a comma of any kind"


def test_a_step_may_be_for_some_kinds_only(golden: Golden) -> None:
    steps = [step("write-iops"), replace(step("read-iops"), schemes=("file",))]
    assert taken(steps, "rbd:v", "file:/x") == {"write-iops": ["rbd:v"], "read-iops": ["file:/x"]}
    with golden.raises(OptionError):
        taken(steps, "rbd:v")


def test_a_target_that_nothing_uses_and_a_step_without_one_are_errors(golden: Golden) -> None:
    steps = [step("rados-write"), step("write-iops")]
    with pytest.raises(OptionError, match=r"^target: write-iops: fio measures images, .*: use --target rbd:POOL$"):
        taken(steps, "pool:v")
    with golden.raises(OptionError):
        taken(steps[1:], "rbd:v", "pool:v")
    with pytest.raises(OptionError, match=r"^target: rados bench measures"):
        taken(steps[:1], "rbd:v")


def test_a_step_that_may_be_left_out_is_named(golden: Golden) -> None:
    steps = [replace(step("rados-write"), optional=True), step("write-iops")]
    placed, left_out = place(steps, [[target("rbd:v")]])
    assert [each.step.title for each in placed] == ["write-iops"]
    golden.same(left_out)
    with pytest.raises(OptionError):
        place(steps[:1], [[target("rbd:v")]])


def test_what_is_proposed_for_a_target_that_nothing_uses_is_of_a_step_that_could(golden: Golden) -> None:
    steps = [step("osd-write"), step("write-iops")]
    with golden.raises(OptionError):
        place(steps, [[target("osd:*")], [target("rbd:v")], [target("rbd:w")]])


# ---------------------------------------------------------------------------------------------- the order


def test_all_links_are_measured_before_the_next_step() -> None:
    steps = [step("network"), step("write-iops")]
    targets = [[target("host:a"), target("host:b")], [target("rbd:v"), target("rbd:w")]]

    found = cells_of(place(steps, targets)[0], ("a", "b"))

    assert [cell.target for cell in found] == ["host:a", "host:b", "rbd:v", "rbd:w"]


def ordered(
    steps: Sequence[SuiteStep],
    *targets: str,
    nodes: Sequence[str] = ("a",),
    order: Order | None = None,
    suite: str = "s",
) -> tuple[SavedStudy, list[Request]]:
    placed, _ = place(steps, by_kind([[target(text)] for text in targets]))
    found = SavedStudy(at=datetime(2026, 11, 23, tzinfo=UTC), suite=suite, order=order, cells=cells_of(placed, nodes))
    return found, again(found)


def again(found: SavedStudy) -> list[Request]:
    """The requests of what is ordered, from nothing but what is kept."""
    kept = SavedStudy.model_validate_json(found.model_dump_json())
    return requests_of(
        kept,
        {name: preset for name, preset in catalogue().items() if isinstance(preset, Preset)},
        {cell.target: target(cell.target) for cell in kept.cells},
        {name: Node(name=name) for cell in kept.cells for name in cell.nodes},
    )


def run(slices: Sequence[Request]) -> str:
    """In which order: the first letter of each step's target, preset and nodes."""
    plans = plans_of(slices)
    return " ".join(
        s.target[-1] + s.preset[0] + "".join(node.node for node in s.nodes) for plan in plans for s in plan.steps
    )


def test_a_cell_is_a_step_on_a_target_and_nodes() -> None:
    steps = [step("write-iops", each_node=True, expect=("iops>=1",)), step("read-iops", 2)]
    found, requests = ordered(steps, "rbd:x", "rbd:y", nodes=("a", "b"))
    assert [(c.step, c.target, c.nodes, c.repeats) for c in found.cells[:3]] == [
        ("write-iops", "rbd:x", ("a",), 1),
        ("write-iops", "rbd:x", ("b",), 1),
        ("read-iops", "rbd:x", ("a", "b"), 2),
    ]
    assert [cell.target for cell in found.cells] == ["rbd:x"] * 3 + ["rbd:y"] * 3
    assert len({cell.batch for cell in found.cells}) == 6
    assert found.cells[0].expect == ("iops>=1",)
    assert run(in_slices(requests, None)) == "xwa xwb xrab xrab ywa ywb yrab yrab"


def test_on_a_single_node_nothing_is_run_on_each_and_on_all() -> None:
    steps = [step("write-iops", each_node=True), step("write-iops"), step("read-iops")]
    assert [(each.title, each.each_node) for each in once(steps)] == [("write-iops", True), ("read-iops", False)]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (None, "xwa xwa xwa xra xla xla xla xla"),
        ("abab", "xwa xra xla xla xwa xla xla xwa"),
        ("abba", "xwa xra xla xla xla xla xwa xwa"),
    ],
)
def test_cells_of_different_lengths_take_turns(order: Order | None, expected: str) -> None:
    steps = [step("write-iops", 3), step("read-iops", 1), step("latency", 2)]
    _, requests = ordered(steps, "rbd:x", order=order)
    assert [steps_per_repeat(request) for request in requests] == [1, 1, 2]
    assert run(in_slices(requests, order)) == expected


def test_the_values_of_a_sweep_turn_round_too() -> None:
    _, requests = ordered([step("latency", 2), step("write-iops", 2)], "rbd:x", order="abba")
    did = [s.options["rw"] for plan in plans_of(in_slices(requests, "abba")) for s in plan.steps]
    assert did == ["randread", "randwrite", "randwrite", "randwrite", "randwrite", "randread"]


def test_presets_on_one_target_are_one_plan() -> None:
    study, (request,) = ordered([step("write-iops", 2), step("read-iops", 2)], "rbd:x", suite="")
    assert request.batches == tuple(cell.batch for cell in study.cells)
    assert [s.batch for s in plan_of(request).steps] == [study.cells[0].batch] * 2 + [study.cells[1].batch] * 2


def test_what_is_prefilled_stays_for_the_next_step() -> None:
    _, requests = ordered([step("write-iops", 2), step("write-iops")], "rbd:x", "rbd:y", order="abab")
    filled = [bool(s.fill_bytes) for plan in plans_of(in_slices(requests, "abab")) for s in plan.steps]
    assert filled == [True, False, True, False, False, False]


# ---------------------------------------------------------------------------------------------- what is left


def rest_of(found: SavedStudy, requests: Sequence[Request], done: Collection[tuple[str, int | None]]) -> list[Request]:
    """The slices that are left where these steps, by batch and number, were run."""
    steps = [s for plan in plans_of(in_slices(requests, found.order)) for s in plan.steps]
    runs = [run_of(s, number, 1.0) for number, s in enumerate(steps) if (s.batch, s.number) in done]
    return Runs(found, requests).left(runs)


def left(found: SavedStudy, done: int) -> str:
    """What is left after the first so many runs."""
    slices = in_slices(again(found), found.order)
    finished = {(s.batch, s.number) for s in [s for plan in plans_of(slices) for s in plan.steps][:done]}
    return run(rest_of(found, again(found), finished))


@pytest.mark.parametrize("order", [None, "abab", "abba"])
@pytest.mark.parametrize("suite", ["s", ""])
def test_what_is_left_is_the_rest_of_the_order(order: Order | None, suite: str) -> None:
    repeats = (3, 1, 2) if suite else (2, 2, 2)
    names = ("write-iops", "read-iops", "latency")
    steps = [step(name, number) for name, number in zip(names, repeats, strict=True)]
    found, requests = ordered(steps, "rbd:x", order=order, suite=suite)
    whole = run(in_slices(requests, order)).split()
    for done in range(len(whole) + 1):
        assert left(found, done).split() == whole[done:], done


def test_what_is_missing_in_the_middle_is_measured() -> None:
    study, (request,) = ordered([step("write-iops", 5)], "rbd:x")
    (batch,) = request.batches
    rest = rest_of(study, [request], {(batch, 1), (batch, 3)})
    assert [(each.begun, each.until) for each in rest] == [(1, 2), (3, 5)]
    assert [s.number for plan in plans_of(rest) for s in plan.steps] == [2, 4, 5]
    assert rest_of(study, [request], {(batch, number) for number in range(1, 6)}) == []


def test_it_is_measured_as_it_was_ordered_though_the_preset_has_changed() -> None:
    study, _ = ordered([step("write-iops", options={"iodepth": [1, 4]})], "rbd:x")
    changed = packaged("write-iops")[0]
    changed = replace(changed, file=changed.file.model_copy(update={"options": {"rw": "read", "bs": ["4k", "8k"]}}))
    (request,) = requests_of(study, {"write-iops": changed}, {"rbd:x": target("rbd:x")}, {"a": Node(name="a")})
    assert [(s.options["rw"], s.options["bs"], s.options["iodepth"]) for s in plan_of(request).steps] == [
        ("randwrite", "4k", 1),
        ("randwrite", "4k", 4),
    ]


# ---------------------------------------------------------------------------------------------- the command line


REFUSED = (
    "run",
    "run quick write-iops",
    "run quic",
    "run quick --until-stable",
    "run quick --set filename=/x",
    "run quick --node far",
    "run quick --target pool:x",
    "run write-iops --target file:/x --target rbd:y",
    "run rados-write",
    "run quick --data-pool x",
    "run --resume x",
    "run write-iops --resume x",
    "run --resume x --set a=b",
    "run --resume x --target a",
    "run --resume x --repeat 2",
    "run --resume x --order abba",
    "run --resume x --session y",
)


@pytest.mark.parametrize("words", REFUSED)
def test_what_does_not_go_together_is_a_usage_error(home: Path, words: str, golden: Golden) -> None:
    found = CliRunner().invoke(cli, words.split())
    assert found.exit_code == 2, found.output
    golden.same(found.output.splitlines()[-1])


def test_a_comma_in_a_path_is_none_between_targets(home: Path) -> None:
    small = ["--set", "size=1M", "--set", "numjobs=1", "--dry-run"]
    both = f"file:{home}/a,b,file:{home}/c"
    found = CliRunner().invoke(cli, ["run", "write-iops", "--target", both, *small])
    assert found.exit_code == 0, found.output
    assert f"file:{home}/a,b, file:{home}/c\n" in found.stdout


def test_a_dry_run_of_a_suite_has_its_steps_its_order_and_the_time_of_all(home: Path, golden: Golden) -> None:
    found = CliRunner().invoke(cli, ["run", "quick", "--dry-run", "--set", "size=1M", "--repeat", "2"])
    assert found.exit_code == 0, found.output
    assert "1. write-iops 4k randwrite, depth 64, jobs 8, 20 s, size=1M, working set 8.00 MiB, file:" in found.stdout
    assert "3. latency 4k randwrite, depth 1, jobs 1, 20 s, size=1M, working set 1.00 MiB, file:" in found.stdout
    assert found.stdout.count(", 2 times\n") == 3
    assert "2:18 min" in found.stdout
    assert "write-iops, latency rw=randread, latency rw=randwrite, write-iops, " in found.stdout
    golden.same(found.output.splitlines()[-4:])


def test_suites_are_listed_below_the_presets_and_shown_with_their_steps(home: Path) -> None:
    listed = CliRunner().invoke(cli, ["presets"]).stdout
    assert listed.index("write-iops") < listed.index("\nsuite ")
    assert "quick" in listed[listed.index("\nsuite ") :]
    assert "3 steps, 12 runs, about " in listed
    shown = CliRunner().invoke(cli, ["presets", "quick"]).stdout
    assert "The steps take turns: A B A B." in shown
    assert "\n1. rados-write runtime 20\n   3 runs, on all nodes at once, pool (left out without one)\n" in shown
    assert "\n2. write-iops runtime 20, size 128M\n   3 runs, on all nodes at once, file, rbd or device\n" in shown


@pytest.mark.parametrize("name", ["run", "presets"])
def test_a_shell_completes_suites(home: Path, name: str) -> None:
    found = CliRunner().invoke(
        cli, [], env={"_CEPHTUI_COMPLETE": "bash_complete", "COMP_WORDS": f"cephtui {name} qu", "COMP_CWORD": "2"},
        prog_name="cephtui",
    )  # fmt: skip
    assert found.stdout.split() == ["plain,quick"]


def kept(home: Path, **fields: object) -> None:
    """A session with what was ordered in it, and no runs."""
    cell = Cell(step="s", preset="write-iops", target="file:/x", nodes=("local",), batch="b")
    study = SavedStudy(at=datetime(2026, 11, 23, tzinfo=UTC), cells=(cell.model_copy(update=fields),))
    write_session(home / "data" / "sessions", name="x", studies=[study], marks=[Mark(at=study.at, text="a new disk")])


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"preset": "removed"}, "unknown preset 'removed': "),
        ({"target": "nfs:/x"}, "unknown target 'nfs:/x'"),
        ({"options": {"exec_prerun": "rm"}}, "exec_prerun: "),
        ({"of_preset": {"rw": "write", "ioengine": "x"}}, "ioengine: expected one of "),
        ({"nodes": ("-oProxyCommand=x",)}, "host '-oProxyCommand=x': expected "),
    ],
)
def test_what_a_session_was_changed_to_is_refused(home: Path, fields: dict[str, object], expected: str) -> None:
    kept(home, **fields)
    found = CliRunner().invoke(cli, ["run", "--resume", "x"])
    assert found.exit_code == 2, found.output
    assert expected in found.output


def test_a_session_without_an_order_has_nothing_to_resume(home: Path, golden: Golden) -> None:
    kept(home)
    (home / "data" / "sessions" / "x" / "studies.jsonl").unlink()
    found = CliRunner().invoke(cli, ["run", "--resume", "last"])
    assert found.exit_code == 2
    golden.same(found.output.splitlines()[-1])
