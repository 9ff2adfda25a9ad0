"""A hook of the server sees each request that was done, before its answer is on the way."""

from emulator.zookeeper import SetData, ZkCode
from emulator.zookeeper.messages import Create, GetData, Multi, Request, ZkResponse
from tests.emulator.zookeeper.stage import Answers, Stage, play


def test_a_hook_gets_every_request_with_its_answer_before_that_is_sent() -> None:
    seen: list[tuple[Request, ZkResponse, int]] = []

    async def script(stage: Stage) -> None:
        client, answers = await stage.connected(1), Answers()

        def hook(client: int, request: Request, response: ZkResponse) -> None:
            assert client == 1
            seen.append((request, response, len(answers.got)))

        stage.zookeeper.server.hooks.append(hook)
        requests: list[Request] = [Create("/a"), SetData("/a", "2", 7), GetData("/a"), Multi((SetData("/a", "3", 0),))]
        answers.ask(client, *requests)
        await stage.world.settled()
        assert [request for request, _, _ in seen] == requests
        assert [response for _, response, _ in seen] == answers.got, "the very answers that the client gets"
        assert [told for _, _, told in seen] == [0] * 4
        assert [response.error for response in answers.got] == [ZkCode.OK, ZkCode.BAD_VERSION, ZkCode.OK, ZkCode.OK]

    play(script)
