#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of br2pgo report --html in a real browser: it loads without an error and without asking
for anything else, sorts, filters, opens a function, is usable with the keyboard, in a narrow window,
light and dark, and with 20 000 functions. Its figures are those of --json."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
import browser  # noqa: E402

BR2PGO = os.environ["BR2PGO"]
PROGRAM = """
template <typename T> __attribute__((noinline)) T step(T value)
{
    return value % 3 != 0 ? value * 2 + 1 : value / 2;
}
struct shape { virtual long area(long side) = 0; };
struct square : shape { long area(long side) override { return side * side; } };
struct line : shape { long area(long) override { return 0; } };
int main(int argc, char **)
{
    square s;
    line l;
    shape *shapes[] = {&s, &s, &l, &s};
    long sum = argc;
    for (long i = 0; i < 20000; i++) {
        sum += step(i) + step(static_cast<int>(i)) + shapes[i & 3]->area(sum & 7);
    }
    return sum == 0;
}
"""
FUNCTIONS = 20000
failures = []


def check(what, good, detail=""):
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {detail}"))
    if not good:
        failures.append(what)


def same(what, found, wanted):
    check(what, found == wanted, f"{found!r}, not {wanted!r}")


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {result.returncode}\n{result.stderr}")
    return result.stdout


def make(folder):
    """The page and what it is to say, of a program with demangled names and indirect calls."""
    path = {name: os.path.join(folder, name) for name in ("p.cc", "p", "p.data", "p.html")}
    with open(path["p.cc"], "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    run("g++", "-O1", "-g", "-o", path["p"], path["p.cc"])
    run(BR2PGO, "record", "--emulate", "--period", "97", "-q", "-o", path["p.data"], "--", path["p"])
    of = [path["p.data"], "--binary", path["p"]]
    run(BR2PGO, "report", "--html", path["p.html"], *of)
    return path["p.html"], json.loads(run(BR2PGO, "report", "--json", *of))


def column(page, name):
    """The cells of the first table's column of that heading."""
    return page.ask(f"""(() => {{
        const table = document.querySelector("#view table");
        const index = [...table.tHead.rows[0].cells].findIndex(
            (cell) => cell.querySelector("button").firstChild.textContent === {name!r});
        return [...table.tBodies[0].rows].map((row) => row.cells[index].textContent);
    }})()""")


def go(page, fragment):
    page.ask(f"location.hash = {fragment!r}")
    page.settle()
    same(f"{fragment}: shown", page.ask("view.dataset.shown"), fragment)


def press_heading(page, name):
    page.ask(f"""[...document.querySelectorAll("#view th button")].find(
        (button) => button.firstChild.textContent === {name!r}).click()""")
    page.settle()


def grouped(count):
    return f"{count:,}".replace(",", "\u202f")


def numbers(cells):
    return [int(re.sub(r"\D", "", cell)) for cell in cells]


def check_tables(page, report):
    functions = report["tables"]["functions"]["rows"]
    go(page, "functions")
    same("functions are those of --json", column(page, "function"),
         [row["function"] for row in functions])
    check("names are demangled, and text, not markup", "long step<long>(long)" in
          column(page, "function"), column(page, "function"))
    press_heading(page, "executed")
    press_heading(page, "executed")
    executed = numbers(column(page, "executed"))
    same("sorted upwards by the second press", executed, sorted(executed))
    same("which the heading says", page.ask(
        """document.querySelector("#view th[aria-sort=ascending] button").firstChild.textContent"""),
        "executed")
    press_heading(page, "executed")
    same("and downwards by the next", numbers(column(page, "executed")), executed[::-1])
    page.ask("""document.activeElement.blur()""")
    page.press("/", "/")
    page.type("STEP int")
    same("filtered by all words, from the keyboard", column(page, "function"), ["int step<int>(int)"])
    go(page, "branches")
    check("the plot has a dot for a branch", page.ask(
        "document.querySelectorAll('#probability circle').length") > 0)


def check_distributions(page, report):
    go(page, "loops")
    rows = report["tables"]["trip_counts"]["rows"]
    first = [row for row in rows if row["header"] == rows[0]["header"]]
    titles = page.ask("""[...document.querySelectorAll("#distribution .bar title")].map(
        (title) => title.textContent)""")
    for row in first:
        check(f"a bar for loops of {row['trips']} trips", {
            f"{row['trips']} trips: {grouped(row['complete'])} complete",
            f"{row['trips']} trips: {grouped(row['cut'])} cut"} <= set(titles), titles)


def check_function(page, report):
    row = next(row for row in report["tables"]["functions"]["rows"]
               if row["function"] == "long step<long>(long)")
    go(page, "functions")
    page.ask("""[...document.querySelectorAll("#view td a")].find(
        (link) => link.textContent === "long step<long>(long)").focus()""")
    page.press("Enter", "\r")
    same("a function is opened with Enter", page.ask("view.dataset.shown"),
         "function=" + row["address"])
    blocks = [block for block in report["tables"]["blocks"]["rows"]
              if block["function_address"] == row["address"] and block["count"] > 0]
    same("its graph has the blocks that ran", page.ask(
        "document.querySelectorAll('#flow .node').length"), len(blocks))
    edges = [edge for edge in report["tables"]["block_edges"]["rows"]
             if edge["function_address"] == row["address"]]
    same("and the edges between them", page.ask("document.querySelectorAll('#flow .flow').length"),
         len(edges))
    code = [insn["text"] for insn in report["tables"]["instructions"]["rows"]
            if insn["function_address"] == row["address"]]
    same("all its instructions", page.ask(
        "[...document.querySelectorAll('#code td.code')].map((cell) => cell.textContent)"), code)
    check("its source lines", "return value % 3 != 0 ? value * 2 + 1 : value / 2;" in page.ask(
        "document.getElementById('source').textContent"))
    same("its caller", page.ask(
        "document.querySelector('[data-table=calls] tbody td a').textContent"), "main")
    page.ask("document.querySelector('#flow .node').focus()")
    page.press("Enter", "\r")
    same("a block leads to its instructions", page.ask("document.activeElement.className"), "block")


def check_keyboard(page):
    go(page, "summary")
    page.ask("document.querySelector('#tabs [aria-selected=true]').focus()")
    page.press("ArrowRight")
    same("arrows go from tab to tab", page.ask("view.dataset.shown"), "branches")
    page.ask("document.querySelector('.skip').focus()")
    page.press("Enter", "\r")
    same("what is skipped to is what was shown", (page.ask("view.dataset.shown"), page.ask("document.activeElement.id")),
         ("branches", "view"))
    page.ask("location.hash = '%'")
    go(page, "branches")
    page.ask("document.querySelector('#tabs [aria-selected=true]').focus()")
    page.press("ArrowLeft")
    same("and back", page.ask("document.activeElement.dataset.section"), "summary")
    check("calls are drawn", page.ask("document.querySelectorAll('#flame .flame').length") > 2)
    page.ask("document.querySelector('#flame .flame').focus()")
    page.press("Enter", "\r")
    check("and lead to functions", page.ask("view.dataset.shown").startswith("function="))


def check_windows(page):
    for width in (360, 1400):
        page.window(width, 800)
        for fragment in ("summary", "branches", "functions"):
            go(page, fragment)
            check(f"{fragment} fits a window of {width}", page.ask(
                "document.documentElement.scrollWidth <= innerWidth"),
                page.ask("document.documentElement.scrollWidth"))
    colours = {}
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        colours[scheme] = page.ask("getComputedStyle(document.body).backgroundColor")
    same("light and dark follow the system", colours,
         {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"})
    page.ask("document.getElementById('theme').click()")
    same("and a button", page.ask("getComputedStyle(document.body).backgroundColor"),
         "rgb(255, 255, 255)")


def enlarge(path, result):
    """The page with 20 000 functions and 60 000 branches in it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begin = text.index('<script type="application/json" id="data">') + len(
        '<script type="application/json" id="data">')
    end = text.index("</script>", begin)
    data = json.loads(text[begin:end])
    for name, count in (("functions", FUNCTIONS), ("branches", 3 * FUNCTIONS)):
        table = data["tables"][name]
        where = {column["name"]: i for i, column in enumerate(table["columns"])}
        pattern = table["rows"]
        table["rows"] = []
        for i in range(count):
            row = list(pattern[i % len(pattern)])
            row[where["rank"]] = i + 1
            row[where["function"]] = f"function_{i % FUNCTIONS}"
            row[where["address"]] = hex(0x100000 + 16 * i)
            table["rows"].append(row)
    with open(result, "w", encoding="utf-8") as file:
        file.write(text[:begin] + json.dumps(data).replace("<", "\\u003c") + text[end:])


def check_many(page, path):
    large = path + ".large.html"
    enlarge(path, large)
    page.open(large)
    for fragment in ("summary", "functions", "branches"):
        go(page, fragment)
        nodes = page.ask("document.querySelectorAll('*').length")
        check(f"{FUNCTIONS} functions: {fragment} makes few elements", nodes < 6000, nodes)
    go(page, "functions")
    page.ask("document.querySelector('#view input').focus()")
    page.type("function_19999")
    same("the last one is found", column(page, "function"), ["function_19999"])


def main():
    program = browser.find()
    if program is None or shutil.which("g++") is None:
        print("skipped: needs chromium and g++")
        return 77
    with tempfile.TemporaryDirectory(prefix="br2pgo-page-") as folder:
        path, report = make(folder)
        page = browser.Browser(program)
        try:
            page.open(path)
            check_tables(page, report)
            check_distributions(page, report)
            check_function(page, report)
            check_keyboard(page)
            check_windows(page)
            check_many(page, path)
            same("nothing went wrong in the page", page.errors, [])
            same("nothing else was asked for", [url for url in page.requests
                                                if not url.startswith("file://" + folder)], [])
        finally:
            page.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
