"""ACLs: created, described by filters, deleted, and refused if they are invalid."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.acls import (
    ACLS,
    ANY,
    CLUSTER,
    DENY,
    DESCRIBE,
    DISABLED,
    GROUP,
    LITERAL,
    MATCH,
    PREFIXED,
    TOPIC,
    UNKNOWN,
    WRITE,
    acl,
    acl_filter,
    add,
    becomes,
    create,
    described,
    principal,
)
from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, SHOULD, Check, check
from barnabas.conform.expectations import Not
from barnabas.conform.response import Response

KIP: Final = "KIP-140"


async def _invalid(broker: Broker, **fields: Any) -> None:
    """Expect that an ACL with some other fields is refused."""
    response = await create(broker, {**acl(await principal(broker)), **fields})
    response.at("results[0]").expect(error_code="INVALID_REQUEST")


def _disabled(response: Response) -> None:
    response.expect(error_code=DISABLED)


@check("acl/create-describe", KIP, needs=ACLS)
async def create_describe(broker: Broker) -> None:
    """A new ACL is described with resource, principal, host, operation and permission as created."""
    user = await principal(broker)
    entry = acl(
        user, resource_type=GROUP, host="192.0.2.1", operation=DESCRIBE, permission_type=DENY
    )
    await add(broker, entry)
    await becomes(broker, acl_filter(user), entry)


@check("acl/create-twice", KIP, needs=ACLS)
async def create_twice(broker: Broker) -> None:
    """An ACL that exists is created again without error, and described once."""
    user = await principal(broker)
    for _ in range(2):
        await add(broker, acl(user))
    await becomes(broker, acl_filter(user), acl(user))


@check("acl/results-in-order", KIP, needs=ACLS)
async def results_in_order(broker: Broker) -> None:
    """Results are in the order of the request, and an invalid ACL does not affect valid ones."""
    user = await principal(broker)
    invalid = acl(user, resource_name="")
    response = await create(broker, acl(user), invalid, acl(user, operation=WRITE))
    for index, error in enumerate(("NONE", "INVALID_REQUEST", "NONE")):
        response.at(f"results[{index}]").expect(error_code=error)
    await becomes(broker, acl_filter(user), acl(user), acl(user, operation=WRITE))


@check("acl/delete", KIP, needs=ACLS)
async def delete(broker: Broker) -> None:
    """A deletion returns the ACLs that match its filter; they are no longer described, others are."""
    user = await principal(broker)
    await add(broker, acl(user), acl(user, operation=WRITE))
    await becomes(broker, acl_filter(user), acl(user), acl(user, operation=WRITE))
    response = await broker.send("DeleteAcls", filters=[acl_filter(user, operation=WRITE)])
    result = response.at("filter_results[0]").expect(error_code="NONE")
    result.at("matching_acls[0]").expect(error_code="NONE", principal=user, operation=WRITE)
    await becomes(broker, acl_filter(user), acl(user))


@check("acl/delete-nothing", KIP, needs=ACLS)
async def delete_nothing(broker: Broker) -> None:
    """A deletion whose filter matches no ACL gets NONE and an empty list."""
    response = await broker.send("DeleteAcls", filters=[acl_filter(await principal(broker))])
    response.at("filter_results[0]").expect(error_code="NONE", matching_acls=[])


@check("acl/filters", KIP, needs=ACLS)
async def filters(broker: Broker) -> None:
    """A filter by resource type, name, host, operation or permission returns the ACLs that match it."""
    user = await principal(broker)
    plain = acl(user)
    others: dict[str, dict[str, Any]] = {
        "resource_type_filter": {"resource_type": GROUP},
        "resource_name_filter": {"resource_name": f"{broker.prefix}-other"},
        "host_filter": {"host": "192.0.2.1"},
        "operation": {"operation": WRITE},
        "permission_type": {"permission_type": DENY},
    }
    entries = [plain, *({**plain, **changes} for changes in others.values())]
    await add(broker, *entries)
    await becomes(broker, acl_filter(user), *entries)
    for (name, changes), entry in zip(others.items(), entries[1:], strict=True):
        (value,) = changes.values()
        await becomes(broker, acl_filter(user, **{name: value}), entry)


async def _patterns(broker: Broker) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Create a literal ACL of a topic, and one of the prefix of its name; return user and ACLs."""
    user = await principal(broker)
    literal = acl(user, resource_name=f"{broker.prefix}-topic")
    prefixed = acl(user, resource_name=broker.prefix, resource_pattern_type=PREFIXED)
    await add(broker, literal, prefixed)
    await becomes(broker, acl_filter(user), literal, prefixed)
    return user, literal, prefixed


PATTERNS: Final = {**ACLS, "CreateAcls": 1, "DescribeAcls": 1}


@check("acl/pattern-literal", "KIP-290", needs=PATTERNS)
async def pattern_literal(broker: Broker) -> None:
    """A filter for literal names does not return an ACL of a prefix."""
    user, literal, _ = await _patterns(broker)
    await becomes(broker, acl_filter(user, pattern_type_filter=LITERAL), literal)


@check("acl/pattern-prefixed", "KIP-290", needs=PATTERNS)
async def pattern_prefixed(broker: Broker) -> None:
    """A filter for prefixes returns the ACL of exactly this prefix."""
    user, _, prefixed = await _patterns(broker)
    condition = {"pattern_type_filter": PREFIXED, "resource_type_filter": TOPIC}
    name = broker.prefix
    await becomes(broker, acl_filter(user, resource_name_filter=name, **condition), prefixed)
    await becomes(broker, acl_filter(user, resource_name_filter=f"{name}-topic", **condition))


@check("acl/pattern-match", "KIP-290", needs=PATTERNS)
async def pattern_match(broker: Broker) -> None:
    """A filter for matching patterns returns the ACLs that apply to a name: literal ones and prefixes."""
    user, literal, prefixed = await _patterns(broker)
    condition = {"pattern_type_filter": MATCH, "resource_type_filter": TOPIC}
    name = f"{broker.prefix}-topic"
    await becomes(
        broker, acl_filter(user, resource_name_filter=name, **condition), literal, prefixed
    )
    other = acl_filter(user, resource_name_filter=f"{name}-2", **condition)
    await becomes(broker, other, prefixed)


@check("acl/delete-match", "KIP-290", needs={**PATTERNS, "DeleteAcls": 1})
async def delete_match(broker: Broker) -> None:
    """A deletion by matching patterns deletes the ACLs of prefixes, too."""
    user, literal, _ = await _patterns(broker)
    name = f"{broker.prefix}-topic-2"
    condition = acl_filter(
        user, pattern_type_filter=MATCH, resource_type_filter=TOPIC, resource_name_filter=name
    )
    response = await broker.send("DeleteAcls", filters=[condition])
    response.at("filter_results[0].matching_acls[0]").expect(pattern_type=PREFIXED)
    await becomes(broker, acl_filter(user), literal)


@check("acl/create-any", KIP, level=SHOULD, needs=PATTERNS)
async def create_any(broker: Broker) -> None:
    """An ACL with a value that is only for filters (ANY, MATCH) is refused."""
    user = await principal(broker)
    values = {
        "resource_type": ANY,
        "resource_pattern_type": MATCH,
        "operation": ANY,
        "permission_type": ANY,
    }
    for name, value in values.items():
        response = await create(broker, acl(user, **{name: value}))
        response.at("results[0]").expect(error_code=Not("NONE"))
    await becomes(broker, acl_filter(user))


@check("acl/create-principal-invalid", KIP, level=SHOULD, needs=ACLS)
async def create_principal_invalid(broker: Broker) -> None:
    """An ACL of a principal without type gets INVALID_REQUEST."""
    await _invalid(broker, principal=f"{broker.prefix}-user")


@check("acl/create-name-empty", KIP, level=SHOULD, needs=ACLS)
async def create_name_empty(broker: Broker) -> None:
    """An ACL of a resource without name gets INVALID_REQUEST."""
    await _invalid(broker, resource_name="")


@check("acl/create-cluster-name", KIP, level=SHOULD, needs=ACLS)
async def create_cluster_name(broker: Broker) -> None:
    """An ACL of a cluster that is not named kafka-cluster gets INVALID_REQUEST."""
    await _invalid(broker, resource_type=CLUSTER, resource_name="another")


@check("acl/create-unknown", "CreateAclsRequest", level=INFO, needs=ACLS)
async def create_unknown(broker: Broker) -> None:
    """An ACL of an unknown type of resource is not answered: the broker closes the connection."""
    entry = acl(await principal(broker), resource_type=UNKNOWN)
    connection = await broker.connect()
    await connection.write("CreateAcls", creations=[entry])
    await connection.expect_closed()


@check("acl/describe-unknown", "DescribeAclsRequest", level=INFO, needs=ACLS)
async def describe_unknown(broker: Broker) -> None:
    """A filter by an unknown operation is not answered: the broker closes the connection."""
    condition = acl_filter(await principal(broker), operation=UNKNOWN)
    connection = await broker.connect()
    await connection.write("DescribeAcls", **condition)
    await connection.expect_closed()


@check("acl/disabled-describe", "KafkaApis", level=SHOULD, needs={"DescribeAcls": 0})
async def disabled_describe(broker: Broker) -> None:
    """Without an authorizer DescribeAcls gets SECURITY_DISABLED."""
    user = await principal(broker, authorizer=False)
    _disabled(await described(broker, acl_filter(user)))


@check("acl/disabled-create", "KafkaApis", level=SHOULD, needs=ACLS)
async def disabled_create(broker: Broker) -> None:
    """Without an authorizer CreateAcls gets SECURITY_DISABLED."""
    user = await principal(broker, authorizer=False)
    _disabled((await create(broker, acl(user))).at("results[0]"))


@check("acl/disabled-delete", "KafkaApis", level=SHOULD, needs=ACLS)
async def disabled_delete(broker: Broker) -> None:
    """Without an authorizer DeleteAcls gets SECURITY_DISABLED."""
    user = await principal(broker, authorizer=False)
    response = await broker.send("DeleteAcls", filters=[acl_filter(user)])
    _disabled(response.at("filter_results[0]"))


CHECKS: Final[tuple[Check, ...]] = (
    create_describe,
    create_twice,
    results_in_order,
    delete,
    delete_nothing,
    filters,
    pattern_literal,
    pattern_prefixed,
    pattern_match,
    delete_match,
    create_any,
    create_principal_invalid,
    create_name_empty,
    create_cluster_name,
    create_unknown,
    describe_unknown,
    disabled_describe,
    disabled_create,
    disabled_delete,
)
