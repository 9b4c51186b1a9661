from hypothesis import given
from hypothesis import strategies as st

from agentbench_analysis.site.diff import MAX_BYTES, MAX_LINES, read_diff

TWO_FILES = b"""diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,3 @@
 same
--- an old line that looks like a header
+new
\\ No newline at end of file
diff --git a/b.bin b/b.bin
Binary files a/b.bin and b/b.bin differ
"""


def test_files_and_the_kinds_of_their_lines_are_told_apart() -> None:
    first, second = read_diff([TWO_FILES]).files
    assert (first.name, first.added, first.removed) == ("src/a.ts", 1, 1)
    assert [kind for kind, _ in first.lines] == ["hunk", "same", "del", "add", "note"]
    assert second.lines == (("note", "Binary files a/b.bin and b/b.bin differ"),)


def test_a_diff_without_git_headers_is_read_too() -> None:
    (file,) = read_diff([b"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"]).files
    assert (file.name, file.added, file.removed) == ("x.py", 1, 1)


def test_an_empty_diff_has_no_files() -> None:
    assert read_diff([b""]).files == ()


def test_a_long_diff_is_cut_and_says_so() -> None:
    diff = read_diff([b"diff --git a/x b/x\n@@ -0,0 +1 @@\n" + b"+x\n" * (MAX_LINES + 5)])
    assert diff.cut
    assert sum(len(file.lines) for file in diff.files) < MAX_LINES


def test_a_line_without_end_is_cut() -> None:
    (file,) = read_diff([b"diff --git a/x b/x\n@@ -0,0 +1 @@\n+" + b"x" * (MAX_BYTES * 2)]).files
    assert len(file.lines[-1][1]) < 1_100


@given(st.binary(max_size=300))
def test_no_bytes_are_an_error(data: bytes) -> None:
    read_diff([data])
