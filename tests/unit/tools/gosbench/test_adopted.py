"""Configs of gosbench's server become presets; their keys are never shown and never kept."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.cli.commands import import_preset
from cephtui.tools.adopted import Adopted
from cephtui.tools.base import OptionError
from cephtui.tools.gosbench.adopted import find_tests, is_config
from tests.support.golden import Golden
from tests.support.importing import own, run, written

__all__ = ["own"]

CANARIES = ("CANARY-ACCESS-1", "CANARY-SECRET-1", "CANARY-ACCESS-2", "CANARY-SECRET-2", "CANARY-GRAFANA")
SERVICE = """\
  - access_key: CANARY-ACCESS-{n}
    secret_key: CANARY-SECRET-{n}
    region: default
    endpoint: {endpoint}
    skipSSLverify: false
"""
TEST = """\
  - name: Test 1
    read_weight: 100
    existing_read_weight: 0
    write_weight: 100
    delete_weight: 100
    list_weight: 100
    objects:
      size_min: 20
      size_max: 100
      part_size: 0
      size_distribution: random
      unit: KB
      number_min: 100
      number_max: 2000
      number_distribution: constant
    buckets:
      number_min: 10
      number_max: 10
      number_distribution: constant
    bucket_prefix: 1255gosbench-
    object_prefix: obj
    stop_with_runtime:
    stop_with_ops: 10
    workers: 2
    parallel_clients: 2
    clean_after: True
"""
GRAFANA = "grafana_config:\n  endpoint: http://10.0.0.1:9090\n  username: admin\n  password: CANARY-GRAFANA\n"
A, B = "http://10.0.0.2:7480", "http://10.0.0.3:7480"


def config(*tests: str, endpoints: tuple[str, ...] = (A,)) -> str:
    services = "".join(SERVICE.format(n=n, endpoint=endpoint) for n, endpoint in enumerate(endpoints, 1))
    return f"---\n\ns3_config:\n{services}{GRAFANA}\ntests:\n{''.join(tests or (TEST,))}...\n"


def changed(*pairs: tuple[str, str]) -> str:
    text = TEST
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def adopted(text: str) -> Adopted:
    ((_, become),) = find_tests(text)
    return become()


def test_a_config_becomes_a_preset_and_each_option_is_answered(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    path = tmp_path / "gosbench.yaml"
    path.write_text(config())
    assert run(str(path)) == 0
    file = written(own)["Test-1"].file
    assert (file.title, file.tool, file.description) == ("Test 1", "gosbench", "from gosbench.yaml")
    assert file.options == {
        **dict.fromkeys(("write_weight", "read_weight", "delete_weight", "list_weight"), 100),
        "size_min": "20k",
        "size_max": "100k",
        "size_distribution": "random",
        "objects": 100,
        "buckets": 10,
        "parallel_clients": 2,
        "runtime": 60,
    }
    err = capsys.readouterr().err
    golden.same(err)
    for option in (
        "access_key, secret_key, region, endpoint, skipSSLverify",
        "grafana_config",
        "objects.number_max",
        "stop_with_ops",
        "1255gosbench-",
        "object_prefix, clean_after",
        "workers",
        "usePathStyle",
    ):
        assert option in err
    assert f"next: cephtui run Test-1 --target s3:{A}\n" in err


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_no_key_is_printed_or_kept(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    path = tmp_path / "gosbench.yaml"
    path.write_text(config(endpoints=(A, B)))
    assert run(str(path), "--in-order", *words) == 0
    printed = "".join(capsys.readouterr())
    kept = "".join(each.read_text() for each in own.rglob("*") if each.is_file()) if own.exists() else ""
    assert not [canary for canary in CANARIES if canary in printed + kept]


@pytest.mark.parametrize("wrong", ["secret_key: [", "secret_key: '", "secret_key: {", "\tsecret_key: ", "endpoint: "])
def test_no_key_is_in_an_error(own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(config().replace("secret_key: ", wrong))
    text = ""
    try:
        run(str(path))
    except click.UsageError as error:
        text = error.message
        assert "\n" not in text
    printed = "".join(capsys.readouterr())
    assert text + printed
    assert not [canary for canary in CANARIES if canary in text + printed]


def test_two_endpoints_are_measured_in_turn_if_that_is_wanted(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(config(endpoints=(A, B)))
    for words in ((), ("--together",)):
        with golden.raises(click.UsageError):
            run(str(path), *words)
    assert written(own) == {}
    assert run(str(path), "--in-order") == 0
    assert f"next: cephtui run Test-1 --target s3:{A},s3:{B}\n" in capsys.readouterr().err
    monkeypatch.setattr(import_preset, "_can_ask", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: True)
    assert run(str(path), "--force") == 0


def test_two_users_of_an_endpoint_are_one_target(golden: Golden) -> None:
    preset = adopted(config(endpoints=(A, A)))
    assert (preset.target, preset.at_once) == (f"s3:{A}", ())
    golden.same(preset.notes)


@pytest.mark.parametrize("endpoint", ["gw:99999", "http://CANARY:CANARY@gw", "http://gw/path", "", "[a]"])
def test_an_endpoint_that_is_none_names_no_target(endpoint: str) -> None:
    preset = adopted(config(endpoints=(endpoint,)))
    assert preset.target == ""
    assert "CANARY:" not in "".join(preset.notes)


def test_tests_that_differ_in_one_option_are_a_sweep(own: Path, tmp_path: Path) -> None:
    path = tmp_path / "clients.yaml"
    path.write_text(config(TEST, changed(("Test 1", "Test 2"), ("parallel_clients: 2", "parallel_clients: 8"))))
    assert run(str(path)) == 0
    assert written(own)["clients"].file.options["parallel_clients"] == [2, 8]
    path.write_text(config(TEST, changed(("Test 1", "Test 2"), ("write_weight: 100", "write_weight: -1"))))
    assert run(str(path)) == 4
    assert "Test-1" in written(own)


@pytest.mark.parametrize(
    ("unit", "size", "least"),
    [("B", "4096", "4k"), ("KB", "64", "64k"), ("k", "3", "3k"), ("MB", "4", "4M"), ("GB", "1", "1G")],
)
def test_sizes_are_the_same_bytes(unit: str, size: str, least: str) -> None:
    sizes = ("size_min: 20", f"size_min: {size}"), ("random", "constant"), ("unit: KB", f"unit: {unit}")
    options = adopted(config(changed(*sizes))).options
    assert (options["size_min"], options.get("size_max")) == (least, None)


@pytest.mark.parametrize(
    ("runtime", "seconds"), [("60s", 60), ("1m30s", 90), ("1h", 3600), ("2.5s", 2.5), ("1500ms", 1.5)]
)
def test_a_time_is_gos(runtime: str, seconds: float, golden: Golden) -> None:
    preset = adopted(config(changed(("stop_with_runtime:", f"stop_with_runtime: {runtime}"))))
    assert preset.options["runtime"] == seconds
    golden.same(dict(preset.left_out)["stop_with_ops"], "tools/gosbench/adopted: both ends")


def test_enough_operations_end_it() -> None:
    options = adopted(config(changed(("stop_with_ops: 10", "stop_with_ops: 1000")))).options
    assert (options["stop_with_ops"], options.get("runtime")) == (1000, None)


def test_reads_of_what_exists_are_reads_of_what_is_written_before(golden: Golden) -> None:
    preset = adopted(config(changed(("existing_read_weight: 0", "existing_read_weight: 7"))))
    assert preset.options["read_weight"] == 107
    golden.same(dict(preset.left_out)["existing_read_weight"])


def test_what_is_no_single_value_is_named_or_refused() -> None:
    found = adopted(
        config(changed(("    workers: 2\n", "    drivers:\n      - one\n    options:\n      deep: {er: 1}\n")))
    )
    assert {"drivers", "options.deep"} <= set(dict(found.left_out))
    with pytest.raises(OptionError):
        adopted(config(changed(("parallel_clients: 2", "parallel_clients: [2, 4]"))))
    with pytest.raises(ValueError, match="tests"):
        find_tests(config(TEST, "  - Test 2\n"))


def test_path_style_that_is_given_needs_no_word(golden: Golden) -> None:
    text = config().replace("skipSSLverify: false", "usePathStyle: true\n    skipSSLverify: true")
    golden.same(adopted(text).notes)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("random", "sequential"),
        ("constant", "random"),
        ("unit: KB", "unit: PB"),
        ("size_min: 20", "size_min: 1.5"),
        ("size_min: 20", "size_min:"),
        ("size_max: 100", "size_max: 20"),
        ("parallel_clients: 2", "parallel_clients: 0"),
        ("stop_with_ops: 10", "stop_with_ops: 0"),
        ("stop_with_runtime:", "stop_with_runtime: 60"),
        ("stop_with_runtime:", "stop_with_runtime: 5 m"),
    ],
)
def test_a_test_that_can_not_be_measured_becomes_none(old: str, new: str, golden: Golden) -> None:
    with golden.raises(OptionError):
        adopted(config(changed((old, new))))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tests: 5\n",
        "a: &a [1]\ntests: *a\n",
        "tests:\n  - name: a\n    name: b\n",
        "tests: [\n",
        "tests:\n\t- a\n",
        "tests: \x00",
        "[" * 60_000,
        "tests: []\n" + "#" * 70_000,
        "tests:\n  - !!python/object/apply:os.system [id]\n",
    ],
)
def test_a_file_that_is_none_is_wrong_usage_in_one_line(own: Path, tmp_path: Path, text: str, golden: Golden) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with golden.raises(click.UsageError) as raised:
        run(str(path))
    assert "\n" not in raised.value.message


def test_a_file_is_named_in_full_however_long_that_is(own: Path, tmp_path: Path) -> None:
    path = tmp_path / ("long-" * 40) / "x.yaml"
    path.parent.mkdir()
    path.write_text("tests: 5\n")
    with pytest.raises(click.UsageError) as raised:
        run(str(path))
    assert raised.value.message.startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("name", "text", "is_one"),
    [
        ("a.yaml", "", True),
        ("", config(), True),
        ("a.json", '{\n  "s3_config": [],\n', True),
        ("a.json", '{"jobs": []}', False),
        ("a.fio", "[tests]\nrw=read\n", False),
        ("a.txt", f"Our benchmark:\n{config()}", False),
    ],
)
def test_a_config_is_known_by_its_name_or_its_begin(name: str, text: str, is_one: bool) -> None:
    assert is_config(name, text) == is_one


@given(st.text(max_size=100), st.integers(0, len(config())))
def test_any_text_is_read_without_another_error(text: str, at: int) -> None:
    whole = config()
    with contextlib.suppress(ValueError):
        for _, become in find_tests(whole[:at] + text + whole[at:]):
            with contextlib.suppress(OptionError):
                become()
