"""Questions of nodes, asked on the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import TypeVar

import click

from cephtui.models import Node
from cephtui.models.refusal import Refusal
from cephtui.nodes.state import NodeState
from cephtui.nodes.transport import Question
from cephtui.nodes.vault import VaultError
from cephtui.printable import one_line
from cephtui.running.launch import PATIENCE_SECONDS, Ask, Launcher, NotRun, Unanswered, give_secrets
from cephtui.running.runner import Runner
from cephtui.targets import target_kind
from cephtui.targets.base import SecretsMissing
from cephtui.terminal import say

T = TypeVar("T")


class Prompts(Ask):
    """Asks nodes' questions on the terminal; the guards' questions are answered by flags beforehand."""

    async def answer(self, node: Node, question: Question) -> str:
        """Raises Unanswered without a terminal too: an unknown host key is never accepted unasked."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            how = f"ssh {f'-F {node.ssh_config} ' if node.ssh_config else ''}{node.host}"
            remedy = "run it in a terminal" if question.secret else f"check the key, and accept it with: {how}"
            raise Unanswered(f"{node.name}: {question.topic}: there is no terminal to ask on: {remedy}")
        text = one_line(f"{node.name}: {question.text}")
        if question.secret:
            answer: str = click.prompt(
                text, hide_input=True, err=True, default="", show_default=False, prompt_suffix=" "
            )
            return answer
        if click.confirm(text, err=True):
            return "yes"
        raise Unanswered(f"{node.name}: its host key was not accepted")

    async def agree(self, refusal: Refusal) -> bool:
        """Raises NotRun: the refusal's text names the flag."""
        raise NotRun(refusal.text, refusal)

    def say(self, text: str) -> None:
        """On stderr."""
        say(text)


def connect(runner: Runner, nodes: Sequence[Node], pool: str | None = None) -> list[NodeState]:
    """``Launcher.connect`` with questions asked on the terminal, until all nodes are connected or have a problem."""

    async def states() -> list[NodeState]:
        return [state async for state in Launcher(runner, Prompts()).connect(nodes, pool)]

    return asyncio.run(states())


def patiently(answer: Future[T], text: str) -> T:
    """The result; the text is printed while that takes longer than a moment."""
    with contextlib.suppress(TimeoutError):
        return answer.result(PATIENCE_SECONDS)
    say(text)
    return answer.result()


def ask_secrets(runner: Runner, node: Node, parts: Iterable[str]) -> None:
    """Ask for the secrets that the removal of these parts needs; without an answer it fails, and says why."""
    kinds = [(kind, part.partition(":")[2]) for part in parts if (kind := target_kind(part))]
    for service, names in {kind.service(name): kind.secrets for kind, name in kinds}.items():
        with contextlib.suppress(NotRun, VaultError):
            if service and not runner.vault.get(service):
                missing = SecretsMissing(service, names, "to remove what was left behind")
                asyncio.run(give_secrets(Prompts(), runner.vault, node, missing))
