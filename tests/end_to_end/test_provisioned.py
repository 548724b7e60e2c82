"""Volumes that are held to a rate by fio itself: as promised, below it, and not limited."""

from __future__ import annotations

from tests.end_to_end.sandbox import CERTAIN, Sandbox, sets

RATE = 100
SHORT = sets(runtime=3, ramp_time=1, size="4M", iodepth=4, rate_iops=RATE)


def test_each_volume_has_its_row_and_all_have_one_exit_code(sandbox: Sandbox) -> None:
    """fio holds reads and writes to the rate apart: both together are twice as fast."""
    path = sandbox.root / "volumes.toml"
    rows = {"kept": f"read_iops = {RATE}", "missed": f"iops = {3 * RATE}", "free": f"write_iops = {RATE // 2}"}
    path.write_text(
        "".join(
            f'[[volumes]]\ntarget = "file:{sandbox.files}/{name}"\nname = "{name}"\n{line}\n'
            for name, line in rows.items()
        )
    )
    dry = sandbox.start("provisioned", str(path), *SHORT, "--dry-run")
    assert dry.wait() == 0, dry.describe()
    assert dry.stdout.count("--rate_iops") >= 3
    env = sandbox.program("fio", f'case " $* " in *" --rate_iops"*) ;; *) exec "$FIO" "$@";; esac\n{CERTAIN}')
    console = sandbox.start("provisioned", str(path), *SHORT, "--session", "S", env=env)
    assert console.wait(240) == 5, console.describe()
    cells = {line.split()[0]: line.split()[1:] for line in console.stdout.splitlines()[-4:-1]}
    assert cells["kept"][:5] == ["4", "100", "/", "133", "PASS"]
    assert cells["missed"][:3] == ["4", "300", "FAIL"]
    assert cells["free"][4:7] == ["-", "NOT", "CAPPED"]
    assert console.stdout.splitlines()[-1].startswith("2 of 3 ")
    page = sandbox.root / "volumes.html"
    again = sandbox.start("provisioned", str(path), *SHORT, "--session", "T", "-o", str(page), env=env)
    assert (again.wait(240), again.stdout) == (5, ""), again.describe()
    text = page.read_text()
    assert text.index("2 of 3 volumes") < text.index("cephtui show T/1")
    refused = sandbox.start("provisioned", str(path), *SHORT, "--session", "U", "-o", str(page), env=env)
    assert refused.wait() == 3, refused.describe()
    assert not (sandbox.data / "sessions" / "U").exists()
    sandbox.assert_clean()
