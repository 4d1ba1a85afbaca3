"""Tables of every kind come back as they were written, and bad ones are refused in a sentence."""

import gzip
import io
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import dump_svmlight_file

from rosenblatt.data import BUNDLED, TableError, delimited, read_batches, read_table

FRAME = pl.DataFrame(
    {
        "age": [31, 4, None, 50],
        "weight": [70.5, 18.25, 66.0, None],
        "town": ["Rome", "Oslo", None, "Rome"],
    }
)
WRITERS = {
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}


def written(path, text):
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("form", WRITERS)
def test_a_table_comes_back_as_it_was_written(form, tmp_path):
    path = tmp_path / f"people.{form}"
    WRITERS[form](FRAME, path)
    assert read_table(path).frame.equals(FRAME)
    batches = [batch.frame for batch in read_batches(path, rows=3)]
    assert max(map(len, batches)) <= 3
    assert pl.concat(batches, how="vertical_relaxed").equals(FRAME)
    other = tmp_path / "people"
    path.rename(other)
    assert read_table(other, form).frame.equals(FRAME)


def test_gzip_is_undone(tmp_path):
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(FRAME.write_csv().encode()))
    assert read_table(path).frame.equals(FRAME)


def test_libsvm(tmp_path):
    X, y = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]), np.array([1, -1])
    path = tmp_path / "rows.libsvm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    table = read_table(path)
    assert table.frame["target"].to_list() == [1, -1]
    assert np.array_equal(table.sparse.toarray(), X)
    assert [batch.sparse.shape[0] for batch in read_batches(path, rows=1)] == [1, 1]


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n2,y\n")))
    assert read_table("-").frame.to_dict(as_series=False) == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_tables_have_their_target(name):
    assert BUNDLED[name] in read_table(name).frame.columns


def test_pandas_and_polars_frames_are_tables():
    assert read_table(FRAME).frame is FRAME
    assert read_table(FRAME.to_pandas()).frame["town"].to_list() == FRAME["town"].to_list()


def test_blanks_question_marks_and_dates(tmp_path):
    path = written(tmp_path / "a.csv", "n,w,d\n 1, ?,2020-01-31\n 2, x,2021-12-01\n")
    frame = read_table(path).frame
    assert frame["n"].to_list() == [1, 2]
    assert frame["w"].to_list() == [None, "x"]
    assert frame["d"].dtype == pl.Date


def test_a_column_that_turns_to_words_late_is_one_of_words(tmp_path):
    path = written(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 20_000 + "x,3\n")
    assert read_table(path).frame["a"].dtype == pl.String


def test_quotes_between_tabs_are_plain_characters(tmp_path):
    path = written(tmp_path / "a.tsv", 'a\tb\n1\t"so\n2\tno\n')
    assert read_table(path).frame["b"].to_list() == ['"so', "no"]


BAD = {
    "too many values": (
        "a,b\n1,2\n3,4,5\n",
        "Line 3 of .* has 3 values, but the table has 2",
    ),
    "too few values": (
        "a,b,c\n1,2,3\n\n4,5\n",
        "Line 4 of .* has 2 values, but the table has 3",
    ),
    "two columns of a name": ("a,b,a\n1,2,3\n", "more than one column named 'a'"),
    "no names": ("1,2\n3,4\n", "should name the columns, and holds numbers only: 1, 2"),
    "nothing": ("", "is empty"),
    "no rows": ("a,b\n", "has no rows"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_text_is_refused_with_its_line(what, tmp_path):
    text, message = BAD[what]
    with pytest.raises(TableError, match=message):
        read_table(written(tmp_path / "a.csv", text))


def test_names_of_columns_are_not_compared_with_each_other():
    """Reading was quadratic in columns: 50,000 of them took most of a minute."""
    compared = 0

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        def strip(self):
            return self

    names = [Name(f"c{j}") for j in range(300)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "rows_of", lambda *_: iter([(1, names)]))
        assert delimited.header_of(None, "a.csv", ",", header=True) == names
    assert compared < 10 * len(names)


def test_a_cell_without_end_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x" * 140_000 + ",b\n1,2\n")
    with pytest.raises(TableError, match=r"Line 1 .* has a cell of over 131,072 characters"):
        read_table(path)


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux")
def test_a_file_name_that_is_not_utf_8_is_refused_in_a_sentence(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.csv")
    Path(path).write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match="The name of the file is not UTF-8"):
        read_table(path)


def test_other_encodings_are_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,x\n2,caf\xe9\n")
    with pytest.raises(TableError, match=r"Line 3 of .* is not UTF-8, near '2,café"):
        read_table(path)
    path.write_bytes("a,b\n1,x\n".encode("utf-16"))
    with pytest.raises(TableError, match="is encoded as UTF-16"):
        read_table(path)
    path.write_bytes("a,b\n1,x\n".encode("utf-32"))
    with pytest.raises(TableError, match="is encoded as UTF-32"):
        read_table(path)
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,x\n")
    assert read_table(path).frame.columns == ["a", "b"]


def test_files_that_are_not_there_or_not_what_they_say(tmp_path):
    written(tmp_path / "iris_data.csv", "a\nx\n")
    with pytest.raises(TableError, match=r"There is no file .*Did you mean .*iris_data.csv"):
        read_table(tmp_path / "iris_dat.csv")
    with pytest.raises(TableError, match=r"There is no file irsi. Did you mean iris"):
        read_table("irsi")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(TableError, match="is unknown from its name"):
        read_table(written(tmp_path / "a.xyz", "a\n1\n"))
    for form in ("parquet", "arrow", "jsonl", "libsvm"):
        with pytest.raises(TableError, match=f"cannot be read as {form}"):
            read_table(written(tmp_path / f"junk.{form}", "junk { : junk"))
    with pytest.raises(TableError, match=r"There is no format 'cvs'.*Did you mean csv"):
        read_table(tmp_path / "iris_data.csv", "cvs")


def test_no_column_of_that_name():
    with pytest.raises(TableError, match=r"iris has no column 'Specie'. Did you mean species?"):
        read_table("iris").column("Specie")


def test_a_fraction_far_down_a_file_of_json_lines_is_a_number(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"x": 1}\n' * 500 + '{"x": 1.5}\n')
    assert read_table(str(path)).frame["x"].sum() == 501.5


def test_batches_of_words_stay_as_they_stand(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1, a \n2,NA\n")
    (batch,) = read_batches(str(path), words=True)
    assert batch.frame.rows() == [("1", "a"), ("2", None)]


@pytest.mark.parametrize("row", ["1", "1,2,3"])
def test_batches_name_the_line_that_is_too_short_or_too_long(tmp_path, row):
    path = tmp_path / "t.csv"
    path.write_text(f"x,y\n1,2\n{row}\n")
    with pytest.raises(TableError, match=r"Line 3 of .* has . value"):
        list(read_batches(str(path)))


class Pipe:
    """Lines that come once, and how many were taken."""

    def __init__(self, lines):
        self.buffer, self.taken, self._lines = self, 0, iter(lines)

    def read(self):
        return b"".join(self)

    def __iter__(self):
        for line in self._lines:
            self.taken += 1
            yield line


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "libsvm"])
def test_a_pipe_is_read_no_further_than_its_first_batch(form, monkeypatch):
    lines = {
        "csv": [b"a,b\n"] + [b"%d,x\n" % i for i in range(99)],
        "tsv": [b"a\tb\n"] + [b"%d\tx\n" % i for i in range(99)],
        "jsonl": [b'{"a": %d, "b": "x"}\n' % i for i in range(100)],
        "libsvm": [b"1 1:%d 3:2\n" % i for i in range(100)],
    }[form]
    pipe = Pipe(lines)
    monkeypatch.setattr("sys.stdin", pipe)
    batches = read_batches("-", form, rows=10)
    first = next(batches)
    assert len(first) in (9, 10)
    assert pipe.taken == 10
    rest = [len(batch) for batch in batches]
    assert len(first) + sum(rest) == (99 if form in ("csv", "tsv") else 100)


def test_pipes_and_files_say_the_same(monkeypatch, tmp_path):
    text = b'a,b\n1,"two\nlines"\n2.5,x\n,\n4, y \n' * 1
    monkeypatch.setattr("sys.stdin", Pipe(text.splitlines(keepends=True)))
    piped = pl.concat(batch.frame for batch in read_batches("-", rows=2, words=True))
    (tmp_path / "table.csv").write_bytes(text)
    filed = pl.concat(batch.frame for batch in read_batches(tmp_path / "table.csv", words=True))
    assert piped.equals(filed)
    assert piped["b"].to_list() == ["two\nlines", "x", None, "y"]


def test_a_bad_line_far_down_a_pipe_is_named(monkeypatch):
    lines = [b"a,b\n", *([b"1,2\n"] * 30), b"1,2,3\n", b"1,2\n"]
    monkeypatch.setattr("sys.stdin", Pipe(lines))
    with pytest.raises(TableError, match="Line 32 of standard input has 3 values"):
        list(read_batches("-", rows=7))
    lines[31] = b"1,\xff\n"
    monkeypatch.setattr("sys.stdin", Pipe(lines))
    with pytest.raises(TableError, match="Line 32 of standard input is not UTF-8"):
        list(read_batches("-", rows=7, words=True))
    monkeypatch.setattr("sys.stdin", Pipe([b'{"a": 1}\n'] * 9 + [b"{oops\n"]))
    with pytest.raises(TableError, match="Line 10 of standard input cannot be read as jsonl"):
        list(read_batches("-", "jsonl", rows=4))


def test_json_lines_keep_the_columns_of_the_first_batch(tmp_path):
    path = written(tmp_path / "rows.jsonl", '{"a": 1, "b": "x"}\n{"a": 2}\n{"a": 3.5, "c": 1}\n')
    batches = [batch.frame for batch in read_batches(path, rows=1)]
    assert [batch.columns for batch in batches] == [["a", "b"]] * 3
    assert [batch["a"][0] for batch in batches] == [1, 2, 3.5]


@pytest.mark.parametrize("first", [0, 1])
def test_libsvm_in_blocks_is_that_of_the_whole_file(first, tmp_path):
    X = np.random.default_rng(0).poisson(0.5, (30, 5)).astype(float)
    X[:20, 0], X[20:, 0] = 0, 1  # that columns count from 0 shows only further down
    path = tmp_path / "rows.libsvm"
    dump_svmlight_file(X, np.ones(30), str(path), zero_based=first == 0)
    whole = read_table(path).sparse.toarray()
    found = np.zeros_like(whole)
    for b, batch in enumerate(read_batches(path, rows=7)):
        found[7 * b : 7 * b + len(batch), : batch.sparse.shape[1]] = batch.sparse.toarray()
    assert np.array_equal(found, whole)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a;b;y\n1;2;x\n3;4;z\n", [(1, 2, "x"), (3, 4, "z")]),
        ("a\tb\ty\n1\t2\tx\n", [(1, 2, "x")]),
        ("a|b|y\n1|2|x\n", [(1, 2, "x")]),
        ("a;b;y\n1,5;2;x, or z\n", [(1.5, 2, "x, or z")]),
        ("y\n1;2\n3\n", [("1;2",), ("3",)]),
        ("y,z\n1;2,5\n", [("1;2", 5)]),
    ],
)
def test_what_separates_values_is_seen_in_the_first_lines(text, rows, tmp_path):
    path = written(tmp_path / "table.csv", text)
    assert read_table(path).frame.rows() == rows
    assert next(read_batches(path)).frame.rows() == rows
    assert next(read_batches(path, words=True)).frame.height == len(rows)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ('a;b\n1;"x; y"\n2;z\n', {"a": [1, 2], "b": ["x; y", "z"]}),
        ('a;b\n1;"x, y, z"\n2;"u, v"\n', {"a": [1, 2], "b": ["x, y, z", "u, v"]}),
        ('"a, b";c\n1;x\n', {"a, b": [1], "c": ["x"]}),
        ('a;"b, c";d\n1;2,5;x\n', {"a": [1], "b, c": [2.5], "d": ["x"]}),
        ('a|b\n"x|""y"""|1\n', {"a": ['x|"y"'], "b": [1]}),
        ('a;b\n1;"two\nlines;"\n2;z\n', {"a": [1, 2], "b": ["two\nlines;", "z"]}),
        ('"a;b"\n"1;2"\n"3;4"\n', {"a;b": ["1;2", "3;4"]}),
        ('a,b\n"1;2;3",x\n"4;5;6",y\n', {"a": ["1;2;3", "4;5;6"], "b": ["x", "y"]}),
        ('"a";"b"\n"1,5";"x"\n', {"a": [1.5], "b": ["x"]}),
    ],
)
def test_separators_in_quotes_separate_nothing(text, columns, tmp_path, monkeypatch):
    path = written(tmp_path / "table.csv", text)
    assert read_table(path).frame.to_dict(as_series=False) == columns
    words = {name: [str(value) for value in values] for name, values in columns.items()}
    for read in (path, "-"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        [batch] = read_batches(read, words=True)
        found = batch.frame.to_dict(as_series=False)
        assert {n: [word.replace(",", ".") for word in v] for n, v in found.items()} == {
            n: [word.replace(",", ".") for word in v] for n, v in words.items()
        }


def test_a_quoted_value_may_go_past_the_lines_that_are_looked_at(tmp_path):
    text = "a;b\n" + "1;x\n" * 17 + '2;"' + "one; line\n" * 9 + '"\n3;z\n'
    assert read_table(written(tmp_path / "table.csv", text)).frame.shape == (19, 2)


def test_decimal_commas_may_come_after_whole_numbers(tmp_path):
    text = "a;b\n" + "1;2\n" * 100 + "1,5;2\n"
    path = written(tmp_path / "table.csv", text)
    assert read_table(path).frame["a"].to_list() == [1.0] * 100 + [1.5]


ENDS = ["\n", "\n\n\n", "\r\n\r\n", "  \n", "\n ", "\n\n \r\n"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,x\n\n,\n", [("1", "x"), (None, None), (None, None)]),
        ("a,b\r\n1,x\r\n2,y\r\n", [("1", "x"), ("2", "y")]),
        ("a\nx\n\ny\n", [("x",), (None,), ("y",)]),
        ("a\ty\nx\t1\n\t\n", [("x", "1"), (None, None)]),
    ],
)
def test_blank_lines_at_the_end_are_no_rows(text, rows, end, tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_bytes((text + end).encode())
    assert [tuple(v and str(v) for v in row) for row in read_table(path).frame.rows()] == rows
    zipped = tmp_path / "table.csv.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert read_table(zipped).frame.height == len(rows)
    for n in (1, 2, 50):
        for source in (path, "-"):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
            batches = list(read_batches(source, rows=n, words=True))
            assert [row for batch in batches for row in batch.frame.rows()] == rows
            assert sum(batch.cells.height for batch in batches) == len(rows)


def test_names_and_blank_lines_alone_are_no_rows(tmp_path):
    path = written(tmp_path / "table.csv", "a,b\n\n\n")
    with pytest.raises(TableError, match="has no rows"):
        read_table(path)
    assert list(read_batches(path)) == []


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_standard_input_is_known_by_its_first_bytes(form, tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    WRITERS[form](FRAME, path)

    def pipe():
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        return "-"

    for given in (None, form):
        assert read_table(pipe(), given).frame.equals(FRAME)
        assert pl.concat(b.frame for b in read_batches(pipe(), given, rows=3)).equals(FRAME)
    with pytest.raises(TableError, match=f"standard input is not text but {form}: give that"):
        read_table(pipe(), "csv")
    with pytest.raises(TableError, match=f"people.csv is not text but {form}: give that as its"):
        read_table(path)


@pytest.mark.parametrize("form", [None, "csv", "jsonl", "libsvm"])
def test_archives_on_standard_input_are_told(form, monkeypatch):
    for content, word in [
        (gzip.compress(b"a,b\n1,2\n"), "gzip -dc"),
        (b"PK\x03\x04x", "xlsx or ods"),
    ]:
        for read in (read_table, lambda *words: list(read_batches(*words))):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
            with pytest.raises(TableError, match=f"standard input is .*{word}"):
                read("-", form)


def test_names_that_a_file_does_not_give_are_said(tmp_path):
    path = written(tmp_path / "rows.libsvm", "1 1:2\n-1 2:3\n")
    with pytest.raises(TableError, match="labels of a LIBSVM file are called target"):
        read_table(path).column("label")
    path = written(tmp_path / "rows.csv", "1,2,a\n3,4,b\n")
    with pytest.raises(TableError, match="are called column_0 to column_2"):
        read_table(path, header=False).column("label")


def test_a_format_that_is_none_is_refused_before_standard_input_is_read():
    with pytest.raises(TableError, match="There is no format 'cvs'"):
        read_table("-", "cvs")


SHEETS = {"first": [["a", " b ", "c"], [1, "x", "1,169"], [2, "NA", "-"]], "other": [["z"], [7]]}


def _xlsx(path):
    """A workbook as the least that a reader of spreadsheets takes."""
    of_books = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    with zipfile.ZipFile(path, "w") as archive:
        named = "".join(
            f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(SHEETS, 1)
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{of_books}" xmlns:r="{links}"><sheets>{named}</sheets></workbook>',
        )
        root = f'<Relationship Id="r" Type="{links}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{package}">{root}</Relationships>')
        parts = "".join(
            f'<Relationship Id="r{i}" Type="{links}/worksheet" Target="worksheets/{i}.xml"/>'
            for i in range(1, len(SHEETS) + 1)
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}">{parts}</Relationships>',
        )
        for i, rows in enumerate(SHEETS.values(), 1):
            cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
            archive.writestr(
                f"xl/worksheets/{i}.xml",
                f'<worksheet xmlns="{of_books}"><sheetData>{cells}</sheetData></worksheet>',
            )


def _cell(value):
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def test_spreadsheets_are_read_by_sheet(tmp_path):
    path = str(tmp_path / "book.xlsx")
    _xlsx(path)
    assert read_table(path).frame.rows() == [(1, "x", "1,169"), (2, None, "-")]
    assert "has the sheets first, other; the first was read" in read_table(path).hint
    assert read_table(path, sheet="other").frame.rows() == [(7,)]
    assert not read_table(path, sheet="1").hint
    assert read_table(path, sheet="2", header=False).frame.rows() == [("z",), ("7",)]
    assert [len(batch) for batch in read_batches(path, rows=1)] == [1, 1]
    with pytest.raises(TableError, match=r"has no sheet 'othr'\. Did you mean other\?"):
        read_table(path, sheet="othr")
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match="is not a spreadsheet"):
        read_table(tmp_path / "t.csv", sheet="other")


@pytest.mark.parametrize(
    ("lines", "hinted"),
    [
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n4.7,3.2,virginica\n4.6,3.1,setosa\n4.6,3,setosa\n", True),
        ("country,1990,1991,1992\nA,1,2,3\nB,2,3,4\nC,5,6,7\n", False),
        ("0,1,2,y\n5,6,7,a\n8,9,1,b\n", False),
        ("age,town\n5,Rome\n6,Rome\n", False),
        ('"1,169",$5.00,05/13/2020,a\n"2,000",$7.50,05/14/2020,b\n30,$1.00,06/01/2020,c\n', True),
        ('"pay, gross",paid,day\n"2,000",$7.50,05/14/2020\n30,$1.00,06/01/2020\n', False),
    ],
)
def test_a_first_line_that_looks_like_a_row_gets_a_hint(tmp_path, lines, hinted):
    path = tmp_path / "t.csv"
    path.write_text(lines)
    table = read_table(path)
    assert ("--no-header" in table.hint) == hinted
    with pytest.raises(TableError, match="has no column 'label'") as error:
        table.column("label")
    assert ("--no-header" in str(error.value)) == hinted


def test_a_later_batch_with_other_values_has_its_own_types(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,x\n2,y\n3.5,z\nmany,z\n")
    types = [batch.frame["a"].dtype for batch in read_batches(path, rows=2)]
    assert types == [pl.Int64, pl.Float64, pl.String]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "libsvm"])
def test_an_empty_file_is_called_empty(form, tmp_path):
    for content in ("", "\n \n"):
        path = written(tmp_path / f"t.{form}", content)
        for read in (read_table, lambda path: list(read_batches(path))):
            with pytest.raises(TableError, match=rf"t\.{form} is empty"):
                read(path)


def test_blank_lines_among_json_lines_are_no_rows(tmp_path):
    path = written(tmp_path / "t.jsonl", '{"a": 1}\n\n\n\n{"a": 2}\n\n')
    for rows in (1, 2, 3, 50):
        assert [len(batch) for batch in read_batches(path, rows=rows)] in ([1, 1], [2])


def test_quoted_line_breaks_are_not_cut(tmp_path):
    cell = "one\ntwo\n\nthree"
    path = written(tmp_path / "t.csv", f'a,b\n1,"{cell}"\n2,"{cell}"\n')
    for rows in (1, 2, 3, 50):
        batches = list(read_batches(path, rows=rows))
        assert [row for batch in batches for row in batch.frame.rows()] == [(1, cell), (2, cell)]


@pytest.mark.parametrize(
    ("text", "header", "rows"),
    [
        (b"\xef\xbb\xbf1,x\n3,y\n", False, [("1", "x"), ("3", "y")]),
        (b"\xef\xbb\xbfa,b\n3,y\n", True, [("3", "y")]),
        (b"\n\na,b\n3,y\n", True, [("3", "y")]),
        (b'"a\nb",c\n1,x\n2,y\n', True, [("1", "x"), ("2", "y")]),
        (b'"a ""b""","c,d"\n1,x\n2,y\n', True, [("1", "x"), ("2", "y")]),
    ],
)
def test_batches_of_any_size_have_the_rows_of_the_file(text, header, rows, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    whole = read_table(path, header=header).frame
    assert [tuple(map(str, row)) for row in whole.rows()] == rows
    for n in (1, 2, 50):
        for source in (path, "-"):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
            batches = list(read_batches(source, header=header, rows=n, words=True))
            assert [row for batch in batches for row in batch.frame.rows()] == rows
            assert {tuple(batch.frame.columns) for batch in batches} == {tuple(whole.columns)}
