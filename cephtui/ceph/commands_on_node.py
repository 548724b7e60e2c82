"""Run on a node by Ceph's own Python: commands that ``ceph`` knows, over one connection.

    python3 -c SCRIPT COMMANDS [PLAIN]

COMMANDS is a JSON list of commands as the monitors take them, ``{"prefix": "osd tree", "states": ["down"]}``; one with
``"target": "osd.*"`` goes to every OSD, with ``"target": "osd.3"`` to that one; several of these at a time. Of every
OSD the output is a line, ``osd.3: {}``; with ``"only"``, a regular expression, it has nothing else of the objects in
its object than what has such a name; where there are more OSDs than ``"most"`` none is asked. The result is a JSON list
with the status, the output and the error output of each. With PLAIN it is the outputs alone, a line each, and the exit
status is that of the last command that failed.

Modules that are seldom needed are imported where they are: that is a tenth of what a query costs the node.

It ends with status 110 where the cluster does not answer, and with 127 where only ``ceph`` itself, if it is installed,
may know how to connect.
"""

import errno
import json
import os
import shutil
import sys
from typing import Any, NoReturn

CONNECT_SECONDS = 20
OSD_SECONDS = 5
OSDS_AT_ONCE = 16
NO_SUCH_OSD = 6
TRIED = "CEPHTUI_PYTHON_TRIED"


def main() -> int:
    cluster = connect_or_end()
    commands = json.loads(sys.argv[1])
    if len(sys.argv) > 2:
        return outputs(cluster, commands)
    print(json.dumps(ask_all(cluster, commands)))
    return 0


def connect_or_end() -> Any:
    """The cluster; where it can't be reached, the program ends with the status that says so."""
    rados = rados_module()
    if rados is None or not shutil.which("ceph"):
        end(127)
    try:
        return connected(rados)
    except rados.TimedOut as error:
        sys.stderr.write(str(error) + "\n")
        end(110)
    except rados.Error as error:
        sys.stderr.write(str(error) + "\n")
        end(127)


def rados_module() -> Any:
    """Ceph's module. The first Python of PATH may be another one's (a venv, pyenv, conda): where it has no such module,
    the same command begins again with the Python that ``ceph`` itself has. None where no Python has the module.
    """
    try:
        import rados

        return rados
    except ImportError:
        pass
    from pathlib import Path

    tried = [*filter(None, os.environ.pop(TRIED, "").split(":")), sys.executable]
    words = Path("/proc/self/cmdline").read_bytes().split(b"\0")[1:-1]
    for python in pythons_of_ceph():
        if python not in tried and os.access(python, os.X_OK):
            environment = {
                name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONPATH")
            }
            os.execve(python, [os.fsencode(python), *words], dict(environment, **{TRIED: ":".join([*tried, python])}))
    return None


def pythons_of_ceph() -> Any:
    """The Python programs that may have Ceph's modules, the likeliest first."""
    from pathlib import Path

    try:
        with Path(shutil.which("ceph") or os.devnull).open("rb") as file:
            first = file.readline(500)
    except OSError:
        first = b""
    words = first.decode("ascii", "replace").partition("#!")[2].split()[:2]
    candidates = [shutil.which(word) for word in words if "python" in Path(word).name]
    return [*filter(None, candidates), "/usr/bin/python3"]


def connected(rados: Any, osd_seconds: int = OSD_SECONDS) -> Any:
    """The cluster, reached as ``ceph`` reaches it: by ceph.conf, and by what stands in CEPH_ARGS.

    An OSD that does not answer within ``osd_seconds`` has failed.
    """
    words = os.environ.get("CEPH_ARGS", "").split()
    name, options = entity(words) if words else ("client.admin", words)
    cluster = rados.Rados(name=name, conffile="")
    cluster.conf_parse_argv(options)
    cluster.conf_set("rados_osd_op_timeout", str(osd_seconds))
    cluster.connect(timeout=CONNECT_SECONDS)
    return cluster


def entity(words: Any) -> Any:
    """The name of the Ceph user that connects, and the other options."""
    import argparse

    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--id", "--user", default="admin")
    parser.add_argument("-n", "--name")
    client, options = parser.parse_known_args(words)
    return client.name or "client." + client.id, options


def outputs(cluster: Any, commands: Any) -> int:
    failed = 0
    for command in commands:
        status, output, _ = ask(cluster, command)
        failed = status or failed
        if output.strip():
            print(output.strip())
    return failed


def ask_all(cluster: Any, commands: Any) -> Any:
    if not any("target" in command for command in commands):
        return [ask(cluster, command) for command in commands]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(OSDS_AT_ONCE) as threads:
        return list(threads.map(lambda command: ask(cluster, command), commands))


def ask(cluster: Any, command: Any) -> Any:
    if "target" in command:
        own = ("target", "only", "most")
        osd = command["target"].partition(".")[2]
        text = json.dumps({**{key: command[key] for key in command if key not in own}, "format": "json"})
        if osd == "*":
            return ask_osds(cluster, text, command.get("only"), command.get("most"))
        return answer(cluster.osd_command(int(osd), text, b""))
    return answer(cluster.mon_command(json.dumps(dict(command, format="json")), b""))


def ask_osds(cluster: Any, text: str, only: Any, most: Any) -> Any:
    """The outputs of all OSDs, a line each. OSDs that are down are an error only where no other has answered."""
    from concurrent.futures import ThreadPoolExecutor

    status, listed, error = answer(cluster.mon_command(json.dumps({"prefix": "osd ls", "format": "json"}), b""))
    if status or (most and len(json.loads(listed)) > most):
        return status, "", error

    def asked(osd: int) -> Any:
        return (osd, *answer(cluster.osd_command(osd, text, b"")))

    with ThreadPoolExecutor(OSDS_AT_ONCE) as threads:
        replies = list(threads.map(asked, json.loads(listed)))
    are_some_up = any(not reply[1] for reply in replies)
    failed = [reply for reply in replies if reply[1] and not (are_some_up and reply[1] == NO_SUCH_OSD)]
    status, error = (failed[0][1], failed[0][3]) if failed else (0, "")
    outputs = [f"osd.{osd}: {wanted(output, only)}" for osd, failure, output, _ in replies if not failure]
    return status, "\n".join(outputs), error


def wanted(output: str, only: Any) -> str:
    """Of the objects in an object what has such a name; all where none is asked for."""
    if only is None:
        return output.strip()
    import re

    name = re.compile(only)
    objects = [(outer, inner) for outer, inner in json.loads(output).items() if isinstance(inner, dict)]
    return json.dumps({outer: {key: inner[key] for key in inner if name.match(key)} for outer, inner in objects})


def answer(done: Any) -> Any:
    status, output, message = done
    number = abs(status)
    error = "Error {}: {}".format(errno.errorcode.get(number, "Unknown"), message) if number else message
    return number, output.decode(), error


def end(status: int) -> NoReturn:
    """End at once: the threads of librados run on, and may crash in what the end of Python takes away."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    end(main())
