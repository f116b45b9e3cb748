"""The lag over time stands below the lanes, in the same span of time."""

from __future__ import annotations

import pytest

from tests.page.browser import LOOKS, axe, barnabas, opened_at, page_at
from tests.page.pages import served, shown
from tests.places import SAMPLES

pytestmark = pytest.mark.needs_chromium

STEPS = """async ([times, lags, from, to, most]) => {
  const {steps} = await import("/page/lag.js");
  return steps(times, lags, from, to, most);
}"""


async def test_a_line_steps_where_the_lag_changes_and_has_gaps_where_it_is_unknown() -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address) as (page, said):
        for times, lags, path in (
            ([0, 50], [10, 0], "M0.000 18.0H50.000V82.0H100.000"),
            ([0, 25, 50], [10, None, 0], "M0.000 18.0H25.000M50.000 82.0H100.000"),
            ([-50, -10], [0, 10], "M0.000 18.0H100.000"),
            ([200], [10], ""),
        ):
            assert await page.evaluate(STEPS, [times, lags, 0, 100, 10]) == path
        assert said == []


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_lag_and_lanes_share_their_span(scheme: str, width: int) -> None:
    sample = str(SAMPLES / "rebalance.pcap.gz")
    with (
        barnabas("open", sample) as ready,
        page_at(ready["page"], scheme, width, "groups") as page,
    ):
        page.locator(".lag path.sum").wait_for(state="attached")
        lanes, lag = (
            page.locator(f".lanes{which} > svg").bounding_box() for which in (":not(.lag)", ".lag")
        )
        assert lanes
        assert lag
        assert (lanes["x"], lanes["width"]) == (lag["x"], lag["width"])
        assert page.locator(".lag .names div").all_inner_texts()[0].split() == ["■", "lag", "0"][1:]
        assert axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
