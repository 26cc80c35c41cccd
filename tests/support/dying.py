"""Kills a process at each of its steps, one after the other, so that a test can look at what it leaves."""

import os
import signal
import traceback


def killed_at_each_step(parent, points, run, *, most, after=False):
    """Kill a process at its first step, the next one at its second, until one completes; return their folders.

    Each process calls ``run`` with a folder of its own and with ``note``, which appends words to the file ``notes`` there
    at once. The last folder is that of the process that ended by itself. If a process fails, or none ends in ``most``
    steps, the test fails.

    :param points: (owner, name) of the functions whose calls are steps.
    :param after: their returns are steps too.
    """
    folders = []
    for step in range(1, most + 1):
        folder = parent / str(step)
        folder.mkdir()
        folders.append(folder)
        child = os.fork()
        if not child:
            _child(folder, points, run, step, after=after)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            return folders
        assert code == -signal.SIGKILL, (folder / "notes").read_text()
    raise AssertionError(f"the process did not end in {most} steps")


def _child(folder, points, run, left, *, after):
    """Run as the child; nothing of the test continues in it."""
    notes = (folder / "notes").open("w", buffering=1)
    try:
        clock = [left]
        for owner, name in points:
            _die_at(owner, name, clock, after=after)
        run(folder, lambda *words: notes.write(" ".join(map(str, words)) + "\n"))
    except BaseException:  # noqa: BLE001 - whatever it is, it must not go on as a second test run
        traceback.print_exc(file=notes)
        os._exit(1)
    os._exit(0)


def _die_at(owner, name, clock, *, after):
    call = getattr(owner, name)

    def step():
        clock[0] -= 1
        if clock[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def wrapped(*arguments, **options):
        step()
        result = call(*arguments, **options)
        if after:
            step()
        return result

    setattr(owner, name, wrapped)
