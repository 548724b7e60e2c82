"""Logging in: whether a host key is accepted, and which keys and secrets the host gets to see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import asyncssh

from cephtui.nodes.ssh.config import Hop
from cephtui.nodes.ssh.hostkeys import HostKey
from cephtui.nodes.ssh.keys import LoginKeys
from cephtui.nodes.ssh.questions import Questions
from cephtui.printable import one_line

_NEW_PASSWORD = re.compile(r"\b(chang(e|ing)|new)( your| unix)? password\b|\bpassword( has)? expired\b", re.IGNORECASE)
"""Questions of PAM after a password that was right and has expired."""


class Login(asyncssh.SSHClient):
    """Answers what asyncssh asks during a login, from the user's answers so far."""

    def __init__(
        self, hop: Hop, answers: Mapping[str, str], at_end: Callable[[], None], *, interactive: bool = True
    ) -> None:
        self.problem: str | None = None
        """Why the login failed, or was given up."""
        self.unknown_authority = False
        """Whether the host has shown a certificate of an unknown authority."""
        self.began = self.logged_in = False
        self.questions = Questions(hop.node.name, answers)
        self.at_begin: Callable[[], None] = lambda: None
        """Called when the host has proved that its key is its own."""
        self._hop, self._at_end = hop, at_end
        self._keys = LoginKeys(hop.identities, self.questions)
        self._accepted: HostKey | None = None
        self._secrets: dict[str, None] = {}
        """The login methods for which there was a secret."""
        self._interactive = interactive
        """Whether keyboard-interactive is tried."""
        self._prompts: Counter[str] | None = None
        """How often each prompt has come since keyboard-interactive began; None before it."""

    @property
    def tried(self) -> str:
        """The login methods that were tried."""
        keys, identities = self._keys.tried, self._hop.identities
        missing = [str(path) for path in identities.files if identities.named and not path.exists()]
        tried = [*([f"publickey ({keys})"] if keys else []), *self._secrets]
        tried += (
            ["keyboard-interactive (the server asked nothing)"] if self.asks_nothing or not self._interactive else []
        )
        nothing = (
            "nothing"
            if self.questions.passed_over
            else "nothing, since there is no key, and the server accepts no password"
        )
        text = ", ".join(tried) or nothing
        return f"{text} ({', '.join(missing)} is not there)" if missing else text

    @property
    def remedy(self) -> str:
        """A hint where the server refuses all that was tried."""
        if self.questions.passed_over:
            return "a question was not answered"
        return "check the user, and the key in IdentityFile"

    @property
    def asks_nothing(self) -> bool:
        """Whether the server has refused keyboard-interactive without a question, as an sshd without PAM does."""
        return self._prompts is not None and not self._prompts

    # ------------------------------------------------------------------ asyncssh's callbacks

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Whether to accept a host with this key; asyncssh has refused a revoked one before."""
        shown, known_keys = HostKey(key.get_algorithm(), key.public_data), self._hop.entry.known_keys
        match known_keys.judge(shown):
            case "known":
                return True
            case "unknown":
                return self._accept(shown)
            case "changed":
                expected = " or ".join(str(key) for key in known_keys.keys)
                self.problem = (
                    f"host key has CHANGED: expected {expected}, got {shown}; this may be an attack (man "
                    f"in the middle), or the host has a new key: then remove the old one with {known_keys.removal}"
                )
        return False

    def validate_host_ca_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Whether to believe a certificate that this key has signed."""
        trusted = self._hop.entry.known_keys.trusts(HostKey(key.get_algorithm(), key.public_data))
        self.unknown_authority = not trusted
        return trusted

    def begin_auth(self, username: str) -> None:
        """The host has proved that its key is its own: store it, if the user has just accepted it."""
        self.began = True
        self.at_begin()
        if self._accepted:
            self._hop.entry.store(self._accepted)

    def auth_completed(self) -> None:
        """Leave the agent, since nothing more has to be signed."""
        self.logged_in = True
        self._keys.leave_agent()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the agent, and report the end of the connection."""
        self._keys.leave_agent()
        self._at_end()

    async def public_key_auth_requested(self) -> asyncssh.SSHKeyPair | None:
        """The next key to try."""
        key = await self._keys.next()
        return None if self.questions.open else key

    def password_auth_requested(self) -> str | None:
        """The password; None where there is none."""
        self.questions.begin_try()
        answer = self.questions.secret(f"password:{self._hop.login}", f"Password for {self._hop.login}:")
        if answer:
            self._secrets["password"] = None
        return answer or None

    def password_change_requested(self, prompt: str, lang: str) -> Any:
        """Report that the password is right and has expired."""
        self._expire()
        return NotImplemented

    def kbdint_auth_requested(self) -> str | None:
        """Empty submethods; None without keyboard-interactive, or where the server has asked nothing in it before."""
        if self.questions.open or self.asks_nothing or not self._interactive:
            return None
        self.questions.begin_try()
        self._prompts = Counter()
        return ""

    def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Sequence[tuple[str, bool]]
    ) -> list[str] | None:
        """The answers to the server's prompts; None where one is missing."""
        assert self._prompts is not None
        if any(_NEW_PASSWORD.search(f"{instructions} {prompt}") for prompt, _ in prompts):
            self._expire()
            return None
        answers = []
        for prompt, _ in prompts:
            question = one_line(prompt)
            self._prompts[question] += 1
            again = f" ({self._prompts[question]})" if self._prompts[question] > 1 else ""
            text = one_line(f"{self._hop.login}: {instructions} {prompt or 'Answer:'}")
            answer = self.questions.secret(f"prompt:{self._hop.login}:{question}{again}", text)
            if not answer:
                return None
            answers.append(answer)
        if prompts:
            self._secrets["keyboard-interactive"] = None
        return answers

    # ------------------------------------------------------------------

    def _expire(self) -> None:
        """Report that the password has to be changed; answers to prompts for a new one are not kept."""
        self.questions.forget()
        self.problem = f"the password of {self._hop.login} has expired: change it with ssh, then try again"

    def _accept(self, key: HostKey) -> bool:
        entry = self._hop.entry
        text = (
            f"The authenticity of {entry.name} can't be established: {key.type} key {key.fingerprint}. "
            f"Accept{f' and add it to {entry.file}' if entry.file else ''}?"
        )
        accepted = self.questions.accepted(f"hostkey:{key.fingerprint}", text)
        self._accepted = key if accepted else None
        if accepted is False:
            self.problem = f"its host key was not accepted: {key}"
        return accepted is True
