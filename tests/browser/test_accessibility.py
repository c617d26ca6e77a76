"""What axe-core finds in pages and reports."""

import pytest

from tests.browser.conftest import AXE

SERIOUS = {"serious", "critical"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["pictures", "graded", "near", "hostile", "report"])
def test_axe_finds_nothing_serious(browser, request, name, width, scheme):
    path = request.getfixturevalue(name)
    # The checker is another script, which the page's own policy would not run.
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    page = context.new_page()
    page.goto(path.as_uri())
    if name != "report":
        page.wait_for_selector("#summary[data-complete]", state="attached")
        page.get_by_text("Code usage").click()
        page.locator(".chart summary").first.click()
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    context.close()
    said = [
        f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]}"
        for each in found
        if each["impact"] in SERIOUS
    ]
    assert said == []
