"""Tables in every format."""

from eigenlabel.cli.tables import format_table


def test_tables_are_formatted_as_text_markdown_csv_and_latex():
    header, rows = ("a", "b|c"), [("x_1", "2 ± 1"), ("long word", "%")]
    assert format_table(header, rows) == "a          b|c\nx_1        2 ± 1\nlong word  %"
    assert format_table(header, rows, "markdown").splitlines()[0] == r"| a | b\|c |"
    assert format_table(header, rows, "csv") == "a,b|c\nx_1,2 ± 1\nlong word,%"
    latex = format_table(header, rows, "latex").splitlines()
    assert latex[3] == r"x\_1 & 2 $\pm$ 1 \\"
    assert latex[4] == r"long word & \% \\"
