"""Claim ids, capabilities and the like are dropped when they are read, and appear in no message."""

import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from negotiator.classad import unparse
from negotiator.pool import read_ads, read_pool
from negotiator.pool.secrets import is_secret

NAMES = (
    "ClaimId",
    "ClaimIds",
    "ClaimIdList",
    "ChildClaimIds",
    "PairedClaimId",
    "Capability",
    "TransferKey",
    "_condor_privRemoteAdminCapability",
    "_condor_PrivX",
)
MARK = "a1b2c3d4e5f0"


@pytest.mark.parametrize("name", NAMES)
def test_the_names_of_secrets(name):
    """The attributes that HTCondor keeps private, in any case."""
    assert all(map(is_secret, (name, name.lower(), name.upper(), f" '{name}' ", f"MY.{name}")))


@pytest.mark.parametrize(
    "name", ["PublicClaimId", "GPUs_Capability", "NumPendingClaims", "Claim", "condor_priv"]
)
def test_similar_names_are_not_secrets(name):
    """Attributes that only look like a secret stay."""
    assert not is_secret(name)


def test_a_capability_inside_a_nested_ad_stays(ads):
    """The Capability of a GPU, in a nested ad, is not a secret."""
    for text in (
        "GPU = [ Capability = 7.5 ]\nCapability = 1\n",
        '[{"GPU": {"Capability": "/Expr(7.5)/"}, "Capability": 1}]',
        "[ GPU = [ Capability = 7.5 ]; Capability = 1 ]",
        '<classads><c><a n="GPU"><c><a n="Capability"><r>7.5</r></a></c></a><a n="Capability"><i>1</i></a></c></classads>',
    ):
        assert ads(text) == ([{"GPU": "[ Capability = 7.500000000000000E+00 ]"}], ())


def spelled(name, flips):
    return (
        "".join(char.swapcase() if flip else char for char, flip in zip(name, flips, strict=False))
        + name[len(flips) :]
    )


secret_names = st.builds(spelled, st.sampled_from(NAMES), st.lists(st.booleans(), max_size=40))
others = st.lists(
    st.sampled_from(
        [
            'MyType = "Machine"',
            'Name = "slot1@x"',
            'State = "Unclaimed"',
            "Requirements = (",
            "no equals",
            "Cpus = 007",
            "",
            "*** x",
        ]
    ),
    max_size=6,
)
# As printed; broken over two lines; with quotes or brackets lost; as an expression that does not parse.
long_values = st.sampled_from(
    [
        f'"<1>#{MARK}"',
        f'"<1>\n<{MARK}"',
        f'"{MARK}',
        f"{MARK} +",
        f'{{ "{MARK}", }}',
        f'"a" )\n{MARK} "',
    ]
)


@st.composite
def long_forms(draw):
    lines = draw(others)
    equals = draw(st.sampled_from([" = ", "=", " =  ", "  :  ", " "]))
    lines.insert(draw(st.integers(0, len(lines))), draw(secret_names) + equals + draw(long_values))
    return "\n".join(lines)


@st.composite
def json_forms(draw):
    ad = {
        "MyType": "Job",
        draw(secret_names): draw(st.sampled_from([MARK, [MARK], {"a": MARK}, f"/Expr({MARK} +)/"])),
    }
    ad["Other"] = draw(st.sampled_from([1, "/Expr(1 +)/", "x\0"]))
    text = json.dumps([ad, ad], indent=draw(st.sampled_from([None, 1])))
    return damaged(draw, text)


@st.composite
def new_forms(draw):
    value = draw(
        st.sampled_from(
            [f'"{MARK}"', f"{MARK}", f'{{ "{MARK}" }}', f'"x" {MARK}', f"{MARK} + ", f'"{MARK}\n"']
        )
    )
    return damaged(
        draw,
        f'[ MyType = "Job";\n {draw(secret_names)} = {value};\n B = {draw(st.sampled_from(["1", "("]))} ]\n'
        * 2,
    )


@st.composite
def xml_forms(draw):
    value = draw(
        st.sampled_from(["<s>{}</s>", "<i>{}</i>", "<e>{} +</e>", "<{}/>", "{}", "<s>{}", "<l><s>{}</s></l>"])
    )
    ad = f'<c><a n="MyType"><s>Job</s></a>\n<a n="{draw(secret_names)}">{value.format("x" + MARK)}</a></c>\n'
    return damaged(draw, f"<classads>{ad * 2}</classads>")


def damaged(draw, text):
    """Take some characters away somewhere, but for those of the name of a secret."""
    at = draw(st.integers(0, len(text)))
    gone = text[at : at + draw(st.integers(0, 3))]
    if any(char.isalnum() or char == "_" for char in gone):
        return text
    return text[:at] + text[at + len(gone) :]


@settings(deadline=None)
@example(f'[ "ClaimId": {{"a": "{MARK}"}}}}, {{"A": 1}}]')
@example(f'[{{"A": 1}}, "ClaimId": [{{"a": "{MARK}"}}]}}]')
@example(f"[ A = 1 ]; ClaimId = [ a = {MARK} ]; ]")
@given(st.one_of(long_forms(), json_forms(), new_forms(), xml_forms()))
def test_secrets_are_in_no_table_and_no_problem(text):
    """The value of a secret is dropped however damaged the text around it is."""
    pool = read_pool(["-"], io.BytesIO(text.encode()))
    file = read_ads("-", io.BytesIO(text.encode()))
    texts = [repr(pool), str(pool), repr(file)]
    texts += [f"{problem!r} {problem}" for problem in (*pool.problems, *file.problems)]
    tables = (pool.schedds, pool.submitters, pool.slots, pool.jobs)
    ads = [ad for table in tables for ad in table.ads] + [ad for ad, _ in file.ads]
    texts += [f"{name} = {unparse(expr)}" for ad in ads for name, expr in ad.items()]
    assert not [line for line in texts if MARK in line.lower()]


@pytest.mark.parametrize("name", ["\ufeffClaimId", "Claim Id", "Claim\u200bId", "claim\tid"])
def test_a_disguised_name_of_a_secret_is_recognised(name):
    """A byte order mark, blanks and invisible characters do not make it another attribute."""
    text = f'{name} = "{MARK}"\nMyType = "Machine"\nName = "s"\nRequirements = true\n'
    pool = read_pool(["-"], io.BytesIO(text.encode()))
    assert MARK not in "".join(unparse(tree) for ad in pool.slots.ads for _, tree in ad.items())
    assert MARK not in "".join(map(str, pool.problems))
