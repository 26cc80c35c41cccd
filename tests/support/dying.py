"""Processes that are killed at each of their steps, one after the other: what they leave is looked at afterwards."""

import os
import signal
import traceback


def killed_at_each_step(parent, points, run, *, most, after=False):
    """Kill a process at its first step, the next one at its second, until one comes to its end; gives their folders.

    A step is a call of one of the ``points``, (owner, name) each; with ``after`` its return is another one. Each process
    calls ``run`` with a folder of its own and with ``tell``, whose words stand in the file ``told`` there at once. The
    last folder is of the process that came to its end; none that does in ``most`` steps, or one that fails, fails the test.
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
        assert code == -signal.SIGKILL, (folder / "told").read_text()
    raise AssertionError(f"it did not come to its end in {most} steps")


def _child(folder, points, run, left, *, after):
    """Be the process that is killed: nothing of the test goes on in it."""
    told = (folder / "told").open("w", buffering=1)
    try:
        clock = [left]
        for owner, name in points:
            _die_at(owner, name, clock, after=after)
        run(folder, lambda *words: told.write(" ".join(map(str, words)) + "\n"))
    except BaseException:  # noqa: BLE001 - whatever it is, it must not go on as a second test run
        traceback.print_exc(file=told)
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
