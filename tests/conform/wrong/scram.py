"""Wrong answers to the checks of SCRAM credentials."""

from __future__ import annotations

from typing import Final

from tests.conform.recordings import Wrong, with_fields

ALTER: Final = "AlterUserScramCredentials"
DESCRIBE: Final = "DescribeUserScramCredentials"
ACCEPTED: Final = {"results[0].error_code": "NONE"}

WRONG: Final[dict[str, Wrong]] = {
    "scram/replace": with_fields(DESCRIBE, -1, {"results[0].credential_infos[0].iterations": 4096}),
    "scram/two-mechanisms": with_fields(DESCRIBE, -1, {"results[0].credential_infos": []}),
    "scram/delete": with_fields(ALTER, -1, ACCEPTED),
    "scram/several-users": with_fields(ALTER, 0, {"results[0].error_code": "UNKNOWN_SERVER_ERROR"}),
    "scram/describe-all": with_fields(DESCRIBE, -1, {"results": []}),
    "scram/describe-twice": with_fields(DESCRIBE, 0, ACCEPTED),
    "scram/alter-twice": with_fields(ALTER, 0, ACCEPTED),
    "scram/mechanism-unknown": with_fields(ALTER, 0, ACCEPTED),
    "scram/many-iterations": with_fields(ALTER, 0, ACCEPTED),
    "scram/user-empty": with_fields(ALTER, 0, ACCEPTED),
}
