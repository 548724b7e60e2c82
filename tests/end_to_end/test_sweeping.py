"""A sweep of the depth by a real fio, held back so that the curve is flat from its beginning; and a random rate."""

from __future__ import annotations

from cephtui.exit_codes import EXIT_NO_VERDICT
from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import CERTAIN, sets

SHORT = sets(runtime=1, ramp_time=0, size="4M", numjobs=1)


def test_a_sweep_goes_up_and_back_and_says_that_there_is_no_knee(new_sandbox: NewSandbox) -> None:
    command = ["run", "write-iops", "--sweep-depth", "auto", "--confirm", *SHORT, *sets(rate_iops=100), "--json"]
    sandbox = new_sandbox()
    console = sandbox.start(*command, env=sandbox.program("fio", CERTAIN))
    assert console.wait() == EXIT_NO_VERDICT, console.describe()
    depths = [run["options"]["iodepth"] for run in console.runs]
    assert depths == [1, 2, 4, 4, 2, 1]
    assert [run["repeat"] for run in console.runs] == [1, 1, 1, 2, 2, 2]
    assert len({run["batch"] for run in console.runs}) == 1
    (knee,) = [event for event in console.events if event["event"] == "knee"]
    assert not knee["known"]
    assert "depth 1 " in knee["text"]
    assert any("knee" in line for line in console.complaints)
    console.sandbox.assert_clean()


def test_a_random_rate_is_fios_own(new_sandbox: NewSandbox) -> None:
    console = new_sandbox().start(
        "run", "write-iops", *SHORT, *sets(rate_iops=200, rate_process="poisson", iodepth=4), "--json"
    )
    assert console.wait() == 0, console.describe()
    (run,) = console.runs
    assert "--rate_process=poisson" in run["command"]
    assert 100 < run["summary"]["write"]["iops"] < 300
