import pytest

from auditor.dialects import nccl_graph


def test_channels_keep_the_order_of_their_gpus_and_ports():
    (graph,) = nccl_graph.read(
        '<graphs version="1"><graph id="0" pattern="4" crossnic="1" nchannels="1" speedintra="0.24" speedinter="12" '
        'typeintra="LOC" typeinter="P2C"><channel><net dev="3"/><gpu dev="1"/><gpu dev="0"/><net dev="2"/></channel></graph>'
        "</graphs>"
    )
    assert (graph.id, graph.pattern, graph.cross_nic) == (0, 4, True)
    assert (graph.speed_intra, graph.speed_inter) == (1_920_000_000, 96_000_000_000)
    assert (graph.type_intra, graph.type_inter) == ("LOC", "P2C")
    (channel,) = graph.channels
    assert (channel.gpus, channel.nets, channel.turns) == ((1, 0), (3, 2), True)


def test_a_channel_inside_one_host_turns_nowhere():
    (graph,) = nccl_graph.read('<graphs><graph id="1"><channel><gpu dev="0"/></channel></graph></graphs>')
    assert not graph.channels[0].turns
    assert (graph.pattern, graph.cross_nic, graph.speed_inter, graph.type_inter) == (None, None, None, None)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("<system/>", "not 'graphs'"),
        ("<graphs><graph/></graphs>", "without an id"),
        ('<graphs><graph id="x"/></graphs>', "id is no number"),
        ('<graphs><graph id="0" speedintra="fast"/></graphs>', "no speed"),
        ('<graphs><graph id="0" nchannels="4"/></graphs>', "4 channels and shows 0"),
        ("<graphs>" + '<graph id="0"/>' * 65 + "</graphs>", "65 graphs"),
    ],
)
def test_what_cannot_be_read_says_why(text, match):
    with pytest.raises(ValueError, match=match):
        nccl_graph.read(text)
