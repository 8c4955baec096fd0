"""A fixture that writes an ARFF file and its XML file."""

import pytest

from forms import xml_of


@pytest.fixture
def arff(tmp_path):
    def write(text, xml="default", name="toy.arff"):
        if xml:
            xml = xml_of("L1", "b's") if xml == "default" else xml
            (tmp_path / "toy.xml").write_text(xml)
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return write
