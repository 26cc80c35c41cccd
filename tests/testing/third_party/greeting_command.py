"""A command: prints who calls it."""

import click

from negotiator.plugin import hookimpl


@click.command("whoami")
@click.pass_obj
def whoami(context):
    """Print who calls."""
    click.echo(f"{context.caller().name} of {', '.join(context.caller().groups)}")


@hookimpl
def negotiator_commands():
    yield whoami
