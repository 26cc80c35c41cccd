"""Plain scalars, anchors and merge keys in queues.yaml, as yaml.v3 decodes them into YuniKorn's typed configuration.

Source: gopkg.in/yaml.v3, ``resolve`` and ``decoder.scalar``: ``out.SetString(n.Value)`` for any scalar that is not null, and the words
of YAML 1.1 for a target of type bool.
"""

import pytest

from negotiator.bundle import check_bundle, load_bundle

#: Scalars that YAML 1.1, YAML 1.2 or Go's resolver read as something else than a text.
SCALARS = [
    *("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF"),
    *("true", "True", "TRUE", "false", "False", "FALSE"),
    *("1", "010", "0x1F", "0o17", "0b11", "1e3", "1E3", "1_000", "10:30", "190:20:30", "2026-01-01"),
]
#: The same that cannot be names.
OTHERS = ["1.5", ".5", "-1", "+1", ".inf", "-.INF", ".nan", "=", "2026-01-01T10:00:00Z", "1.2e-3"]
NULLS = ["~", "null", "Null", "NULL", ""]
TRUE = ["true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", '"yes"', "'on'"]
FALSE = ["false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF", '"no"', "'Off'"]


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a configuration, whose queues are below the root, and returns its bundle."""

    def written(queues, rules="", **more):
        lines = [f"    {key}: {text}" for key, text in more.items()]
        text = [
            "partitions:",
            "  - name: default",
            *lines,
            *([f"    placementrules: {rules}"] if rules else []),
        ]
        text += ["    queues:", "      - name: root", '        submitacl: "*"', "        queues:"]
        (tmp_path / "queues.yaml").write_text("\n".join((*text, *(f"          {line}" for line in queues))))
        return tmp_path

    return written


@pytest.fixture
def read(write):
    """Return a function that returns the partition of such a configuration."""
    return lambda *queues, **more: load_bundle(write(*queues, **more)).partition


@pytest.fixture
def errors(write):
    """Return a function that returns the errors of such a configuration."""
    return lambda queues: [each for each in check_bundle(write(queues)) if each.severity == "error"]


@pytest.mark.parametrize("text", SCALARS)
def test_a_queue_has_the_name_that_is_written(read, text):
    (queue,) = read([f"- name: {text}"]).root.children
    assert queue.path == f"root.{text.lower()}"


@pytest.mark.parametrize("text", SCALARS + OTHERS)
def test_the_name_and_the_value_of_a_property_are_what_is_written(read, text):
    (queue,) = read([f"- {{name: a, properties: {{x: {text}, {text}: x}}}}"]).root.children
    assert queue.properties == {"x": text, text: "x"}


@pytest.mark.parametrize("text", [each for each in SCALARS if each[0].isalpha()])
def test_users_groups_limits_lists_and_rules_have_the_names_that_are_written(read, text):
    partition = read(
        [
            f"- name: a\n            submitacl: {text}\n            adminacl: {text} {text}\n            limits:",
            f"    - {{limit: {text}, users: [{text}], groups: [{text}], maxapplications: 1}}",
        ],
        rules=f"[{{name: tag, value: {text}, create: yes, filter: {{users: [{text}, b], groups: [{text}, b]}}}}]",
    )
    (queue,) = partition.root.children
    (limit,) = queue.limits
    assert (limit.text, limit.users, limit.groups) == (text, (text,), (text,))
    assert queue.submit.users == {text}
    assert (queue.admin.users, queue.admin.groups) == ({text}, {text})
    (rule,) = partition.rules
    assert (rule.value.text, rule.create) == (text, True)
    assert [each.text for each in (*rule.filter.users, *rule.filter.groups)] == [text, "b", text, "b"]


@pytest.mark.parametrize("text", ["010", "1", "0"])
def test_an_amount_is_decimal(read, text):
    """YuniKorn parses the text itself: 010 is ten."""
    (queue,) = read([f"- {{name: a, resources: {{max: {{y: {text}, on: 3}}}}}}"]).root.children
    assert queue.max == {"y": int(text), "on": 3}


@pytest.mark.parametrize(("texts", "value"), [(TRUE, True), (FALSE, False)])
def test_a_boolean_may_be_written_as_in_yaml_1_1(read, texts, value):
    for text in texts:
        partition = read(
            [f"- {{name: a, parent: {text}}}"],
            rules=f"[{{name: tag, value: x, create: {text}}}]",
            preemption=f"{{enabled: {text}}}",
        )
        (queue,), (rule,) = partition.root.children, partition.rules
        assert (queue.leaf, rule.create, partition.preemption) == (not value, value, value)


@pytest.mark.parametrize("text", ["1", "0", "oui", '"true"', "yES", "oN", "010"])
def test_nothing_else_is_a_boolean(errors, text):
    (error,) = errors([f"- {{name: a, parent: {text}}}"])
    assert "expected true or false" in error.message


@pytest.mark.parametrize("text", ["010", "0x1F", "1e3", "1_000", "on", '"5"', "-1", "1.5"])
def test_a_number_of_applications_that_yaml_may_read_otherwise_is_refused(errors, text):
    (error,) = errors([f"- {{name: a, maxapplications: {text}}}"])
    assert "expected a non-negative whole number" in error.message


@pytest.mark.parametrize("text", NULLS)
def test_null_is_no_text(read, errors, text):
    (queue,) = read(
        [f"- {{name: a, parent: {text}, submitacl: {text}, properties: {{x: {text}}}}}"]
    ).root.children
    assert (queue.leaf, queue.properties, queue.submit.users) == (True, {"x": ""}, frozenset())
    if text:
        found = errors([f"- {{name: a, limits: [{{users: [{text}, b], maxapplications: 1}}]}}"])
        assert [each.hint for each in found] == ["quote it, if it is a text"]


SHARED = [
    "- name: a",
    "  resources: &r",
    "    max: {memory: 1Gi}",
    "  properties: &p {x: 1, y: 2}",
    "- name: b",
    "  resources: *r",
    "  properties: {<<: *p, y: 3}",
    "- name: c",
    "  properties: {<<: [{z: 1}, *p, {x: 7, z: 7, w: 7}]}",
]


def test_anchors_aliases_and_merge_keys_share_values(read):
    a, b, c = read(SHARED).root.children
    assert a.max == b.max == {"memory": 1 << 30}
    assert (b.properties, c.properties) == ({"x": "1", "y": "3"}, {"z": "1", "x": "1", "y": "2", "w": "7"})


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["- {name: a, resources: *r}"], "'*r' has no anchor before it"),
        (["- &a {name: a, queues: [*a]}"], "'*a' is an alias within its own value"),
        (["- {name: a, properties: {<<: 3}}"], "the value of << must be a mapping, or a list of mappings"),
        (
            ["- name: a", "  resources: &r {max: {memory: 1GB}}", "- {name: b, resources: *r}"],
            "'1GB' is not a valid",
        ),
        (["- {name: a, properties: {x: 1, x: 2}}"], "duplicate key 'x'"),
    ],
)
def test_an_alias_or_merge_key_without_a_value_is_refused_with_its_place(errors, lines, message):
    found = errors(lines)
    assert any(message in each.message for each in found)
    assert all(each.source.line in {7, 8} for each in found)


def test_what_aliases_expand_to_counts_as_if_it_were_written(errors):
    """Ten levels of ten aliases each would be ten thousand million values."""
    levels = [f"    a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]" for number in range(1, 10)]
    (error,) = errors(["- name: a", "  properties:", "    a0: &a0 [x]", *levels])
    assert error.message == "more than 500000 values in this file"
    nested = [f"    a{number}: &a{number} [*a{number - 1}]" for number in range(1, 80)]
    (error,) = errors(["- name: a", "  properties:", "    a0: &a0 [x]", *nested])
    assert error.message == "nested deeper than 64"


def test_a_config_map_of_a_mebibyte_with_many_limits_is_read(read):
    """YUNIKORN-3215: each of many users has a limit in each of many queues."""
    limit = "- {{limit: u{0}, users: [user{0}], maxresources: {{vcore: 50, memory: 1000000}}, maxapplications: 10}}"
    limits = [f"    {limit.format(number)}" for number in range(250)]
    lines = [line for number in range(50) for line in (f"- name: q{number}", "  limits:", *limits)]
    assert sum(map(len, lines)) > 1 << 20
    queues = read(lines).root.children
    assert (len(queues), {len(each.limits) for each in queues}) == (50, {250})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("placement: {queue: &q MY.Queue}", "YAML anchors are refused"),
        ("plugins: {disable: [on]}", "plugins.disable[0]: YAML reads 'on' as a boolean"),
        ("concurrency_limits: {on: 3}", "a key must be a text; YAML reads 'on' as a boolean"),
    ],
)
def test_pool_yaml_stays_strict(tmp_path, text, message):
    """It is this program's own file: what parsers of YAML read differently is refused there."""
    (tmp_path / "pool.yaml").write_text(text)
    assert message in [each.message for each in check_bundle(tmp_path)]
