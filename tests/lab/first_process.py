"""The first process of a machine, which is a set of namespaces: when it ends, the kernel ends all others in them.

Started as a script by `unshare`: DIRECTORY NAME [--own-files] [--root ROOT]. It waits for a line before it does
anything, so that whoever starts it can write down first what it starts. With a root it has the files of that, and of
this machine the lab's own directory and this checkout alone.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

_CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main() -> None:
    """Sets the machine up, says so, and stays until it is killed or the lab's directory is gone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("name")
    parser.add_argument("--own-files", action="store_true")
    parser.add_argument("--root")
    chosen = parser.parse_args()
    directory, name = chosen.directory, chosen.name
    if not sys.stdin.readline():
        sys.exit(f"{name}: not told to start")
    try:
        socket.sethostname(name)
        if chosen.root:
            change_root(chosen.root, f"{directory}/roots/{name}", [directory, _CHECKOUT])
        if chosen.own_files:
            own_files(directory, f"{directory}/hosts/{name}")
        if not chosen.root:
            mount("-t", "proc", "proc", "/proc")
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
    print("ready", flush=True)

    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    # Whatever loses its parent in here becomes a child of this process.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while os.path.exists(f"{directory}/state.json"):
        time.sleep(2)


def change_root(root: str, at: str, kept: Sequence[str]) -> None:
    """Leaves the files of this machine for those of a root directory."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "root.sh")
    tree = subprocess.run(["sh", script, root, at, *kept], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    mount("-t", "proc", "proc", f"{tree}/proc")
    os.chdir(tree)
    subprocess.run(["pivot_root", ".", "mnt"], check=True)
    os.chdir("/")
    subprocess.run(["umount", "--lazy", "/mnt"], check=True)


def own_files(directory: str, host: str) -> None:
    """Gives a host what no two hosts share: /run, the home of root, and where programs leave files."""
    for place, files in (("/tmp", f"{host}/tmp"), ("/var/tmp", f"{host}/var-tmp"), ("/var/log", f"{host}/var-log")):
        # The lab's own directory has to stay in sight, under the same name, and the programs of this checkout.
        for kept in (directory, _CHECKOUT):
            if kept.startswith(f"{place}/"):
                seen = files + kept.removeprefix(place)
                os.makedirs(seen, exist_ok=True)
                mount("--bind", kept, seen)
        mount("--rbind", files, place)
    mount("--bind", f"{host}/passwd", "/etc/passwd")
    mount("-t", "tmpfs", "-o", "mode=755,size=64m", "tmpfs", "/run")
    os.mkdir("/run/sshd", 0o755)
    os.mkdir("/run/lock")
    os.chmod("/run/lock", 0o1777)


def mount(*words: str) -> None:
    """Mounts inside this machine only."""
    subprocess.run(["mount", *words], stdin=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
