"""A mail server that delivers nothing: it keeps what it is sent, one file a message.

python -m agentbench.pod.mail HOST PORT FOLDER
"""

import asyncio
import sys
from pathlib import Path

MAX_MESSAGE = 10 * 1024 * 1024


class MailSink:
    """Accepts every message and writes it to `<number>.eml` in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak SMTP with one client until it leaves."""
        try:
            await self._converse(reader, writer)
        except (ConnectionError, ValueError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _say(writer, "220 mail ready")
        envelope: list[str] = []
        while line := (await reader.readline()).decode("utf-8", "replace").strip():
            verb = line.split(" ", 1)[0].upper()
            if verb in ("MAIL", "RCPT"):
                envelope.append(line)
                _say(writer, "250 OK")
            elif verb == "DATA":
                _say(writer, "354 end with a dot on a line of its own")
                self._keep(envelope, await _message(reader))
                envelope = []
                _say(writer, "250 kept")
            elif verb == "QUIT":
                _say(writer, "221 bye")
                return
            elif verb in ("HELO", "EHLO", "RSET", "NOOP"):
                envelope = [] if verb != "NOOP" else envelope
                _say(writer, "250 OK")
            else:
                _say(writer, "502 not known here")
            await writer.drain()

    def _keep(self, envelope: list[str], message: bytes) -> None:
        self.count += 1
        head = "".join(f"X-Envelope: {line}\r\n" for line in envelope).encode()
        (self.folder / f"{self.count}.eml").write_bytes(head + message)


async def _message(reader: asyncio.StreamReader) -> bytes:
    lines: list[bytes] = []
    size = 0
    while (line := await reader.readline()) not in (b".\r\n", b".\n", b""):
        size += len(line)
        if size <= MAX_MESSAGE:
            lines.append(line[1:] if line.startswith(b"..") else line)
    return b"".join(lines)


def _say(writer: asyncio.StreamWriter, text: str) -> None:
    writer.write(text.encode() + b"\r\n")


async def _serve(host: str, port: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    server = await asyncio.start_server(MailSink(folder).converse, host, port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
