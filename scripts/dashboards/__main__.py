"""Write the dashboards of the chart.

    python -m scripts.dashboards

A test fails while the committed files differ.
"""

from scripts.dashboards import FOLDER, files


def main() -> None:
    """Write every dashboard."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
