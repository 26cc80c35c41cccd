"""The site of the documentation: `make docs` writes it to build/docs.

The source folder is that of the project, so that a page may link to examples, policies and files as it does on a forge.
"""

from __future__ import annotations

import posixpath
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "site"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

project = "negotiator"
release = version = PROJECT["version"]
author = copyright = ""  # noqa: A001 - the name that Sphinx reads

extensions = ["myst_nb"]
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/*.md",
    "docs/reference/*.md",
    "examples/**/*.md",
    "examples/notebooks/*.ipynb",
    "policies/README.md",
]
exclude_patterns = [
    "**/.ipynb_checkpoints",
    "build",
    ".*",
    "**/.*",
    "tests",
    "var",
    "dist",
    "**/node_modules",
]
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # JSON that is shortened by an ellipsis

nb_execution_mode = "force"  # notebooks are stored without output
nb_execution_raise_on_error = True
nb_execution_timeout = 60
nb_custom_formats = {".ipynb": "notebooks.read"}
nb_ipywidgets_js = {}  # the site loads nothing from other sites

myst_heading_anchors = 4
highlight_language = "text"

html_theme = "furo"
html_title = "negotiator"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}

linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_ignore = [r"https?://(127\.0\.0\.1|localhost|[\w.-]*example\.org)"]

#: The pages by chapter, as the menu shows them; without the ending and relative to docs/. A page that is not there is left out.
NAVIGATION = {
    "Begin": "install commands from-htcondor from-yunikorn from-gridengine ../examples/first-pool/first-hour plugin-tutorial auditors",
    "Policies": "bundle expressions queues placement quota-sets fair-share queue-order policy-tests rollout ../policies/README",
    "Decisions": "cycle explain what-if recorded-cycles audit report",
    "Operation": "live-pool service state several-negotiators engines pages rest api security speed",
    "Python": "python classads ../examples/notebooks/first-pool",
    "Plugins and design": "hooks architecture specifications ../examples/maintenance/README ../examples/csv-matches/README",
    "Reference": "reference/commands reference/keys condor-settings reference/reasons reference/hooks reference/program formats glossary",
    "Project": "../README ../CHANGELOG ../CONTRIBUTING ../SECURITY ../examples/first-pool/README ../examples/prometheus/README ../examples/systemd/README",
}

_REDIRECT = '<!doctype html><html lang="en"><meta charset="utf-8"><title>negotiator</title><meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">Documentation</a></html>\n'


def add_navigation(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add the menu to the first page, which on a forge is read without it; pages that it does not name come last."""
    if docname != root_doc:
        return
    menu = {caption: [_docname(page) for page in pages.split()] for caption, pages in NAVIGATION.items()}
    present = app.project.docnames - {root_doc}
    menu["More"] = sorted(present.difference(*menu.values()))
    for caption, pages in menu.items():
        listed = "\n".join(f"/{page}" for page in pages if page in present)
        if listed:
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"


def _docname(page: str) -> str:
    return posixpath.normpath(f"docs/{page}")


def add_policy_files(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Show the files of every example bundle below the page that lists them."""
    if docname != "policies/README":
        return
    folder = ROOT / "policies"
    for bundle in sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] not in "._"):
        source[0] += f"\n## {bundle.name}\n"
        for file in sorted(path for path in bundle.iterdir() if path.is_file()):
            language = "yaml" if file.suffix == ".yaml" else "text"
            source[0] += (
                f"\n`{file.name}`:\n\n```{{literalinclude}} {bundle.name}/{file.name}\n:language: {language}\n```\n"
            )


def lead_into_folders(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Lead a link to a folder to its README, and one to an example bundle to its files on the page of all bundles."""
    above = (ROOT / docname).parent

    def target(link: re.Match[str]) -> str:
        folder = above / link[1]
        if not folder.is_dir():
            return link[0]
        if (folder / "README.md").exists():
            return f"]({posixpath.join(link[1], 'README.md')})"
        return f"]({posixpath.dirname(link[1].rstrip('/'))}/README.md#{folder.name})"

    source[0] = re.sub(r"\]\(([^)#:\s]+)\)", target, source[0])


def write_redirect(app: Sphinx, failure: Exception | None) -> None:
    """Lead from the top of the site to its first page."""
    if failure is None and app.builder.name == "html":
        (Path(app.outdir) / "index.html").write_text(_REDIRECT, "utf-8")


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("source-read", add_navigation)
    app.connect("source-read", add_policy_files)
    app.connect("source-read", lead_into_folders)
    app.connect("build-finished", write_redirect)
