"""Check the links inside a built site: every file and every anchor must exist.

``python tools/check_links.py docs/_build/html`` prints what is broken and exits with code 1.
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids, links and files."""
        found = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := found.get(key))}
        if tag == "a" and (link := found.get("href")):
            self.links.append(link)
        loaded = found.get("href") if tag == "link" else found.get("src")
        if loaded and tag in {"link", "script", "img", "source", "iframe"}:
            self.loads.append(loaded)


def broken_links(site: Path) -> Iterator[str]:
    """Yield the links of all pages that lead nowhere, and files that are loaded from the web."""
    found = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    pages = {path: Page(path.read_text()) for path in found}
    for path, page in pages.items():
        name = path.relative_to(site)
        for target in page.loads:
            if urlsplit(target).scheme not in {"", "data"} or target.startswith("//"):
                yield f"{name}: loads {target}"
        for target in [*page.links, *page.loads]:
            if urlsplit(target).scheme or target.startswith(("//", "#search")):
                continue
            place, anchor = urldefrag(target)
            goal = (path.parent / unquote(place.partition("?")[0])).resolve() if place else path
            if not goal.is_file():
                yield f"{name}: no file {target}"
            elif anchor and goal in pages and unquote(anchor) not in pages[goal].anchors:
                yield f"{name}: no anchor {target}"


def main() -> int:
    """Check the site that the first argument names."""
    site = Path(sys.argv[1]).resolve()
    broken = list(dict.fromkeys(broken_links(site)))
    for line in broken:
        print(line)
    print(f"{len(list(site.rglob('*.html')))} pages, {len(broken)} broken links")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
