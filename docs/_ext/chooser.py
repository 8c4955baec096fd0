"""The directive ``chooser``: a chart of questions whose answers are links."""

import html

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive and the writer of its links."""
    app.add_node(chart, html=(visit_chart, None))
    app.add_directive("chooser", Chooser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class chart(nodes.General, nodes.Element):  # noqa: N801
    """A chart; ``rows`` has the question, answer, note and page of each row."""


class Chooser(SphinxDirective):
    """A chart from lines of "question | answer | note | page"; the last one has no question."""

    has_content = True

    def run(self):
        """Return the chart."""
        rows = [[cell.strip() for cell in line.split("|")] for line in self.content if line.strip()]
        if any(len(row) != 4 for row in rows):
            return [self.state.document.reporter.warning("a row has no four cells")]
        return [chart(rows=rows)]


def visit_chart(writer, node: chart) -> None:
    """Write the chart as HTML; pages are links relative to this one."""
    parts = ['<div class="chooser">']
    for question, answer, note, page in node["rows"]:
        link = writer.builder.get_relative_uri(writer.builder.current_docname, page)
        text = f"<strong>{html.escape(answer)}</strong><span>{html.escape(note)}</span>"
        box = f'<a class="answer" href="{html.escape(link)}">{text}</a>'
        if question:
            parts.append(f'<div class="question">{html.escape(question)}</div>')
            parts.append(f'<div class="yes">yes</div>{box}<div class="no">no</div>')
        else:
            parts.append(f'<div class="last">{box}</div>')
    writer.body.append("".join([*parts, "</div>"]))
    raise nodes.SkipNode
