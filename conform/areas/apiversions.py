"""ApiVersions: the offered versions, clients that are too new, features."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.areas.frame import framed, header
from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, SHOULD, Check, check
from barnabas.conform.expectations import AtLeast
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Failed, Skipped
from barnabas.specs.keys import API_VERSIONS
from barnabas.specs.registry import NAMES, api

SOFTWARE: Final = {"client_software_name": "barnabas", "client_software_version": "1.0"}


def _ranges(response: Response) -> dict[int, tuple[int, int]]:
    """Return the offered versions by API key."""
    return {
        row["api_key"]: (row["min_version"], row["max_version"]) for row in response["api_keys"]
    }


@check("apiversions/before-all", "KIP-35")
async def before_all(broker: Broker) -> None:
    """The broker answers ApiVersions as the first request of a connection."""
    (await broker.send("ApiVersions", 0)).expect(error_code="NONE")


@check("apiversions/too-new", "KIP-511")
async def too_new(broker: Broker) -> None:
    """A version that the broker does not support gets UNSUPPORTED_VERSION in v0, with the supported range."""
    await broker.main.write_body("ApiVersions", 99, b"\0", answered_in=0)
    response = await broker.main.read()
    response.expect(error_code="UNSUPPORTED_VERSION")
    if API_VERSIONS not in _ranges(response):
        raise response.failed("api_keys", "the versions of ApiVersions", f"{_ranges(response)}")


@check("apiversions/ranges", "KIP-35")
async def ranges(broker: Broker) -> None:
    """Each API is listed once, with a minimum that does not exceed the maximum; ApiVersions is listed."""
    response = await broker.send("ApiVersions", broker.version("ApiVersions"), **SOFTWARE)
    keys = [row["api_key"] for row in response["api_keys"]]
    if len(set(keys)) != len(keys) or API_VERSIONS not in keys:
        raise response.failed("api_keys", "each API once, and ApiVersions", f"keys {sorted(keys)}")
    for index, row in enumerate(response["api_keys"]):
        response.at(f"api_keys[{index}]").expect(
            min_version=AtLeast(0), max_version=AtLeast(row["min_version"])
        )


@check("apiversions/same-in-all-versions", "KIP-35", needs={"ApiVersions": 0})
async def same_in_all_versions(broker: Broker) -> None:
    """All versions of ApiVersions list the same versions of the same APIs."""
    oldest, newest = broker.versions["ApiVersions"]
    first = _ranges(await broker.send("ApiVersions", oldest))
    for version in range(oldest + 1, newest + 1):
        response = await broker.send("ApiVersions", version, **SOFTWARE)
        if _ranges(response) != first:
            raise response.failed("api_keys", f"as in v{oldest}: {first}", f"{_ranges(response)}")


@check(
    "apiversions/software-name-empty",
    "KIP-511, ApiVersionsRequest.isValid",
    level=SHOULD,
    needs={"ApiVersions": 3},
)
async def software_name_empty(broker: Broker) -> None:
    """An empty client software name gets INVALID_REQUEST."""
    fields = {**SOFTWARE, "client_software_name": ""}
    response = await broker.send("ApiVersions", broker.version("ApiVersions", 3), **fields)
    response.expect(error_code="INVALID_REQUEST")


@check(
    "apiversions/software-name-pattern",
    "KIP-511, ApiVersionsRequest.isValid",
    level=SHOULD,
    needs={"ApiVersions": 3},
)
async def software_name_pattern(broker: Broker) -> None:
    """A client software name with spaces and punctuation gets INVALID_REQUEST."""
    fields = {**SOFTWARE, "client_software_name": "a b!"}
    response = await broker.send("ApiVersions", broker.version("ApiVersions", 3), **fields)
    response.expect(error_code="INVALID_REQUEST")


@check("apiversions/features-min-zero", "KAFKA-17011, KIP-1022", needs={"ApiVersions": 3})
async def features_min_zero(broker: Broker) -> None:
    """ApiVersions v3 lists no feature with a minimum of 0, which older clients can't read."""
    response = await broker.send("ApiVersions", 3, **SOFTWARE)
    zero = [row["name"] for row in response["supported_features"] if row["min_version"] == 0]
    if zero:
        raise response.failed(
            "supported_features", "minimums of at least 1", f"0 for {', '.join(zero)}"
        )


@check("apiversions/finalized-features", "KIP-584", needs={"ApiVersions": 3})
async def finalized_features(broker: Broker) -> None:
    """Finalized features are within the supported range, or the epoch of finalized features is -1."""
    response = await broker.send("ApiVersions", broker.version("ApiVersions", 3), **SOFTWARE)
    if response["finalized_features_epoch"] == -1:
        return
    supported: dict[str, Any] = {row["name"]: row for row in response["supported_features"]}
    for index, row in enumerate(response["finalized_features"]):
        feature = supported.get(row["name"])
        if feature is None:
            raise response.failed(
                f"finalized_features[{index}].name", "a supported feature", row["name"]
            )
        part = response.at(f"finalized_features[{index}]")
        if not feature["min_version"] <= row["max_version_level"] <= feature["max_version"]:
            expected = f"{feature['min_version']} to {feature['max_version']}"
            raise part.failed("max_version_level", expected, f"{row['max_version_level']}")


@check("apiversions/produce-floor", "KAFKA-18659", level=INFO)
async def produce_floor(broker: Broker) -> None:
    """The broker offers Produce from v0, because librdkafka checks for it."""
    response = await broker.send("ApiVersions", 0)
    row = next((row for row in response["api_keys"] if row["api_key"] == 0), None)
    if row is None:
        raise Skipped("the broker does not offer Produce")
    if row["min_version"] != 0:
        raise response.failed("api_keys", "Produce from v0", f"Produce from v{row['min_version']}")


@check("apiversions/zk-migration-ready", "KIP-866", level=INFO, needs={"ApiVersions": 3})
async def zk_migration_ready(broker: Broker) -> None:
    """A broker without ZooKeeper does not report that it is ready for the migration."""
    response = await broker.send("ApiVersions", broker.version("ApiVersions", 3), **SOFTWARE)
    response.expect(zk_migration_ready=False)


@check("apiversions/not-offered", "KIP-35, SocketServer", level=SHOULD)
async def not_offered(broker: Broker) -> None:
    """The broker closes a connection that sends a request of an API that it does not offer."""
    offered = _ranges(await broker.send("ApiVersions", 0))
    for key in sorted(NAMES.keys() - offered.keys()):
        version = api(key).versions[0]
        connection = await broker.connect()
        await connection.raw(framed(header(key, version, 0)))
        try:
            await connection.expect_closed()
        except Failed as failure:
            raise Failed(f"{NAMES[key]} v{version}", failure.expected, failure.received) from None


CHECKS: Final[tuple[Check, ...]] = (
    before_all,
    too_new,
    ranges,
    same_in_all_versions,
    software_name_empty,
    software_name_pattern,
    features_min_zero,
    finalized_features,
    produce_floor,
    zk_migration_ready,
    not_offered,
)
