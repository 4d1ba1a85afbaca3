"""Numbers, names and lines that readers stumble over: which one it is, and what to do."""

import gzip
import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from rosenblatt.data import Table, TableError, read_batches, read_table
from rosenblatt.data.finite_numbers import check_finite
from rosenblatt.data.parsing import words_among_numbers


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def both(path):
    """How a file is read: whole, and in batches."""
    yield lambda: read_table(path)
    yield lambda: list(read_batches(path, rows=2))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"a": 1, "b":', '\'{"a": 1, "b":\' is not a JSON object'),
        ("[1, 2]", "'[1, 2]' is not a JSON object"),
        ("7", "'7' is not a JSON object"),
        ('{"a": 1e999}', "'a' has an infinite value, or NaN"),
        ("\xff", "is not a JSON object"),
    ],
)
def test_a_bad_line_of_json_is_named(tmp_path, line, why):
    lines = ['{"a": 1}', "", '{"a": 2}', line, '{"a": 3}']
    path = written(tmp_path / "t.jsonl", "\n".join(lines).encode("latin-1"))
    for read in both(path):
        with pytest.raises(TableError, match=r"^Line 4 of .*t\.jsonl") as caught:
            read()
        assert why in str(caught.value)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1 1:x 2:3", "could not convert string to float: b'x'"),
        ("1 7 2:3", "need more than 1 value to unpack"),
        ("1 -1:2 2:3", "Invalid index -1"),
        ("1 3:1 2:3", "indices in SVMlight/LibSVM data file should be sorted and unique"),
        ("1 2:1 2:3", "indices in SVMlight/LibSVM data file should be sorted and unique"),
        ("cat 1:1", "could not convert string to float: b'cat'"),
        ("1 1:nan 2:3", "labels and values must be finite"),
        ("1 1:2 2:-inf", "labels and values must be finite"),
        ("nan 1:2", "labels and values must be finite"),
    ],
)
def test_a_bad_line_of_libsvm_is_named(tmp_path, line, why):
    lines = ["0 1:1 2:2", "1 1:0.5", "# nothing", line, "0 1:1"]
    path = written(tmp_path / "t.libsvm", "\n".join(lines))
    for read in both(path):
        with pytest.raises(TableError, match=r"^Line 4 of .*t\.libsvm") as caught:
            read()
        assert why in str(caught.value)


def test_quotes_in_names_of_columns_are_as_the_header_means_them(tmp_path):
    path = written(tmp_path / "t.csv", '"a ""b""","c,d"\n1,2\n3,4\n')
    assert read_table(path).frame.columns == ['a "b"', "c,d"]
    [batch] = read_batches(path)
    assert batch.frame.columns == ['a "b"', "c,d"]
    path = written(tmp_path / "t.csv", b'\xef\xbb\xbf"a ""b"""\tc\n1\t2\n')  # a tab: all is tabs'
    assert len(read_table(path).frame.columns) == 2


@pytest.mark.parametrize("value", [1e307, -2e200, float("inf")])
def test_numbers_too_large_to_learn_from_name_their_column_and_row(value):
    frame = pl.DataFrame({"a": [1.0, 2.0, value, None], "b": [0.1, 0.2, 0.3, 1e140]})
    with pytest.raises(
        TableError, match=r"'a' must hold finite numbers .* in row 2 .*leave it empty"
    ):
        check_finite(Table(frame, "t"))
    check_finite(Table(frame.head(2), "t"))
    X = sp.csr_matrix(np.array([[1.0, 0.0], [0.0, value]]))
    with pytest.raises(TableError, match=r"Column 2 of t .* in row 1 .*columns from 1"):
        check_finite(Table(frame.select("b").head(2), "t", X))


def test_a_gap_is_not_too_large():
    check_finite(Table(pl.DataFrame({"a": [1.0, None, float("nan")]}), "t"))


def rows_with(word, n=60, place=17):
    return [word if i == place else i / 7 for i in range(n)]


def test_a_word_among_numbers_is_told_of_whatever_the_file(tmp_path):
    values = rows_with("oops")
    csv = written(tmp_path / "t.csv", "a,b\n" + "".join(f"{v},1\n" for v in values))
    lines = "".join(json.dumps({"a": v, "b": 1}) + "\n" for v in values)
    jsonl = written(tmp_path / "t.jsonl", lines)
    for path in (csv, jsonl):
        table = read_table(path)
        assert table.guessed
        [sentence] = words_among_numbers(table.frame, table.frame)
        assert "a holds numbers, but for 'oops' in row 17" in sentence


def test_columns_of_words_are_no_columns_of_numbers_with_faults():
    frame = pl.DataFrame({"a": ["x", "y", "1", "2"], "n": ["1", "2", "3", None]})
    assert words_among_numbers(frame, frame) == []


def test_a_gzip_file_that_ends_early_is_named(tmp_path):
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 50)
    path = written(tmp_path / "t.csv.gz", whole[:-12])
    for read in both(path):
        with pytest.raises(TableError, match=r"t\.csv\.gz cannot be decompressed by gzip"):
            read()


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_the_line_of_a_quote_within_a_value_is_named(start, tmp_path):
    text = f'{start}"a",b\n"two\nlines",1\n5" pipe,2\nx,3\ny,4\n'
    for read in both(written(tmp_path / "t.csv", text)):
        with pytest.raises(TableError, match=r"Line 4 of .* has a quote within a value"):
            read()


def test_json_lines_may_begin_with_a_byte_order_mark(tmp_path):
    path = written(tmp_path / "t.jsonl", '\ufeff{"a": 1}\n{"a": 2}\n{"a": 3}\n')
    assert read_table(path).frame.rows() == [(1,), (2,), (3,)]
    assert [len(batch) for batch in read_batches(path, rows=2)] == [2, 1]


def test_lines_that_end_in_carriage_returns_and_open_quotes_are_told_in_our_words(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\r1,2\r3,4\r")
    for read in both(path):
        with pytest.raises(TableError, match="holds a carriage return alone"):
            read()
    path = written(tmp_path / "t.csv", 'a,b\n1,2\n3,"4\n')
    for read in both(path):
        with pytest.raises(TableError, match=r"Quotes of line 3 of .* do not end"):
            read()


def test_lists_beside_numbers_are_refused(tmp_path):
    path = written(tmp_path / "t.jsonl", '{"a": 1}\n{"a": [2]}\n')
    for read in both(path):
        with pytest.raises(TableError, match=r"t\.jsonl cannot be read as jsonl: "):
            read()


def test_blanks_around_names_of_columns_are_no_part_of_them(tmp_path):
    path = written(tmp_path / "t.csv", "a, b\n1,2\n3,4\n")
    for frame in (read_table(path).frame, next(iter(read_batches(path))).frame):
        assert frame.columns == ["a", "b"]
    path = written(tmp_path / "t.csv", "a, a\n1,2\n")
    with pytest.raises(TableError, match="more than one column named 'a'"):
        read_table(path)


def test_a_huge_cell_makes_no_huge_message():
    word = "x" * 100_000
    frame = pl.DataFrame({"a": [*map(str, range(30)), word]})
    [sentence] = words_among_numbers(frame, frame)
    assert len(sentence) < 300
