"""Secrets are found in every form, over every edge, and nothing else is touched."""

import base64
import io
import json
import re
import tarfile
import zlib
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from agentbench.pod.warden.archive import publish_archive
from agentbench.pod.warden.publish import publish, scan_file
from agentbench.pod.warden.redact import BLOCK, Redactor

SECRET = 'p4ss/w+rd="ü\\ \n%&\x7f~end'
PLAIN = Redactor({"db": SECRET}, rules=())
PATTERNS = Redactor({})
printable = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=8, max_size=60)


def forms(secret: str) -> dict[str, bytes]:
    raw = secret.encode()
    once = json.dumps(secret)[1:-1]
    return {
        "plain": raw,
        "JSON": once.encode(),
        "JSON, not ASCII": json.dumps(secret, ensure_ascii=False)[1:-1].encode(),
        "JSON twice": json.dumps(once)[1:-1].encode(),
        "URL": quote(secret, safe="").encode(),
        "URL, lower case": re.sub("%..", lambda hit: hit[0].lower(), quote(secret)).encode(),
        "form": quote_plus(secret).encode(),
        "hex": raw.hex().encode(),
        "HEX": raw.hex().upper().encode(),
    }


@pytest.mark.parametrize("form", forms(SECRET).values(), ids=forms(SECRET))
def test_a_known_secret_is_found_in_every_form(form: bytes) -> None:
    assert PLAIN.redact(b"before " + form + b" after") == b"before [redacted:db] after"


@pytest.mark.parametrize("offset", range(3))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_known_secret_is_found_in_base64_at_every_alignment(offset: int, encode: object) -> None:
    assert callable(encode)
    text = encode(b"#" * offset + SECRET.encode() + b" and what follows")
    redacted = PLAIN.redact(text)
    assert b"[redacted:db]" in redacted
    assert len(redacted) < len(text)


def test_a_base64_text_with_line_breaks_is_found() -> None:
    long = "k" + "0123456789abcdef" * 8
    text = base64.encodebytes(b"xx" + long.encode() + b"yy")
    assert b"\n" in text
    for wrapped in (text, text.replace(b"\n", b"\r\n"), text.replace(b"\n", b"\\n")):
        redacted = Redactor({"long": long}, rules=()).redact(wrapped)
        assert b"[redacted:long]" in redacted
        assert len(redacted) < len(wrapped) / 2


@settings(deadline=None, max_examples=25)
@given(secret=printable, before=st.binary(max_size=40), cuts=st.lists(st.integers(0, 400)))
def test_a_secret_cut_over_chunks_is_found(secret: str, before: bytes, cuts: list[int]) -> None:
    redactor = Redactor({"s": secret}, rules=())
    # Long enough that chunks are given out before the end.
    text = before + b"." * BLOCK + b"".join(forms(secret).values()) + b"." * BLOCK
    stream = redactor.stream()
    edges = sorted({0, len(text), *(BLOCK + cut for cut in cuts)})
    out = b"".join(stream.feed(text[start:end]) for start, end in pairwise(edges))
    out += stream.finish()
    assert not redactor.find(out)
    assert out.startswith(before + b"." * 1000)
    assert out.endswith(b"." * 1000)


@settings(deadline=None)
@given(st.binary(max_size=4000), st.integers(1, 500))
def test_what_holds_no_secret_is_not_changed(text: bytes, size: int) -> None:
    stream = Redactor({"s": "never-in-random-bytes"}).stream()
    out = b"".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size))
    out += stream.finish()
    assert out == text or stream.counts


@pytest.mark.parametrize(
    ("name", "credential"),
    [
        ("anthropic-key", "sk-ant-api03-" + "aB3_" * 20),
        ("openai-key", "sk-proj-" + "aB3-" * 20),
        ("aws-key", "AKIA" + "ABCDEFGH12345678"),
        ("github-token", "ghp_" + "a1B2" * 9),
        ("github-token", "github_pat_" + "a1B2_" * 14),
        ("gitlab-token", "glpat-" + "a1B2" * 6),
        ("google-key", "AIza" + "a1B2-" * 7),
        ("npm-token", "npm_" + "a1B2" * 9),
        ("slack-token", "xoxb-" + "1234567890-" * 2 + "abc123"),
        ("stripe-key", "sk_live_" + "a1B2" * 6),
        ("jwt", "eyJ" + "hbGciOiJI" + ".eyJ" + "zdWIiOiIx" + ".c2lnbmF0dXJl"),
    ],
)
def test_credentials_are_known_by_their_shape(name: str, credential: str) -> None:
    text = f'{{"output": "key={credential}\\n"}}'.encode()
    assert PATTERNS.redact(text) == f'{{"output": "key=[redacted:{name}]\\n"}}'.encode()


@pytest.mark.parametrize("newline", ["\n", "\\n"])
def test_a_private_key_is_taken_out_whole_even_without_its_end(newline: str) -> None:
    head, end = (f"-----{word} RSA PRIVATE KEY-----" for word in ("BEGIN", "END"))
    body = newline.join(["MIIEowIBAAKCAQEA" * 4] * 20)
    whole = newline.join(["x", head, body, end, "y"]).encode()
    assert b"MIIEow" not in PATTERNS.redact(whole)
    assert PATTERNS.redact(whole).endswith(newline.encode() + b"y")
    assert b"MIIEow" not in PATTERNS.redact(newline.join([head, body]).encode())


@pytest.mark.parametrize(
    "ordinary",
    [
        b"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        b"postgres://app:app@localhost:5432/app",
        b'password = "hunter2"',
        b"SECRET_KEY = os.environ['SECRET_KEY']",
        b"10.0.0.1 f47ac10b-58cc-4372-a567-0e02b2c3d479",
        b"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    ],
)
def test_ordinary_work_is_left_alone(ordinary: bytes) -> None:
    assert PATTERNS.redact(ordinary) == ordinary


def test_a_secret_that_is_too_short_to_tell_is_refused() -> None:
    with pytest.raises(ValueError, match="secret pin has fewer than 6 characters"):
        Redactor({"pin": "1234"})


def test_the_second_scan_sees_a_secret_that_was_cut_into_pieces() -> None:
    redactor = Redactor({"key": "correct-horse-battery"})
    pieces = b"k = 'correct-horse' + \\\n   '-battery'"
    assert redactor.redact(pieces) == pieces
    assert redactor.scan(io.BytesIO(pieces)) == ("key",)


def test_an_artifact_that_is_not_clean_is_withheld_and_not_written(tmp_path: Path) -> None:
    source = tmp_path / "private"
    source.write_bytes(b"'correct-horse' '-battery'")
    published = publish(source, tmp_path / "public", Redactor({"key": "correct-horse-battery"}))
    assert published.file.withheld == "the second scan still found: key"
    assert [path.name for path in tmp_path.iterdir()] == ["private"]


def test_a_compressed_artifact_is_redacted_inside(tmp_path: Path) -> None:
    source = tmp_path / "private.jsonl"
    source.write_bytes(b"x" * BLOCK + SECRET.encode() + b"y" * BLOCK)
    target = tmp_path / "events.jsonl.zst"
    published = publish(source, target, PLAIN)
    assert published.redacted == {"db": 1}
    assert published.file.size == target.stat().st_size
    assert scan_file(target, PLAIN) == ()
    unpacked = zstandard.ZstdDecompressor().stream_reader(target.read_bytes()).read()
    assert unpacked == b"x" * BLOCK + b"[redacted:db]" + b"y" * BLOCK


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with (
        path.open("wb") as raw,
        zstandard.ZstdCompressor().stream_writer(raw) as packed,
        tarfile.open(fileobj=packed, mode="w|") as out,
    ):
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            info.mode = 0o640
            out.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("link")
        link.type = tarfile.SYMTYPE
        link.linkname = "a.txt"
        out.addfile(link)
    return path


def unpacked(path: Path) -> dict[str, bytes]:
    plain = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read()
    with tarfile.open(fileobj=io.BytesIO(plain)) as content:
        members = [(one, content.extractfile(one)) for one in content if one.isfile()]
        return {one.name: data.read() for one, data in members if data is not None}


def test_an_archive_without_secrets_is_published_byte_for_byte(tmp_path: Path) -> None:
    source = archive(tmp_path / "private.tar.zst", {"a.txt": b"hello", "b/c": b"\x00" * 9})
    published = publish_archive(source, tmp_path / "final.tar.zst", PLAIN)
    assert published.file.name == "final.tar.zst"
    assert (tmp_path / "final.tar.zst").read_bytes() == source.read_bytes()


def test_secrets_in_an_archives_members_and_names_are_taken_out(tmp_path: Path) -> None:
    key = "sk-real-key-0123456789"
    members = {"a.txt": b"x" * BLOCK + key.encode(), key: b"y", "c": b"z"}
    source = archive(tmp_path / "private.tar.zst", members)
    published = publish_archive(source, tmp_path / "final.tar.zst", Redactor({"key": key}))
    assert published.file.withheld is None
    assert published.redacted == {"key": 2}
    assert unpacked(tmp_path / "final.tar.zst") == {
        "a.txt": b"x" * BLOCK + b"[redacted:key]",
        "[redacted:key]": b"y",
        "c": b"z",
    }


def test_a_secret_in_a_git_object_withholds_the_archive(tmp_path: Path) -> None:
    key = "sk-real-key-0123456789"
    blob = zlib.compress(b"blob 22\0" + key.encode())
    source = archive(tmp_path / "private.tar.zst", {".git/objects/ab/cd": blob})
    published = publish_archive(source, tmp_path / "final.tar.zst", Redactor({"key": key}))
    assert published.file.withheld == "the second scan still found: key"
    assert not (tmp_path / "final.tar.zst").exists()
