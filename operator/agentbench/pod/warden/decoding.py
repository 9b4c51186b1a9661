"""Undoes a body's content encoding, to read along; what is forwarded stays as it came."""

import zlib
from collections.abc import Callable

import zstandard

Decode = Callable[[bytes], bytes]
ZSTD_WINDOW = 128 * 1024 * 1024


class CannotDecode(ValueError):
    """The body is not in the encoding that its headers name, or in one that is not known."""


def decoder(encoding: str) -> Decode:
    """A function from each chunk of an encoded body to its decoded bytes.

    Raises:
        CannotDecode: at once for an unknown encoding; from the function for a broken body.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return lambda chunk: chunk
        case "gzip" | "x-gzip":
            return _guarded(zlib.decompressobj(wbits=31).decompress)
        case "deflate":
            return _guarded(zlib.decompressobj().decompress)
        case "zstd":
            stream = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj()
            return _guarded(stream.decompress)
    raise CannotDecode(f"content-encoding {encoding!r:.40} is not known")


def decode_whole(body: bytes, encoding: str, limit: int) -> bytes:
    """A whole body, decoded.

    Raises:
        CannotDecode: as `decoder`, or the decoded body has more than `limit` bytes.
    """
    decode = decoder(encoding)
    pieces: list[bytes] = []
    size = 0
    # In small steps, so that a body of a few kilobytes cannot swell past the limit unseen.
    for start in range(0, len(body), 16_384):
        piece = decode(body[start : start + 16_384])
        size += len(piece)
        if size > limit:
            raise CannotDecode(f"the decoded body has more than {limit} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _guarded(decompress: Decode) -> Decode:
    def decode(chunk: bytes) -> bytes:
        try:
            return decompress(chunk)
        except (zlib.error, zstandard.ZstdError) as error:
            raise CannotDecode(f"the body does not decode: {error}") from None

    return decode
