"""The labels of an ARFF file are found by its XML file or by MEKA's option."""

import pytest

from eigenlabel.datasets import (
    DataError,
    load,
    load_mulan,
)
from forms import DENSE_ARFF as DENSE
from forms import SPARSE_ARFF as SPARSE
from forms import xml_of


@pytest.mark.parametrize(("count", "labels"), [(1, ["L1"]), (-2, ["g", "L2"])])
def test_meka_counts_labels_from_either_end(arff, count, labels):
    text = SPARSE.replace("@relation r", f"@relation 'x: -C {count} -split-percentage 50'")
    text = text.replace("-0.5", "1")
    assert load(arff(text, xml=None)).label_names.tolist() == labels


def test_the_xml_file_overrides_the_relation_name(arff):
    text = SPARSE.replace("@relation r", "@relation 'x: -C 2'")
    assert load(arff(text, xml_of("L1", "L2"))).label_names.tolist() == ["L1", "L2"]


def test_a_label_hierarchy_is_ignored_with_a_note(arff):
    xml = '<labels><label name="L1"><label name="L2"/></label></labels>'
    data = load(arff(SPARSE, xml))
    assert data.label_names.tolist() == ["L1", "L2"]
    assert data.notes == ("the label hierarchy is ignored",)


def test_which_attributes_are_labels(arff, tmp_path):
    with pytest.raises(DataError, match=r"no XML file in its folder and no '-C n'.*pass xml="):
        load(arff(DENSE, xml=None))
    with pytest.raises(DataError, match=r"toy.xml: label 'nobody' is not an attribute of toy.arff"):
        load(arff(DENSE, xml_of("L1", "nobody")))
    with pytest.raises(DataError, match="no such file"):
        load_mulan(arff(DENSE), xml=tmp_path / "nowhere.xml")
    (tmp_path / "toy.xml").unlink()
    with pytest.raises(DataError, match="-C 9 with 4 attributes"):
        load_mulan(arff(SPARSE.replace("relation r", "relation 'a -C 9'"), xml=None))


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<labels>", "not XML"),
        ("<labels/>", "no <label name"),
        ("<labels><label/></labels>", "no <label name"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><labels/>', "entities are not read"),
    ],
)
def test_broken_xml_raises_an_error(arff, xml, message):
    with pytest.raises(DataError, match=message):
        load(arff(DENSE, xml))
