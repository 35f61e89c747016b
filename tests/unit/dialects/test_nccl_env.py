"""Two kinds of files, two grammars: what each makes of the same line."""

import pytest

from auditor.dialects import nccl_env


def conf(text):
    return {item.name: item.value for item in nccl_env.nccl_conf(text)}


def env(text):
    return {item.name: item.value for item in nccl_env.environment(text)[0]}


def test_the_first_line_counts_for_the_library_and_the_last_one_for_a_shell():
    text = "NCCL_IB_TC=96\nNCCL_IB_TC=98\n"
    assert conf(text) == {"NCCL_IB_TC": "96"}
    assert env(text) == {"NCCL_IB_TC": "98"}


def test_quotes_are_a_shells_and_part_of_the_value_for_the_library():
    assert conf('NCCL_NET="IB"\n') == {"NCCL_NET": '"IB"'}
    assert env('NCCL_NET="IB"\n') == {"NCCL_NET": "IB"}


@pytest.mark.parametrize("line", ["export NCCL_IB_TC=98", "NCCL_IB_TC =98", " NCCL_IB_TC=98"])
def test_what_the_library_takes_for_another_name_is_not_known(line):
    (item,) = nccl_env.nccl_conf(line)
    assert (item.name, item.value) == ("NCCL_IB_TC", None)
    assert "sets nothing" in item.why
    assert conf(f"{line}\nNCCL_IB_TC=96\n") == {"NCCL_IB_TC": "96"}


def test_comments_and_lines_without_an_assignment_set_nothing_in_the_librarys_file():
    assert conf("#NCCL_IB_TC=1\n# NCCL_IB_TC=1\nNCCL_IB_TC\n\n=98\n") == {}


def test_only_variables_that_steer_the_libraries_are_given():
    text = "HF_TOKEN=x\nPATH=/usr/bin\nNCCL_IB_TC=98\nUCX_TLS=rc\nNVSHMEM_IB_TRAFFIC_CLASS=98\n"
    assert set(conf(text)) == set(env(text)) == {"NCCL_IB_TC", "UCX_TLS", "NVSHMEM_IB_TRAFFIC_CLASS"}


def test_several_assignments_of_one_line_and_comments_behind_them():
    assert env("export NCCL_A=1 NCCL_B='x y' # NCCL_C=3\nset -a\nexport NCCL_A\n") == {"NCCL_A": "1", "NCCL_B": "x y"}


def test_unset_takes_a_variable_back():
    assert env("NCCL_A=1\nNCCL_B=2\nunset NCCL_A NCCL_C\n") == {"NCCL_B": "2"}


@pytest.mark.parametrize("value", ["$TC", "${TC:-98}", "$((24*4))", "`tc`"])
def test_what_a_shell_would_fill_in_is_not_known(value):
    assert env(f"NCCL_IB_TC={value}\n") == {"NCCL_IB_TC": None}


def test_lines_that_are_no_assignments_are_counted():
    assert nccl_env.environment("NCCL_A=1\nulimit -l unlimited\nNCCL_B: 2\nNCCL_C=1 mpirun\n")[1] == [2, 3, 4]


@pytest.mark.parametrize(
    "line", ["if true; then", "fi", ". /etc/profile", "source x", "for i in 1 2; do", "f() {", "}", "  eval x"]
)
def test_a_script_is_refused(line):
    with pytest.raises(ValueError, match="line 2: a script"):
        nccl_env.environment(f"NCCL_A=1\n{line}\n")


def test_an_open_quote_is_refused_with_its_line():
    with pytest.raises(ValueError, match="line 2: No closing quotation"):
        nccl_env.environment("NCCL_A=1\nNCCL_B='x\n")
