"""UpdateFeatures (KIP-584, 2.7): brokers of the ZooKeeper era have no feature that could be changed."""

from typing import Any

from emulator.protocol.describe_cluster import DescribeClusterRequest
from emulator.protocol.errors import Errors
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import coded

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
"""Kafka's numbers of the types (FeatureUpdate.UpgradeType, 3.3)."""


@wire_api
class UpdateFeatures(WireApi):
    """The controller alone answers (KafkaController.validateFeatureUpdate, 2.7 and 3.3). Versions: 0 has whether a
    downgrade is allowed, 1 the type of the change."""

    key = 57

    def to_request(self, body: Body, connection: Connection) -> DescribeClusterRequest:
        return DescribeClusterRequest()

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        if response.controller != connection.broker:
            return {**coded(Errors.NOT_CONTROLLER), "results": []}
        words = {each["feature"]: _why_not(each, connection.version) for each in body["feature_updates"]}
        results = [{"feature": name, **coded(Errors.INVALID_REQUEST, why)} for name, why in words.items()]
        return {**coded(Errors.NONE), "results": results}


def _why_not(update: Body, version: int) -> str:
    """Why a change cannot be made, in Kafka's words."""
    level, type = update["max_version_level"], update["upgrade_type"]
    if not update["feature"]:
        return "Feature name can not be empty."
    if version > 0 and type not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        return "Received unknown upgrade type."
    if level < 1 and (type != UPGRADE if version > 0 else update["allow_downgrade"]):
        return "Can not delete non-existing finalized feature."
    if level < 1:
        name = "versionLevel" if version > 0 else "maxVersionLevel"
        flag = "SAFE downgradeType" if version > 0 else "allowDowngrade flag to true"
        return f"Can not provide {name}: {level} less than 1 without setting the {flag} in the request."
    return "Could not apply finalized feature update because the provided feature is not supported."
