from agentbench_analysis.site.markdown import render


def test_html_in_the_text_is_shown_and_never_run() -> None:
    html = render("<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>")
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html


def test_a_link_leads_to_the_web_or_within_the_page_and_nowhere_else() -> None:
    html = render("[a](https://example.com) [b](javascript:alert(1)) [c](#rules) [d](file:///etc)")
    assert 'href="https://example.com" rel="noopener noreferrer"' in html
    assert 'href="#rules"' in html
    assert html.count("href=") == 2


def test_pictures_are_not_loaded() -> None:
    assert "<img" not in render("![x](https://example.com/x.png)")


def test_headings_stand_below_those_of_the_page_and_tables_can_scroll() -> None:
    html = render("# One\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<h3>One</h3>" in html
    assert '<div class="scroll" tabindex="0" role="group" aria-label="table"><table>' in html
