"""Any content of the files gives problems with places, and no exception but BundleError."""

from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from negotiator.bundle import BundleError, load_bundle
from negotiator.bundle.text import SourceText
from negotiator.bundle.yaml_reader import read_yaml

WORDS = st.sampled_from(
    [
        *["number", "text", "items", "names", "words", "TINY_EXPR", "audit", "plugins", "A", "B"],
        *"{}[]:,-?!&*|>'\"%@`#=<~$()\\./\t\n ",
        "\n  ",
        "\n",
        "\r\n",
        ": ",
        "- ",
        "---\n",
        "$(",
        "@=x",
        "\n@x\n",
        "if ",
        "use x:",
        " = ",
        "\\\n",
        "true",
        "0x1",
        "\ufeff",
        "NEGOTIATOR.",
        "$(A:",
        "MY.x",
        "matches: ",
        "\u2028",
        "\x85",
        "\x00",
        "é",
        "😀",
        "�",
    ]
)
TEXT = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=30).map("".join))
SLOW = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def examine(bundle, name, content):
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / name).write_bytes(content)
        try:
            problems = load_bundle(folder, extra_folders=[bundle.plugins], entry_points=False).problems
        except BundleError as error:
            problems = error.problems
    lines = content.count(b"\n") + 1
    for problem in problems:
        if problem.source.file == name:
            least = (
                0 if "settings of HTCondor have no effect here" in problem.message else 1
            )  # 0: the whole file
            assert least <= problem.source.line <= lines
            assert problem.source.column >= least
            assert "\n" not in str(problem)
        else:
            assert problem.message == "unknown plugin " + problem.message.rpartition(" ")[2]


@SLOW
@given(text=TEXT)
@example(text="? ")
@example(text="a: |\n")
@example(text='"\\')
@example(text="%YAML 9" + "9" * 5000 + ".1\n---\n")
def test_any_text_as_pool_yaml_gives_problems_with_places(bundle, text):
    """Only BundleError is raised, and every problem has a line of the file."""
    examine(bundle, "pool.yaml", text.encode("utf-8", "surrogatepass"))


@SLOW
@given(text=TEXT)
@example(text="TINY_EXPR = $(TINY_EXPR")
@example(text="A @=\n@\n")
@example(text="\\\n\\")
@example(text="0:\n1:")
def test_any_text_as_a_configuration_file_gives_problems_with_places(bundle, text):
    """Only BundleError is raised, and every problem has a line of the file."""
    examine(bundle, "a.conf", text.encode("utf-8", "surrogatepass"))


@SLOW
@given(content=st.binary(max_size=40), name=st.sampled_from(["pool.yaml", "condor_config"]))
def test_any_bytes_give_problems_with_places(bundle, content, name):
    """Including bytes that are not text."""
    examine(bundle, name, content)


@given(
    value=st.text(alphabet="ab01 \n\t\"'\\#:é\U0001f600", max_size=60),
    style=st.sampled_from(["", "'", '"', "|", ">"]),
    width=st.sampled_from([8, 20, 1000]),
)
@settings(deadline=None)
def test_every_character_of_a_scalar_has_its_place(value, style, width):
    """In any style of YAML, each character that is not white space has its own place in the file."""
    text = "names:\n" + yaml.safe_dump([value], default_style=style or None, width=width, allow_unicode=True)
    root, problems = read_yaml(SourceText("pool.yaml", text))
    assert problems == ()
    located = root.entries["names"].value.items[0].value
    assert located.text == value
    assert len(located.offsets) == len(value)
    assert list(located.offsets) == sorted(located.offsets)
    for character, offset in zip(value, located.offsets, strict=True):
        if not character.isspace():
            assert text[offset] in {character, "\\"}
