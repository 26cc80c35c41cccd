"""The program's commands: how they are called, their options and their help. What they do is in ``negotiator.cli``.

A module here has one command, with the module's name, and imports what is run when it is run: help and completion are
quick. The table lists all commands, with their lines of ``negotiator --help``, and so none of them is imported for it.
"""

#: The line of each command in the list of commands.
COMMANDS = {
    "access": "Print the permissions of a user, and the rules that decide.",
    "admin": "Act on applications, change the bundle, make tokens.",
    "audit": "Verify the audit log, find records, read the bundles they name.",
    "check": "Print every problem of a policy bundle.",
    "diff": "Print what another policy bundle would decide otherwise.",
    "expr": "Evaluate ClassAd expressions, find mistakes in them, try them.",
    "export": "Print policies as configuration of startds and schedds.",
    "fetch": "Save the ads of a live pool as files.",
    "fmt": "Format the YAML files and expressions of a policy bundle.",
    "idle": "Print why idle jobs get no slot, by reason, user or queue.",
    "init": "Write a policy bundle to start from, or a plugin.",
    "place": "Print the queue that an application would be placed in, and why.",
    "plugins": "List the plugins of a policy bundle.",
    "policies": "Print what each policy, limit and quota does, if anything.",
    "queues": "Print the queues.",
    "replay": "Decide recorded cycles again, and compare the decisions.",
    "report": "Write a page of HTML: use, shares, what blocks whom, times.",
    "run": "Run negotiation cycles over the ads of a pool.",
    "schema": "Print the schema of a file, an output, or the REST interface.",
    "serve": "Serve a pool: run negotiation cycles, or its pages alone.",
    "state": "Back up a state, and restore a backup.",
    "status": "Print whether a negotiator runs and works, its state and settings.",
    "test": "Run the tests of policies.",
    "usage": "Print the usage of users or groups, beside their limits.",
    "whatif": "Print what a cycle would decide with another pool or policies.",
    "why": "Print why jobs get no slot, or a slot no job; what would help.",
}
