import pytest

from auditor import canonical


@pytest.mark.parametrize(
    "text", ["b8:3f:d2:5c:12:0a", "B8-3F-D2-5C-12-0A", "b83f.d25c.120a", "b83fd25c120a", " b8:3f:d2:5c:12:0a\n"]
)
def test_every_spelling_of_a_mac_is_one(text):
    assert canonical.mac(text) == "b8:3f:d2:5c:12:0a"


@pytest.mark.parametrize("text", ["", "b8:3f:d2:5c:12", "b8:3f:d2:5c:12:0a:ff", "Ethernet0", "zz:3f:d2:5c:12:0a"])
def test_what_is_no_mac_is_refused(text):
    with pytest.raises(ValueError, match="no MAC address"):
        canonical.mac(text)


@pytest.mark.parametrize(
    ("text", "guid"),
    [
        ("b83f:d203:005c:120a", "b83fd203005c120a"),
        ("0xB83FD203005C120A", "b83fd203005c120a"),
        ("0x2", "0000000000000002"),
    ],
)
def test_guids_are_sixteen_digits(text, guid):
    assert canonical.guid(text) == guid


@pytest.mark.parametrize("text", ["", "0x", "b83fd203005c120a0", "nothing"])
def test_what_is_no_guid_is_refused(text):
    with pytest.raises(ValueError, match="no GUID"):
        canonical.guid(text)


@pytest.mark.parametrize(
    ("text", "pci"), [("E6:00.0", "0000:e6:00.0"), ("0000:e6:00.1", "0000:e6:00.1"), ("00000000:3B:00.0", "0000:3b:00.0")]
)
def test_pci_addresses_have_a_domain_of_four_digits(text, pci):
    assert canonical.pci(text) == pci


@pytest.mark.parametrize("text", ["e6:00", "e6:00.8", "eth0", ""])
def test_what_is_no_pci_address_is_refused(text):
    with pytest.raises(ValueError, match="no PCI address"):
        canonical.pci(text)


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        ("400G", 400_000_000_000),
        ("1000M", 1_000_000_000),
        ("10000Mb/s", 10_000_000_000),
        ("100 Gbps", 100_000_000_000),
        ("2.5G", 2_500_000_000),
        ("1.6T", 1_600_000_000_000),
    ],
)
def test_speeds_are_bits_per_second(text, speed):
    assert canonical.speed(text) == speed


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("4xNDR", 400_000_000_000),
        ("2xHDR", 100_000_000_000),
        ("NDR", 400_000_000_000),
        ("1X EDR", 25_000_000_000),
        ("4x FDR", 56_000_000_000),
        ("fdr10", 40_000_000_000),
    ],
)
def test_an_infiniband_rate_is_width_times_generation(text, rate):
    assert canonical.infiniband_rate(text) == rate


@pytest.mark.parametrize("text", ["", "4x", "3xNDR", "400G", "ZDR", "4xNDR2", "x NDR"])
def test_what_is_no_infiniband_rate_is_refused(text):
    with pytest.raises(ValueError, match="InfiniBand"):
        canonical.infiniband_rate(text)


@pytest.mark.parametrize("text", ["400", "G", "N/A", "-1G", "400GX", "4OOG"])
def test_what_is_no_speed_is_refused(text):
    with pytest.raises(ValueError, match="no speed"):
        canonical.speed(text)


@pytest.mark.parametrize(("text", "fec"), [("rs", "rs"), ("RS-FEC", "rs"), ("BaseR", "fc"), ("Off", "none"), ("auto", "auto")])
def test_fec_words(text, fec):
    assert canonical.fec(text) == fec


def test_an_unknown_fec_word_is_refused_and_not_called_none():
    with pytest.raises(ValueError, match="no FEC mode"):
        canonical.fec("N/A")


@pytest.mark.parametrize(("text", "metres"), [("5m", 5.0), ("0.5 m", 0.5), ("300m", 300.0)])
def test_metres(text, metres):
    assert canonical.metres(text) == metres


@pytest.mark.parametrize("text", ["None", "5", "5km", "-5m"])
def test_what_is_no_length_is_refused(text):
    with pytest.raises(ValueError, match="no length"):
        canonical.metres(text)


@pytest.mark.parametrize(
    ("text", "numbers"), [("3,4", (3, 4)), ("3-4,6", (3, 4, 6)), ("", ()), (" 4 , 3 ", (3, 4)), ("3,3", (3,))]
)
def test_lists_of_numbers_are_sorted_sets(text, numbers):
    assert canonical.number_list(text) == numbers


@pytest.mark.parametrize("text", ["4-3", "a", "3-", "0-999999", "1-2-3", "-"])
def test_what_is_no_list_of_numbers_is_refused(text):
    with pytest.raises(ValueError, match="no list of numbers"):
        canonical.number_list(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("0 day, 05:09:02", 18542.0), ("6 days, 03:22:10", 530530.0), ("1 day, 00:00:00", 86400.0)]
)
def test_ages(text, seconds):
    assert canonical.age(text) == seconds


def test_what_is_no_age_is_refused():
    with pytest.raises(ValueError, match="no age"):
        canonical.age("yesterday")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("gpu-01", "GPU-01", True),
        ("gpu-01", "gpu-01.pod3.example.net", True),
        ("gpu-01.pod3.example.net.", "gpu-01", True),
        ("gpu-01.pod3.example.net", "gpu-01.pod4.example.net", False),
        ("gpu-01", "gpu-011", False),
        ("", "", False),
        ("", "gpu-01", False),
    ],
)
def test_two_names_of_one_device(one, other, same):
    assert canonical.same_host(one, other) is same
    assert canonical.same_host(other, one) is same


@pytest.mark.parametrize("text", ["N/A", " - ", "", "None", "[Not Supported]", "unknown!", "[N/A]"])
def test_words_that_say_nothing(text):
    assert canonical.nothing(text)


@pytest.mark.parametrize("text", ["0", "off", "-1", "no"])
def test_words_that_say_something(text):
    assert not canonical.nothing(text)


def test_device_text_is_made_safe_for_a_screen():
    assert canonical.printable("a\x1b[31mb\n\x00\u202e") == "a\\x1b[31mb\\n\\x00\\u202e"
    assert canonical.printable("ü\t文") == "ü\t文"
    assert canonical.printable("x" * 1000, 10) == "x" * 9 + "…"
