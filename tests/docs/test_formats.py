"""docs/formats.md has the table of the outputs, and all files with a schema."""

from pathlib import Path

from negotiator.app.output_formats import OUTPUTS
from negotiator.app.schemas import schemas_of_files
from negotiator.hooks.command_targets import CommandTargets

TEXT = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()


def row(output):
    option = f"`{output.option}`" if output.option else "always"
    unit = "one a line" if output.is_line else "one"
    return f"| `{output.command}` | {option} | {output.version} | {unit} | {output.summary} |"


def test_the_table_of_outputs_is_that_of_the_program():
    table = TEXT.partition("| ---: |")[2].partition("\n\n")[0].splitlines()[1:]
    assert table == [row(each) for each in OUTPUTS]


def test_each_file_with_a_schema_is_documented():
    assert [name for name in schemas_of_files(CommandTargets()).schemas if f"| `{name}` |" not in TEXT] == []
