"""DescribeUserScramCredentials and AlterUserScramCredentials (KIP-554, 2.7): the users who log in by SCRAM."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from emulator.protocol.describe_cluster import DescribeClusterRequest
from emulator.protocol.errors import Errors
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import coded
from scenarios.wire.security.accounts import HASHES, ITERATIONS, Credentials, ScramCredential

MECHANISMS = dict(enumerate(HASHES, start=1))
"""Kafka's numbers of the mechanisms (org.apache.kafka.clients.admin.ScramMechanism)."""
NUMBERS = {name: number for number, name in MECHANISMS.items()}
MOST_ITERATIONS = 16_384
_NO_NAME = "Username must not be empty"


@wire_api
class DescribeUserScramCredentials(WireApi):
    """Any broker answers (AdminManager.describeUserScramCredentials, 2.7)."""

    key = 50

    def to_request(self, body: Body, connection: Connection) -> DescribeClusterRequest:
        return DescribeClusterRequest()

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        known, asked = connection.served.scram, Counter(each["name"] for each in body["users"] or ())
        users = dict.fromkeys(asked) if asked else sorted(known)
        return {**coded(Errors.NONE), "results": [_described(user, known, asked[user]) for user in users]}


def _described(user: str, known: Credentials, times: int) -> Body:
    """A result. ``times``: how often the request names the user."""
    if not user:
        return {"user": user, **coded(Errors.RESOURCE_NOT_FOUND, _NO_NAME), "credential_infos": []}
    if times > 1:
        words = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
        return {"user": user, **coded(Errors.DUPLICATE_RESOURCE, words), "credential_infos": []}
    if user not in known:
        words = f"Attempt to describe a user credential that does not exist: {user}"
        return {"user": user, **coded(Errors.RESOURCE_NOT_FOUND, words), "credential_infos": []}
    infos = [{"mechanism": NUMBERS[name], "iterations": found.iterations} for name, found in known[user].items()]
    return {"user": user, **coded(Errors.NONE), "credential_infos": infos}


@wire_api
class AlterUserScramCredentials(WireApi):
    """The controller alone answers (AdminManager.alterUserScramCredentials, 2.7). What it changes holds at every broker
    from then on, for all that logs in by SCRAM."""

    key = 51

    def to_request(self, body: Body, connection: Connection) -> DescribeClusterRequest:
        return DescribeClusterRequest()

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        changes = [*body["deletions"], *body["upsertions"]]
        users = dict.fromkeys(each["name"] for each in changes)
        if response.controller != connection.broker:
            return {"results": [{"user": user, **coded(Errors.NOT_CONTROLLER)} for user in users]}
        wrong = dict(_wrong(body, connection.served.scram))
        for user in users:
            if user not in wrong:
                _change(connection.served.scram, user, body)
        return {"results": [{"user": user, **wrong.get(user, coded(Errors.NONE))} for user in users]}


def _wrong(body: Body, known: Credentials) -> Iterator[tuple[str, Body]]:
    """The users whose changes are refused, with the error; of several the last counts."""
    deletions, upsertions = body["deletions"], body["upsertions"]
    for each in deletions:
        if each["mechanism"] not in MECHANISMS or MECHANISMS[each["mechanism"]] not in known.get(each["name"], {}):
            words = "Attempt to delete a user credential that does not exist"
            yield each["name"], coded(Errors.RESOURCE_NOT_FOUND, words)
    pairs = Counter((each["name"], each["mechanism"]) for each in (*deletions, *upsertions))
    for (user, _), times in pairs.items():
        if times > 1:
            words = "A user credential cannot be altered twice in the same request"
            yield user, coded(Errors.DUPLICATE_RESOURCE, words)
    for each in (*deletions, *upsertions):
        iterations = each.get("iterations", ITERATIONS)
        if not each["name"]:
            yield each["name"], coded(Errors.UNACCEPTABLE_CREDENTIAL, _NO_NAME)
        elif each["mechanism"] not in MECHANISMS:
            yield each["name"], coded(Errors.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
        elif not ITERATIONS <= iterations <= MOST_ITERATIONS:
            words = "Too few iterations" if iterations < ITERATIONS else "Too many iterations"
            yield each["name"], coded(Errors.UNACCEPTABLE_CREDENTIAL, words)


def _change(known: Credentials, user: str, body: Body) -> None:
    """Make the changes of one user, none of which is wrong."""
    its = known.setdefault(user, {})
    for each in body["deletions"]:
        if each["name"] == user:
            del its[MECHANISMS[each["mechanism"]]]
    for each in body["upsertions"]:
        if each["name"] == user:
            name = MECHANISMS[each["mechanism"]]
            its[name] = ScramCredential.of_salted(
                bytes(each["salted_password"]), bytes(each["salt"]), HASHES[name], each["iterations"]
            )
    if not its:
        del known[user]
