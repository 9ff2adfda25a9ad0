"""Rates as CSV as spreadsheets, monitoring and people write them: other names and units, semicolons, decimal commas."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.errors import BadInput
from tests.scenarios.importing.texts import TWO, scenario_of

MESSAGES = "topic,partition,messages_per_s\norders,0,500\norders,1,0\n"


@pytest.mark.parametrize(
    "text",
    [
        "topic,bytes_per_s,messages_per_s\norders,2000000,1000\n",
        "Topic,Bytes/s,Messages/s\norders,2e6,1000\n",
        "topic,BytesInPerSec,MessagesInPerSec\norders,2000000,1000.0\n",
        "Topic Name,MB/s,msgs/sec\norders,2,1000\n",
        "topic,kB/s,records_per_second\norders,2000,1000\n",
        "topic_name,mb_per_sec,messages_in_per_s\norders,2.0,1000\n",
        "topic;MB/s;messages_per_s\norders;2,0;1000\n",
        "topic\tpartition_id\tbytes_per_s\tmsg/s\norders\t\t2000000\t1000\n",
        '\ufefftopic,"bytes per s",messages_per_s\r\n"orders","2000000","1000"\r\n',
        "topic,bytes_per_s,messages_per_s\norders,2MB/s,1000\n",
    ],
)
def test_each_way_to_write_a_rate_is_the_same(text: str, tmp_path: Path) -> None:
    (load,) = scenario_of(tmp_path, topics=TWO, rates=text)[0].workloads
    assert load.producer_rate * load.message_size == pytest.approx(2_000_000, rel=0.001)
    assert load.message_size == 2000


def test_messages_alone_are_a_rate_of_a_guessed_size(tmp_path: Path) -> None:
    scenario, text = scenario_of(
        tmp_path, topics=TWO, rates="topic,partition,messages_per_s\norders,0,500\norders,1,0\n"
    )
    (load,) = scenario.workloads
    assert (load.producer_rate, load.message_size, load.shares) == (500, 1024, (512_000, 0))
    assert "the size of a message is a guess" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("topic,Mb/s\norders,2\n", "rates:1: column 'Mb/s' may be of bits; write bytes_per_s"),
        ("topic,Mbit/s\norders,2\n", "rates:1: column 'Mbit/s' may be of bits"),
        (
            "topic,bytes_per_s,BytesInPerSec\norders,2,2\n",
            "rates:1: the first line names no columns",
        ),
        ("Time,orders\n1,2\n", "rates:1: unknown column 'Time'"),
        ("topic;bytes_per_s\norders;1.234,5\n", "rates:2: '1.234,5' is no rate; write a number from 0"),
        ("topic,bytes_per_s,messages_per_s\norders,,\n", "rates:2: a line without a rate"),
        ("topic,bytes_per_s\norders,-1\n", "rates:2: '-1' is no rate"),
        ("topic,bytes_per_s\norders,2 bananas/s\n", "rates:2: "),
    ],
)
def test_what_may_be_read_wrongly_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as raised:
        scenario_of(tmp_path, topics=TWO, rates=text)
    assert words in str(raised.value)
