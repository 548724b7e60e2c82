"""A node's shell that answers as a cluster did that was recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from cephtui.ceph.answers import no_cluster
from cephtui.models import Node
from cephtui.nodes.transport import Completed, TransportError
from cephtui.nodes.vault import Vault
from tests import RECORDINGS
from tests.support.known import known

ANSWERS = RECORDINGS / "ceph-16.2"
COMMANDS: dict[str, dict[str, Any]] = json.loads((ANSWERS / "commands.json").read_text())
Argv = tuple[str, ...]


class RecordedShell:
    """A node that answers as recorded; where several recordings have an answer, as the first of them."""

    vault = Vault()

    def __init__(self, *folders: str, **instead: Completed | TransportError) -> None:
        """``instead`` are answers to commands whose first words, joined by ``_``, are these."""
        self.node = Node(name="n1")
        self.asked: list[Argv] = []
        self.at_once = self.most_at_once = self.batches = 0
        self.instead: dict[str, Completed | TransportError] = {"bash_guests": Completed(0, "done\t\n", ""), **instead}
        self._answers: dict[Argv, Completed] = {}
        for name, said in COMMANDS.items():
            if name.partition("/")[0] in folders:
                stdout = (ANSWERS / f"{name}.stdout").read_text()
                known = Completed(said["status"], stdout, said["stderr"])
                rank = folders.index(name.partition("/")[0])
                self._answers.setdefault((str(rank), *said["argv"]), known)
        self._ranks = [str(rank) for rank in range(len(folders))]

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = 30.0, stdin: str = "") -> Completed:
        """See Shell."""
        if argv[0] == "python3":
            self.batches += 1
            return self._instead("python3") or self._batch(json.loads(argv[-1]))
        self.asked.append(tuple(argv))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return self._answer(tuple(argv))

    async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = 30.0) -> Completed:
        """See Shell."""
        return await self.run(argv)

    def _batch(self, commands: Sequence[dict[str, Any]]) -> Completed:
        """What ``cephtui/ceph/commands_on_node.py`` reports of these commands."""
        plain = [("ceph", *_words(command)) for command in commands]
        asked = [argv if argv[1:3] == ("config", "get") else (*argv, "-f", "json") for argv in plain]
        try:
            done = [self._answer(argv) for argv in asked]
        except TransportError:
            return Completed(1, "", "")
        if any(one.status and no_cluster(one.status, one.stderr) for one in done):
            return Completed(1, "", "")
        self.asked += asked
        return Completed(0, json.dumps([[one.status, one.stdout, one.stderr] for one in done]), "")

    def _instead(self, words: str) -> Completed | None:
        answer = self.instead.get(words)
        if isinstance(answer, TransportError):
            raise answer
        return answer

    def _answer(self, argv: Argv) -> Completed:
        for words in self.instead:
            if _short(argv).startswith(words):
                return known(self._instead(words))
        found = (self._answers.get((rank, *argv)) for rank in self._ranks)
        return next((one for one in found if one), Completed(1, "", f"nothing recorded of {argv}"))

    def about(self, image: str) -> list[Argv]:
        return [argv for argv in self.asked if image in argv]


_NO_WORDS = ("prefix", "only", "most")


def _words(command: dict[str, Any]) -> list[str]:
    values = [value if isinstance(value, list) else [value] for name, value in command.items() if name not in _NO_WORDS]
    return [*command["prefix"].split(), *(str(word) for value in values for word in value)]


def _short(argv: Argv) -> str:
    """A command in the words that tests use; of a script, its name."""
    return f"bash_{argv[3].removeprefix('cephtui-')}" if argv[0] == "bash" else "_".join(argv)


def ok(value: object) -> Completed:
    return Completed(0, value if isinstance(value, str) else json.dumps(value), "")
