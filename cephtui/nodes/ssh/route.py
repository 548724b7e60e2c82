"""The connection to a node through its jump hosts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import asyncssh

from cephtui.models import Node
from cephtui.nodes.ssh.attempt import LOGIN_SECONDS, AsksNothing, Attempt, NoSuchAuthority, Reached
from cephtui.nodes.ssh.config import Hop, look_up, split_host
from cephtui.nodes.ssh.proxy import Proxy
from cephtui.nodes.transport import Question

ATTEMPT_SECONDS = 15.0
"""Seconds that an attempt to connect may take before the login; an sshd under load takes seconds."""
HOPS_MOST = 8


class Route:
    """Connects to one node."""

    def __init__(self, node: Node, answers: Mapping[str, str]) -> None:
        self.proxies: list[Proxy] = []
        """Programs that carry a connection."""
        self._node, self._answers = node, answers

    async def take(self, host: str) -> Reached:
        """Connect to the node, at this host; raises TransportError."""
        reached: Reached | None = None
        try:
            reached = await self._reach(await self._look_up(host, self._node.user, self._node.port))
        finally:
            if not isinstance(reached, asyncssh.SSHClientConnection):
                for proxy in self.proxies:
                    await proxy.ended()
        return reached

    async def _look_up(self, host: str, user: str | None, port: int | None) -> Hop:
        return await asyncio.to_thread(look_up, self._node, host, user, port)

    async def _reach(self, hop: Hop, behind: tuple[str, ...] = ()) -> Reached:
        """Connect to a host, first to its jump hosts; ``behind`` are the hosts that come after it."""
        if len(behind) > HOPS_MOST:
            raise hop.error(f"its jump hosts form a loop: {' -> '.join(behind)}")
        jump = await self._last_jump(hop)
        tunnel = await self._reach(jump, (*behind, hop.original_host)) if jump else None
        if isinstance(tunnel, Question):
            return tunnel
        reached: Reached | None = None
        try:
            reached = await self._keep_trying(hop, tunnel)
        finally:
            if tunnel and isinstance(reached, asyncssh.SSHClientConnection):
                reached.set_tunnel(tunnel)  # which closes it with the connection
            elif tunnel:
                tunnel.close()
        return reached

    async def _last_jump(self, hop: Hop) -> Hop | None:
        """The jump host next to a host: it is reached through the others before it, or as its own entry has it."""
        if not hop.jumps:
            return None
        try:
            jump = await self._look_up(*split_host(hop.jumps[-1]))
        except ValueError as error:
            raise hop.error(str(error)) from None
        if (jump.host, jump.port) == (hop.host, hop.port):
            return None  # ``Host *`` sends the jump host to itself
        return replace(jump, jumps=hop.jumps[:-1]) if len(hop.jumps) > 1 else jump

    async def _keep_trying(self, hop: Hop, tunnel: asyncssh.SSHClientConnection | None) -> Reached:
        certificates = interactive = True
        while True:
            attempt = Attempt(hop, self._answers, tunnel, certificates=certificates, interactive=interactive)
            try:
                async with asyncio.timeout(ATTEMPT_SECONDS) as limit:
                    return await attempt.make(limit)
            except NoSuchAuthority:
                certificates = False
            except AsksNothing:
                interactive = False
            except TimeoutError:
                late = f"no SSH server answers within {ATTEMPT_SECONDS:.0f} s"
                if attempt.is_logging_in:
                    late = f"not logged in within {LOGIN_SECONDS:.0f} s"
                raise hop.error(f"timed out: {late}") from None
            finally:
                self.proxies += [attempt.proxy] if attempt.proxy else []
