"""Functions of time: clocks, absTime, relTime, getYear .. getSeconds, splitTime, formatTime."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calls import ANYTHING, NUMBERS, agrees, calls, cases, needs_htcondor, quoted, spelled, texts, value
from negotiator.classad import ERROR, UNDEFINED, Environment, evaluate, parse, parse_ad, unparse_value

TABLE = r"""
absTime(0) => absTime("1970-01-01T00:00:00Z")
absTime(1.9, 3600) => absTime("1970-01-01T01:00:01+01:00")
absTime(5000000000) => absTime("1992-05-05T02:25:04Z")
absTime(5, -1) => error
absTime(relTime(30)) => absTime("1970-01-01T00:00:30Z")
absTime(strcat("200", "3")) => "2003"
absTime(undefined) => undefined
absTime(true) => error
absTime("2003") => absTime("2002-12-31")
absTime("2003-13-45") => absTime("2004-02-14")
string(absTime("2003-01-25 T 09:00:00 -0630")) => "2003-01-25T09:00:00-06:30"
relTime(5000000000) => relTime(705032704)
relTime(2.5) + relTime(0.5) => relTime(3)
relTime(absTime(7)) => relTime(7)
relTime(strcat("2", "0")) => relTime(0)
relTime("1d2h3m4s") => 93784.0
relTime("-1+02:03:04.5") => -93784.5
relTime("99999999999:00") => 0.0
relTime(true) => error
relTime(5, 6) => error
getYear(absTime(0)) => 1970
getMonth(absTime(0)) => 1
getDayOfMonth(absTime(-1)) => 31
getDayOfYear(absTime(0)) => 0
getDayOfWeek(absTime(0)) => 4
getHours(absTime(0, 3600)) => 0
getHours(relTime(-100000)) => -3
getDays(relTime(100000.7)) => 1
getMinutes(relTime(3661)) => 1
getSeconds(relTime(-3.7)) => -3
getDays(absTime(0)) => error
getYear(relTime(0)) => error
getYear(0) => error
string(splitTime(absTime(0, 3600))) => "[ Day = 1; Type = \"AbsoluteTime\"; Year = 1970; Hours = 1; Month = 1; Offset = 3600; Minutes = 0; Seconds = 0 ]"
string(splitTime(relTime(-93784.5))) => "[ Days = -1; Type = \"RelativeTime\"; Hours = 2; Minutes = 3; Seconds = 4.500000000000000E+00 ]"
splitTime(86400).Day => 2
splitTime(undefined) => undefined
splitTime([]) => error
formatTime(0) => "Thu Jan  1 00:00:00 1970"
formatTime(0, "%Y-%m-%dT%H:%M:%S%z %Z") => "1970-01-01T00:00:00+0000 UTC"
formatTime(0, "%j %U %V %W %u %w %G %g %C %y %s") => "001 00 01 00 4 4 1970 70 19 70 0"
formatTime(0, "%-d|%_m|%05d|%^a|%10b|%e|%k|%l|%p|%P") => "1| 1|00001|THU|       Jan| 1| 0|12|AM|am"
formatTime(0, "%Q %E %5") => "%Q %E    %5"
formatTime(0, "") => ""
formatTime([Year = 2003; Month = 13; Day = 45; Hours = 30], "%Y-%m-%d %H %a %b %j %s") => "2003-13-45 30 Sat ? 410 1076824800"
formatTime([]) => "Sun Jan  0 00:00:00 1900"
formatTime(absTime(0, 3600), "%H") => "01"
formatTime(undefined) => error
formatTime(relTime(5)) => error
formatTime(0, 5) => error
timeZoneOffset() => relTime(0)
time(1) => error
currentTime(1) => error
"""

PARTS = ["Year", "Month", "DayOfYear", "DayOfMonth", "DayOfWeek", "Days", "Hours", "Minutes", "Seconds"]
SPLITTING = [f"get{part}" for part in PARTS] + ["splitTime"]
ZONES = st.sampled_from(["", "Z", "z ", "+0100", "-06:00", "+1:00", "-0000", "+00:00", " Z x"])
DATES = st.builds(
    lambda year, rest, zone: quoted(year + rest + zone),
    st.integers(1, 9999).map("{:04}".format),
    st.sampled_from(["", "-02", "0230", "-13-32", " 12/31", "-01-02T23:59", "-01-01T25:61:61", "-1-2", "x1"])
    | st.text("0123456789-:T ", max_size=14),
    ZONES,
)
SPANS = st.builds(
    lambda *parts: quoted("".join(parts)),
    st.sampled_from(["", "-", " - "]),
    st.sampled_from(["", "1+", "33333d ", "999999+", "1 d"]),
    st.sampled_from(["", "02:", "2h ", "3 H"]),
    st.sampled_from(["", "5:", "07m", "99999999999:"]),
    st.sampled_from(["", "5", "05.25", "7s", ".5", "5. S"]),
) | texts("0123456789+:.dhmsDHMS ", 12)
SECONDS = st.integers(-3 * 10**9, 5 * 10**9).map(str)
OFFSETS = st.integers(-86400, 86400).map(str)
MOMENTS = SECONDS | calls(["absTime"], SECONDS, OFFSETS)
GIVEN = st.builds(
    "[Year={};Month={};Day={};Hours={};Minutes={};Seconds={}]".format,
    st.integers(-50, 2500),
    st.integers(-1, 14),
    st.integers(-3, 35),
    st.integers(-3, 30),
    st.integers(-70, 70),
    st.integers(-70, 70),
)
FORMATS = st.lists(
    st.builds(
        "%{}{}{}{}{}".format,
        st.text("_-0^#", max_size=2),
        st.sampled_from(["", "", "3", "12"]),
        st.sampled_from(["", "", "E", "O"]),
        st.sampled_from("aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%Q+"),
        st.sampled_from(["", " ", "|"]),
    ),
    max_size=3,
).map(lambda parts: quoted("".join(parts)))


def is_on_the_calendar(text):
    """True if HTCondor has a value for this time. Beyond the calendar it shows uninitialised memory."""
    return not text.lstrip("-").isdigit() or abs(int(text)) < 10**16


@pytest.mark.parametrize(("call", "value"), cases(TABLE))
def test_values(call, value):
    """Each call of the table has its value, of its kind."""
    assert spelled(call) == spelled(value)


@needs_htcondor
@pytest.mark.parametrize("call", [call for call, _ in cases(TABLE)])
def test_table_is_htcondors(call):
    """HTCondor's library has the values of the table."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["absTime"], DATES) | calls(["relTime"], SPANS))
def test_texts_of_times(call):
    """Reading texts of times agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["absTime", "relTime"], ANYTHING) | calls(["absTime"], ANYTHING, ANYTHING))
def test_making_times(call):
    """Making times of any values agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(SPLITTING, MOMENTS | ANYTHING.filter(is_on_the_calendar) | calls(["relTime"], NUMBERS)))
def test_parts(call):
    """The parts of any time agree with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["formatTime"], MOMENTS | GIVEN) | calls(["formatTime"], MOMENTS | GIVEN, FORMATS | ANYTHING))
def test_formatting(call):
    """Formatting any time in any way agrees with HTCondor."""
    assert agrees(call)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("time()", "1700000000"),
        ("currentTime()", "absTime(1700000000)"),
        ("absTime()", "absTime(1700000000)"),
        ("dayTime()", "relTime(80000)"),
        ("formatTime()", '"Tue Nov 14 22:13:20 2023"'),
    ],
)
def test_the_environment_sets_the_clock(call, expected):
    """The time is that of the environment, not of the test run."""
    assert spelled(call) == spelled(expected)


def test_the_environment_sets_local_time():
    """An hour east of UTC, clocks, parts and texts of moments are an hour ahead."""
    east = Environment(now=1_700_000_000.0, zone_offset=3600)

    def there(text):
        return unparse_value(evaluate(parse(text), env=east))

    assert there("currentTime()") == 'absTime("2023-11-14T23:13:20+01:00")'
    assert there("dayTime()") == there("relTime(83600)")
    assert there("getHours(absTime(0))") == "1"
    assert there('formatTime(0, "%H")') == '"01"'
    assert there("timeZoneOffset()") == there("relTime(3600)")


def test_times_beyond_the_calendar():
    """Times for which HTCondor shows uninitialised memory are an error."""
    assert value("formatTime(9223372036854775807)") is ERROR
    assert value("splitTime(-9223372036854775808)") is ERROR


def test_too_long_a_text():
    """A text of 1023 bytes or more, for which HTCondor shows uninitialised memory, is an error."""
    assert len(value(f'formatTime(0, "{"x" * 1022}")')) == 1022
    assert value(f'formatTime(0, "{"x" * 1023}")') is ERROR
    assert value('formatTime(0, "%99999999999999d")') is ERROR


def test_split_times_are_not_inside_other_ads():
    """Names that are not parts of a split time are undefined, even if the ad of the call has them."""
    ad = parse_ad("[Day = 5; A = 1; S = splitTime(86400); L = {S}]")
    for text, found in (
        ("S.Day", 2),
        ("S.A", UNDEFINED),
        ("splitTime(0).A", UNDEFINED),
        ("L[0].A", UNDEFINED),
    ):
        assert evaluate(parse(text), ad, ad) == found
