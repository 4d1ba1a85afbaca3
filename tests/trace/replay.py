"""A saved trace in a browser: opened, read and moved as a reader would."""

import json


def read(browser, quantity):
    """The exact number behind a displayed quantity."""
    return json.loads(
        browser.run(f"""
        document.querySelector('[data-quantity="{quantity}"]').dataset.value""")
    )


def slide(browser, step):
    """Move the slider as a hand would: its value changes and it says so."""
    browser.run(f"""(() => {{
        const slider = document.querySelector('input[type="range"]');
        slider.value = {step};
        slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
    }})()""")
