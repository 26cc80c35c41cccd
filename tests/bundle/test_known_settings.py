"""Settings of another program that a plugin knows: a check explains each that has no effect, unless it has its default."""

import pytest

KNOWN = """
@attrs.frozen
class Nothing:
    WEIGHT: int = 1
    weighting: int = 1


@hookimpl
def negotiator_section():
    return Section(
        schema=Nothing,
        known=(
            KnownSetting(name="TIME_PER_TURN", default="60", reason="turns have no time limit", hint="be patient"),
            KnownSetting(name="LOG_FILE", default="$(LOG)/Log", reason="there is no log", decides=False),
            KnownSetting(name="POOL_WEIGHT", plugin="shares"),
            KnownSetting(name="POOL_*", reason="it has no such setting"),
            KnownSetting(name="POOL_COLOR_*", reason="pools have no color", decides=False),
        ),
    )
"""


@pytest.fixture
def known(bare):
    bare.plugin("known", KNOWN)
    return bare


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            "TIME_PER_TURN = 5",
            "warning: TIME_PER_TURN has no effect here: turns have no time limit (be patient)",
        ),
        (
            "time_per_turn = 5",
            "warning: time_per_turn has no effect here: turns have no time limit (be patient)",
        ),
        (
            "NEGOTIATOR.TIME_PER_TURN = 5",
            "warning: NEGOTIATOR.TIME_PER_TURN has no effect here: turns have no time limit (be patient)",
        ),
        ("LOG_FILE = /x", "notice: LOG_FILE has no effect here: there is no log"),
        (
            "POOL_WEIGHT = 3",
            "warning: POOL_WEIGHT has no effect here: plugin shares, which reads it, is not loaded (is it disabled, or does it have an error?)",
        ),
        ("POOL_SIZE = 3", "warning: POOL_SIZE has no effect here: it has no such setting"),
        ("POOL_COLOR_A = 3", "notice: POOL_COLOR_A has no effect here: pools have no color"),
        ("TIME_PER_TRUN = 5", "warning: TIME_PER_TRUN has no effect here (did you mean TIME_PER_TURN?)"),
        ("POOL_WEIGTH = 5", "warning: POOL_WEIGTH has no effect here (did you mean POOL_WEIGHT?)"),
        ("pool_weigth = 5", "warning: pool_weigth has no effect here (did you mean POOL_WEIGHT?)"),
        ("Time_Per_Trun = 5", "notice: Time_Per_Trun has no effect here"),
        ("WEIGHTS = 5", "warning: WEIGHTS has no effect here (did you mean WEIGHT?)"),
        ("weightings = 5", "notice: weightings has no effect here"),
        ("KIME_PER_TURN = 5", "notice: KIME_PER_TURN has no effect here"),
    ],
)
def test_a_known_setting_is_explained_at_its_line(known, line, problem):
    """With the reason, and what to write instead; a misspelled one with the name that was intended."""
    assert known.conf(line) == [f"a.conf:1:1: {problem}"]


@pytest.mark.parametrize(
    "text",
    [
        "TIME_PER_TURN = 60",
        "TIME_PER_TURN = 6.0e1",
        "TIME_PER_TURN = 2 * 30",
        "TIME_PER_TURN = $(MINUTE)",
        "TIME_PER_TURN =",
        "POOL_WEIGHT =",
        "LOG_FILE = $(LOG)/log",
        "LOG = /var/x\nLOG_FILE = /var/x/Log",
    ],
)
def test_a_known_setting_with_its_default_is_only_counted(known, text):
    """However the value is written, and with macros replaced."""
    known.write("a.conf", f"{text}\nOTHER = 1\n")
    (summary,) = known.problems()
    assert "2 settings of HTCondor have no effect here" in summary or "3 settings" in summary
    assert "(1 of its negotiator, with their defaults)" in summary
    assert (
        any("(its value is the default)" in each.message for each in known.examine().ignored)
        or "POOL" in text
    )


def test_an_unknown_key_of_pool_yaml_that_is_known_is_explained(known):
    """It is an error there, with the reason."""
    (problem,) = known.yaml("TIME_PER_TURN: 5\n")
    assert (
        problem == "pool.yaml:1:1: error: unknown key 'TIME_PER_TURN': turns have no time limit (be patient)"
    )


@pytest.mark.parametrize(
    ("known", "fault"),
    [
        ("3", "a tuple of up to 10000 settings as known of a Section, got int"),
        ("(3,)", "a KnownSetting in known of a Section, got int"),
        ("(KnownSetting(name='A B', reason='x'),)", "letters, digits, _ and . as name of a KnownSetting"),
        ("(KnownSetting(name='A'),)", "the plugin that reads A, or the reason why it has no effect"),
        (
            "(KnownSetting(name='A', reason='x', decides=1),)",
            "True or False as decides of a KnownSetting, got int",
        ),
    ],
)
def test_invalid_known_settings_refuse_the_bundle(bare, known, fault):
    bare.plugin(
        "known",
        f"@hookimpl\ndef negotiator_section(): return Section(schema=attrs.make_class('S', []), known={known})",
    )
    assert any(f"expected {fault}" in problem for problem in bare.yaml("{}"))
