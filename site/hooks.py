"""What MkDocs has to know about this repository.

The pages are written for a code forge: they link to files of the repository, wherever these are, and their code blocks say to a test how they
are typed. On the site

- a link to a page of the site leads to that page, also if the page lies outside of docs/ (PAGES);
- a link to any other file of the repository leads to the repository;
- a link to a file or to a heading that is not there is a warning, which `mkdocs build --strict` takes as an error;
- what is built from the repository is linked to where it has been built (BUILT);
- a code block shows neither what is said to the test nor the hidden lines of Rust's examples;
- the search also works where the pages are opened from a disk (site/search-from-disk.js).
"""

import functools
import posixpath
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from markdown.blockprocessors import build_block_parser
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from mkdocs.plugins import event_priority, get_plugin_logger
from mkdocs.structure.files import File
from pymdownx.slugs import slugify

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/trueplane/trueplane"

# Pages from outside of docs/: where they are in the repository, and on the site.
PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "rtl/README.md": "rtl.md",
}
SOURCES = {page: source for source, page in PAGES.items()}

# Files of the site beside its pages. The script takes the place of one of this name from another host, which the plugin `offline` would load.
SEARCH = "assets/iframe-worker.js"
ASSETS = {SEARCH: "site/search-from-disk.js", "assets/extra.css": "site/extra.css"}

# Files of the site that are built from the repository, if they have been: where they are, and the words that lead there. A comment
# `<!-- built: FILE OF THE SITE -->` in a page is the place of the link.
BUILT = {"start/trueplane.html": ("target/browser/trueplane.html", "Open the page")}

log = get_plugin_logger("repository")
# Ids of headings as a code forge makes them.
slug = slugify(case="lower")


def source_of(page):
    """Where a page of the site is in the repository."""
    return SOURCES.get(page, f"docs/{page}")


def page_of(source):
    """Where a file of the repository is on the site; None if it is not there."""
    if source in PAGES:
        return PAGES[source]
    for built, (built_from, _) in BUILT.items():
        if source == built_from:
            return built
    return source.removeprefix("docs/") if source.startswith("docs/") and (ROOT / source).is_file() else None


@functools.cache
def headings(source):
    """The ids of the headings in a Markdown file that is no page of the site."""
    text = re.sub(r"^```.*?^```", "", (ROOT / source).read_text(), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ +(.*?)\s*$", text, flags=re.MULTILINE)
    return {slug(re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", title), "-") for title in titles}


def resolved(link, page):
    """What a link in a page has to be on the site; None if it leads nowhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not parts.path:
        return link
    source = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(page)), unquote(parts.path)))
    if source.startswith("../") or not (ROOT / source).exists():
        return None
    target = page_of(source)
    if target is not None:
        # MkDocs checks the rest, headings among it.
        return urlunsplit(parts._replace(path=posixpath.relpath(target, posixpath.dirname(page) or ".")))
    if parts.fragment and source.endswith(".md") and parts.fragment not in headings(source):
        return None
    kind = "tree" if (ROOT / source).is_dir() else "blob"
    return urlunsplit(parts._replace(path=f"{REPOSITORY}/{kind}/main/{source}"))


class Links(Treeprocessor):
    """Rewrites the links of a page before MkDocs looks at them."""

    def __init__(self, md, page):
        super().__init__(md)
        self.page = page

    def run(self, root):
        for element in root.iter():
            for name in ("href", "src"):
                link = element.get(name)
                if link is None:
                    continue
                there = resolved(link, self.page)
                if there is None:
                    log.warning("%s links to '%s', which is not there", source_of(self.page), link)
                else:
                    element.set(name, there)


class Repository(Extension):
    """Markdown as a code forge reads it."""

    page = ""

    def extendMarkdown(self, md):
        # A list within a list begins two spaces further in. What parses blocks was made for four.
        md.tab_length = 2
        md.parser = build_block_parser(md)
        # After inline elements are made (20), before MkDocs looks at links (0).
        md.treeprocessors.register(Links(md, self.page), "repository", 10)


extension = Repository()


# Before the plugin `offline`.
@event_priority(100)
def on_config(config):
    # Before all others, which add to what parses blocks.
    config.markdown_extensions.insert(0, extension)
    config.extra["polyfills"] = [SEARCH]
    return config


def on_files(files, config):
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    for asset, source in ASSETS.items():
        files.append(File.generated(config, asset, abs_src_path=str(ROOT / source)))
    for built, (source, _) in BUILT.items():
        if (ROOT / source).is_file():
            files.append(File.generated(config, built, abs_src_path=str(ROOT / source)))
    return files


def link_to_built(comment, page):
    """What takes the place of a comment that asks for a link to a built file: nothing where it has not been built."""
    source, words = BUILT[comment[1]]
    # What it is resolved against, as all links, is where the page is in the repository.
    return f"[{words}]({posixpath.relpath(source, posixpath.dirname(source_of(page)))})" if (ROOT / source).is_file() else ""


def on_page_markdown(markdown, page, **_):
    extension.page = page.file.src_uri
    markdown = re.sub(r"<!-- built: (\S+) -->", lambda comment: link_to_built(comment, page.file.src_uri), markdown)
    lines = []
    language = None
    for line in markdown.splitlines():
        if line.startswith("```"):
            # `console numbers differ` is for the test that types the block.
            language = None if language is not None else line.removeprefix("```").split(" ")[0]
            line = "```" + (language or "")
        elif language == "rust" and re.match(r"#( |$)", line):
            continue
        lines.append(line)
    return "\n".join(lines)
