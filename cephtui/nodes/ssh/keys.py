"""The user's keys, from an agent and from files, in the order in which they are tried."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import asyncssh

from cephtui.nodes.ssh.config import Identities
from cephtui.nodes.ssh.questions import Questions


class LoginKeys:
    """The keys for one attempt to log in."""

    def __init__(self, identities: Identities, questions: Questions) -> None:
        self._identities, self._questions = identities, questions
        self._files = [path for path in identities.files if path.exists()]
        self._in_order = self._ordered_keys()
        self._tried: list[Path | None] = []
        """The file of each key that was tried, None for keys of the agent."""
        self._agent: asyncssh.SSHAgentClient | None = None

    @property
    def tried(self) -> str:
        """The files that were tried, and how many keys of the agent."""
        files = [str(path) for path in dict.fromkeys(self._tried) if path]
        agents = self._tried.count(None)
        return ", ".join([*files, *([f"{agents} key{'s' * (agents > 1)} of the agent"] if agents else [])])

    async def next(self) -> asyncssh.SSHKeyPair | None:
        """The next key to try; None after the last."""
        return await anext(self._in_order, None)

    def leave_agent(self) -> None:
        """End the use of the agent, once nothing is to be signed any more."""
        if self._agent:
            self._agent.close()
            self._agent = None

    async def _ordered_keys(self) -> AsyncIterator[asyncssh.SSHKeyPair]:
        """The keys in the order of ssh: the agent's, then files; those with a passphrase last."""
        offered = set()
        for key in await self._agent_keys():
            offered.add(key.public_data)
            self._tried.append(None)
            yield key
        locked = []
        for path in self._files:
            try:
                keys = await self._load(path, None)
            except asyncssh.KeyImportError as error:
                if str(error).startswith("Passphrase"):
                    locked.append(path)
                continue
            for key in keys:
                if key.public_data not in offered:
                    self._tried.append(path)
                    yield key
        for path in locked:
            for key in [] if _public_part(path) in offered else await self._unlock(path):
                self._tried.append(path)
                yield key

    async def _agent_keys(self) -> Sequence[asyncssh.SSHKeyPair]:
        """The agent's keys, first those that are also in a file; none where the agent does not answer."""
        if not self._identities.agent:
            return []
        try:
            self._agent = await asyncssh.connect_agent(self._identities.agent)
            keys = await self._agent.get_keys()
        except (OSError, ValueError):
            return []
        public_keys = await asyncio.to_thread(lambda: {_public_part(path) for path in self._files})
        first = [key for key in keys if key.public_data in public_keys]
        return (
            first if self._identities.only else [*first, *(key for key in keys if key.public_data not in public_keys)]
        )

    async def _load(self, path: Path, passphrase: Any) -> Sequence[asyncssh.SSHKeyPair]:
        certificates = [str(file) for file in self._identities.certificates if file.exists()]
        try:
            return await asyncio.to_thread(asyncssh.load_keypairs, str(path), passphrase, certificates)
        except OSError as error:
            raise asyncssh.KeyImportError(str(error)) from None

    async def _unlock(self, path: Path) -> Sequence[asyncssh.SSHKeyPair]:
        """The keys of a file with a passphrase; an unknown one is asked for when the server wants the key."""
        question = str(path), f"Passphrase for the key {path}:"
        if str(path) not in self._questions and _public_part(path):

            def ask(_: str) -> str:
                self._questions.secret(*question, for_server=False)
                raise asyncssh.KeyImportError("no passphrase yet")

            return await self._load(path, ask)
        passphrase = self._questions.secret(*question, for_server=False)
        if not passphrase:
            return []
        try:
            return await self._load(path, passphrase)
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError):
            self._questions.secret(*question, for_server=False)  # once more: it was wrong
            return []


def _public_part(path: Path) -> bytes | None:
    """The public part of a key file, where it can be read without the passphrase."""
    for file in (f"{path}.pub", str(path)):
        with contextlib.suppress(OSError, asyncssh.KeyImportError):
            return asyncssh.read_public_key(file).public_data
    return None
