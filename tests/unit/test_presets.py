"""The packaged presets, a user's own, what is refused in them, and what --set changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cephtui.paths import packaged_presets_dir
from cephtui.presets import (
    STEPS_MOST,
    Catalogue,
    Preset,
    PresetError,
    by_key,
    choose,
    combinations,
    find_presets,
    load_preset,
    parse_overrides,
    preset_rows,
    the_six,
)
from cephtui.tools.base import OptionError
from tests.support.golden import Golden

COMMON = {
    "ioengine": "libaio",
    "direct": True,
    "time_based": True,
    "runtime": 60,
    "ramp_time": 2,
    "group_reporting": True,
}
GROUPS = {
    "dd": ["dd-read", "dd-write"],
    "fio": [
        *("iops-128", "latency-sequential", "mixed-70-30", "provisioned"),
        *("sync-latency", "throughput-64", "write-4m"),
    ],
    "ioping": ["ping"],
    "network": ["network"],
    "osd": ["osd-write"],
    "rados": ["load-gen", "rados-1m", "rados-all", "rados-rand", "rados-seq", "rados-write"],
    "rbd bench": ["rbd-bench-read", "rbd-bench-write"],
    "s3": ["s3-mixed", "s3-put-get-delete"],
    "sweeps": ["block-sweep", "depth-sweep", "jobs-sweep"],
}
OTHERS = [name for names in GROUPS.values() for name in names]
"""Those without a key, as they are listed."""
MEASURED = {
    "iops-128": ["4k randread, depth 128, jobs 1, 60 s", "4k randwrite, depth 128, jobs 1, 60 s"],
    "latency-sequential": ["4k read, depth 1, jobs 1, 60 s", "4k write, depth 1, jobs 1, 60 s"],
    "mixed-70-30": ["4k randrw, depth 4, jobs 4, 60 s"],
    "provisioned": [f"4k {rw}, depth 64, jobs 1, 60 s" for rw in ("randread", "randwrite", "randrw")],
    "sync-latency": ["4k write, depth 1, jobs 1, 60 s"],
    "throughput-64": ["1M read, depth 64, jobs 1, 60 s", "1M write, depth 64, jobs 1, 60 s"],
    "write-4m": ["4M write, depth 32, jobs 1, 60 s"],
    "rados-1m": [f"1M {mode}, 16 at once, 60 s" for mode in ("write", "seq", "rand")],
    "rados-all": [f"4M {mode}, 16 at once, 60 s" for mode in ("write", "seq", "rand")],
    "load-gen": ["4M write, 16 at once, at most 1.00 GiB/s, 60 s"],
    "rbd-bench-read": ["4k rand read, depth 16, 60 s"],
    "rbd-bench-write": ["4k seq write, depth 16, 60 s"],
    "block-sweep": [f"{bs} randwrite, depth 16, jobs 1, 30 s" for bs in ("4k", "16k", "64k", "256k", "1M", "4M")],
    "depth-sweep": [f"4k randwrite, depth {depth}, jobs 1, 30 s" for depth in (1, 2, 4, 8, 16, 32, 64, 128)],
    "jobs-sweep": [f"4k randwrite, depth 1, jobs {jobs}, 30 s" for jobs in (1, 2, 4, 8, 16)],
}
SIX = {
    "write-throughput": {"rw": "write", "bs": "1M", "iodepth": 64, "numjobs": 8},
    "write-iops": {"rw": "randwrite", "bs": "4k", "iodepth": 64, "numjobs": 8},
    "read-throughput": {"rw": "read", "bs": "1M", "iodepth": 64, "numjobs": 8},
    "read-iops": {"rw": "randread", "bs": "4k", "iodepth": 64, "numjobs": 1},
    "latency": {"rw": ["randread", "randwrite"], "bs": "4k", "iodepth": 1, "numjobs": 1},
    "mixed-75-25": {"rw": "randrw", "rwmixread": 75, "bs": "4k", "iodepth": 64, "numjobs": 1},
}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "presets"
    folder.mkdir()
    return folder


def write(folder: Path, name: str, options: str, head: str = 'title = "Own"') -> Path:
    path = folder / f"{name}.toml"
    path.write_text(f"{head}\n\n[options]\n{options}\n")
    return path


def found(own: Path) -> Catalogue:
    return find_presets(packaged_presets_dir(), own)


def preset(catalogue: Catalogue, name: str) -> Preset:
    entry = catalogue[name]
    assert isinstance(entry, Preset), entry
    return entry


# ---------------------------------------------------------------------------------------------- the six


def test_there_are_six_on_the_keys_1_to_6(own: Path) -> None:
    keyed = by_key(found(own))
    assert [preset.name for preset in keyed] == list(SIX)
    assert [preset.file.key for preset in keyed] == [1, 2, 3, 4, 5, 6]
    assert all(preset.file.title and preset.file.description and not preset.user for preset in keyed)


@pytest.mark.parametrize("name", SIX)
def test_the_options_of_the_six(own: Path, name: str) -> None:
    assert preset(found(own), name).file.options == SIX[name] | COMMON


@pytest.mark.parametrize("path", sorted(packaged_presets_dir().glob("*.toml")), ids=lambda path: path.stem)
def test_the_packaged_are_as_their_tools_want_them_so_that_no_start_has_to_ask(path: Path) -> None:
    assert load_preset(path, user=False).file == load_preset(path, user=True).file


def test_latency_reads_and_then_writes(own: Path) -> None:
    latency = preset(found(own), "latency")
    assert [step["rw"] for step in combinations(latency.tool, latency.file.options)] == ["randread", "randwrite"]


@pytest.mark.parametrize("name", MEASURED)
def test_what_those_without_a_key_measure(own: Path, name: str) -> None:
    chosen = preset(found(own), name)
    steps = combinations(chosen.tool, chosen.file.options)
    assert [chosen.tool.bind(options).describe() for options in steps] == MEASURED[name]
    assert chosen.file.description
    assert len(chosen.file.description) < 100
    extra = {"mixed-70-30": {"rwmixread": 70}, "provisioned": {"rwmixread": 75}, "sync-latency": {"fsync": 1}}
    assert extra.get(name, {}).items() <= chosen.file.options.items()


def test_those_without_a_key_are_in_groups(own: Path) -> None:
    write(own, "mine", 'rw = "write"', 'title = "Mine"\ngroup = "night"')
    listed = [(row.group, row.preset) for row in preset_rows(found(own))]
    grouped = [(group, name) for group, names in {**GROUPS, "night": ["mine"]}.items() for name in names]
    assert listed == [*(("", name) for name in SIX), *sorted(grouped)]


# ---------------------------------------------------------------------------------------------- a user's own


def test_a_users_own_is_added_and_marked(own: Path) -> None:
    path = write(own, "night", 'rw = "write"', 'title = "Night"\nkey = 7\nheadline = "bandwidth"')
    night = preset(found(own), "night")
    assert (night.user, night.path, night.file.title) == (True, path, "Night")
    assert [p.name for p in by_key(found(own))] == [*SIX, "night"]


def test_a_key_goes_to_the_users_own_and_to_one_of_them(own: Path) -> None:
    write(own, "night", 'rw = "write"', 'title = "Night"\nkey = 4')
    write(own, "noon", 'rw = "write"', 'title = "Noon"\nkey = 4')
    write(own, "quiet", 'rw = "write"', 'title = "Quiet"')
    keyed = {p.file.key: p.name for p in by_key(found(own))}
    assert keyed == {**dict(enumerate(SIX, 1)), 4: "night"}
    for name in ("read-iops", "noon", "quiet"):
        assert preset(found(own), name).file.key is None


def test_a_users_own_wins_over_the_packaged(own: Path) -> None:
    write(own, "write-iops", 'rw = "randwrite"\niodepth = 4')
    chosen = preset(found(own), "write-iops")
    assert (chosen.user, chosen.file.options) == (True, {"rw": "randwrite", "iodepth": 4})
    assert {name for name, entry in found(own).items() if isinstance(entry, Preset) and entry.user} == {"write-iops"}


def test_the_six_are_the_packaged_and_what_took_their_places(own: Path) -> None:
    assert [p.name for p in the_six(found(own))] == [*SIX]
    for key in (7, 8, 9):
        write(own, f"more-{key}", 'rw = "write"', f'title = "More"\nkey = {key}')
    write(own, "quiet", 'rw = "write"', 'title = "Quiet"')
    assert [p.name for p in the_six(found(own))] == [*SIX]
    write(own, "write-iops", 'rw = "write"', 'title = "Mine, without a key"')
    write(own, "latency", 'rw = "read"', 'title = "Mine, with another key"\nkey = 9')
    write(own, "night", 'rw = "write"', 'title = "Night"\nkey = 4')
    chosen = the_six(found(own))
    assert [p.name for p in chosen] == [name if name != "read-iops" else "night" for name in SIX]
    assert [p.user for p in chosen] == [False, True, False, True, True, False]
    write(own, "day", 'rw = "write"', 'title = "Day"\nkey = 2')
    assert [p.name for p in the_six(found(own))][:3] == ["write-throughput", "day", "read-throughput"]
    write(own, "mixed-75-25", "iodepth = 4")
    assert len(the_six(found(own))) == 5, "a broken one is not run"


def test_the_tools_other_names_of_options_are_those_options(own: Path, golden: Golden) -> None:
    path = write(own, "mine", 'readwrite = "randwrite"\nblocksize = ["4k", "8k"]\ntimeout = 30')
    assert load_preset(path, user=True).file.options == {"rw": "randwrite", "bs": ["4k", "8k"], "runtime": 30}
    path = write(own, "mine", 'rw = "read"\nbs = "4k"\nblocksize = "4k"')
    with golden.raises(PresetError):
        load_preset(path, user=True)


def test_a_broken_one_hides_the_packaged_and_says_why(own: Path) -> None:
    path = write(own, "write-iops", 'rw = "randwrite"\niodepth = 0')
    catalogue = found(own)
    assert isinstance(catalogue["write-iops"], PresetError)
    assert str(path) in str(catalogue["write-iops"])
    assert len([entry for entry in catalogue.values() if isinstance(entry, Preset)]) == len(SIX) + len(OTHERS) - 1
    with pytest.raises(PresetError, match="iodepth"):
        choose(catalogue, ["write-iops"])


def test_without_a_directory_of_ones_own_there_are_the_packaged(tmp_path: Path) -> None:
    assert set(found(tmp_path / "none")) == {*SIX, *OTHERS}


def test_choosing_keeps_the_order(own: Path) -> None:
    assert [p.name for p in choose(found(own), ["latency", "write-iops"])] == ["latency", "write-iops"]


@pytest.mark.parametrize("name", ["write-iop", "zzz"])
def test_an_unknown_preset_is_named_with_a_hint(own: Path, name: str, golden: Golden) -> None:
    with pytest.raises(PresetError, match=f"^unknown preset '{name}': ") as error:
        choose(found(own), [name])
    golden.same(str(error.value))


def test_the_listing(own: Path) -> None:
    write(own, "aaa", 'rw = "read"')
    broken = write(own, "broken", "iodepth = 4")
    listed = preset_rows(found(own))
    assert [row.preset for row in listed] == [*SIX, "aaa", "broken", *OTHERS]
    assert [row.user for row in listed[:7]] == [False] * 6 + [True]
    assert listed[0].options == SIX["write-throughput"] | COMMON
    assert listed[7].error is not None
    assert str(broken) in listed[7].error


# ---------------------------------------------------------------------------------------------- refused


def refusal(path: Path) -> str:
    with pytest.raises(PresetError) as error:
        load_preset(path, user=True)
    text = str(error.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    "option",
    [
        *("exec_prerun", "exec_postrun", "output", "bw_log", "write_lat_log"),
        *("allow_mounted_write", "filename", "directory", "pool", "rbdname"),
    ],
)
def test_options_that_are_not_a_presets_to_set(own: Path, option: str, golden: Golden) -> None:
    text = refusal(write(own, "bad", f'rw = "read"\n{option} = "touch /tmp/x"'))
    assert text.startswith(f"options.{option}: ")
    golden.same(text)


@pytest.mark.parametrize(
    ("options", "bad"),
    [
        ('iodepth = 4\nrw = "reed"', "rw"),
        ('rw = "read"\niodpeth = 4', "iodpeth"),
        ('rw = "read"\nnumjobs = 0', "numjobs"),
        ('rw = "read"\nnumjobs = 5000', "numjobs"),
        ('rw = "read"\niodepth = [1, 100000]', "iodepth"),
        ('rw = "read"\nsize = "1GiB"', "size"),
        ('rw = "read"\nruntime = "long"', "runtime"),
        ("rw = []", "rw"),
        ('rw = { a = "read" }', "rw"),
        ('rw = ["read", ["write"]]', "rw"),
        ("rw = 2026-01-01", "rw"),
        ("bs = '4k'", "rw"),
    ],
)
def test_bad_options_are_named_with_what_was_expected(own: Path, options: str, bad: str, golden: Golden) -> None:
    text = refusal(write(own, "bad", options))
    assert text.startswith(f"options.{bad}: ")
    golden.same(text)


@pytest.mark.parametrize(
    ("head", "bad"),
    [
        ('title = "x"\ncommand = "reboot"', "command"),
        ("key = 3", "title"),
        ("title = 5", "title"),
        ('title = "x"\nkey = 10', "key"),
        ('title = "x"\nkey = "1"', "key"),
        ('title = "x"\nheadline = "speed"', "headline"),
        ('title = "x"\ntool = "cp"', "tool"),
    ],
)
def test_bad_keys_are_named_with_what_was_expected(own: Path, head: str, bad: str, golden: Golden) -> None:
    text = refusal(write(own, "bad", 'rw = "read"', head))
    assert text.startswith(f"{bad}: ")
    golden.same(text)


def test_without_options_it_is_no_preset(own: Path, golden: Golden) -> None:
    path = own / "bad.toml"
    path.write_text('title = "x"\n')
    golden.same(refusal(path))


@pytest.mark.parametrize("content", [b"\xff\xfe", b"title = \x00", b"= 1", b'title = "x\n'])
def test_what_is_not_toml(own: Path, content: bytes) -> None:
    path = own / "bad.toml"
    path.write_bytes(content)
    assert "TOML: " in refusal(path)


def test_what_is_not_a_file(own: Path) -> None:
    (own / "bad.toml").mkdir()
    assert refusal(own / "bad.toml") == "Is a directory"


# ---------------------------------------------------------------------------------------------- sweeps


def test_lists_are_swept_in_order_the_last_fastest(own: Path) -> None:
    write(own, "sweep", 'rw = ["read", "write"]\nbs = "4k"\niodepth = [16, 1, 4]')
    sweep = preset(found(own), "sweep")
    steps = combinations(sweep.tool, sweep.file.options)
    assert [(step["rw"], step["iodepth"]) for step in steps] == [
        *(("read", depth) for depth in (16, 1, 4)),
        *(("write", depth) for depth in (16, 1, 4)),
    ]
    assert {step["bs"] for step in steps} == {"4k"}


def test_a_sweep_has_a_bound(own: Path, golden: Golden) -> None:
    depths = list(range(1, STEPS_MOST + 1))
    write(own, "most", f'rw = "read"\niodepth = {depths}')
    most = preset(found(own), "most")
    assert len(combinations(most.tool, most.file.options)) == STEPS_MOST
    path = write(own, "more", f'rw = ["read", "write"]\niodepth = {depths}')
    golden.same(refusal(path))


# ---------------------------------------------------------------------------------------------- --set


def test_overrides_are_values_and_sweeps() -> None:
    assert parse_overrides(["runtime=3", "size = 64M", "iodepth=1, 4,16", "rw=randread"]) == {
        "runtime": "3",
        "size": "64M",
        "iodepth": ["1", "4", "16"],
        "rw": "randread",
    }


def test_the_last_of_several_overrides_counts() -> None:
    assert parse_overrides(["runtime=3", "runtime=5"]) == {"runtime": "5"}


@pytest.mark.parametrize("text", ["runtime", "=3", "runtime=", "", "="])
def test_what_is_no_override(text: str, golden: Golden) -> None:
    with golden.raises(OptionError):
        parse_overrides([text])


def test_an_override_replaces_the_presets_value(own: Path) -> None:
    latency = preset(found(own), "latency")
    options = latency.file.options | parse_overrides(["rw=randwrite", "iodepth=2"])
    (step,) = combinations(latency.tool, options)
    assert (step["rw"], step["iodepth"], step["bs"]) == ("randwrite", 2, "4k")


@pytest.mark.parametrize(
    "text",
    [
        "iodepth=0",
        "iodepth=1,x",
        "iodepth=1,,2",
        "size=64MiB",
        "filename=/etc/passwd",
        "exec_prerun=reboot",
        "runtim=3",
    ],
)
def test_bad_overrides_are_refused(own: Path, text: str, golden: Golden) -> None:
    latency = preset(found(own), "latency")
    with pytest.raises(OptionError) as error:
        combinations(latency.tool, latency.file.options | parse_overrides([text]))
    golden.same(str(error.value))
