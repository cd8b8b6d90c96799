"""docs_commands.py finds the commands of a page, and runs nothing that may change the machine without a row of its table."""

import unittest

import docs_commands

PAGE = """# Title

    clvet probe --out r.json     # the report
    clvet run m.onnx \\
      --top 1

- a list
    that goes on here

```sh
clvet schema

jq . r.json
```

```cpp
int x;
```

    $ clvet check m.gguf
    it runs
"""


class Commands(unittest.TestCase):
    def test_all_blocks_of_a_page(self):
        found = [docs_commands.commands(block) for block in docs_commands.blocks(PAGE)]
        self.assertEqual(found, [["clvet probe --out r.json", "clvet run m.onnx --top 1"], ["clvet schema", "jq . r.json"],
                                 ["clvet check m.gguf"]])

    def test_a_new_command_that_may_change_the_machine_is_not_run(self):
        for command in ("sudo apt-get install x", "sh fix.sh --apply", "rm -rf build", "bash ci/new.sh", "A=b clvet run",
                        "cmake --install build --prefix /usr/local", "cmake --install build"):
            faults = []
            docs_commands.run_page("page.md", [command], {"run": {}}, None, faults)
            self.assertEqual(faults, [f"page.md: {command}: neither in 'run' nor in 'not_run' of docs_commands.json"])

    def test_rows_about_nothing_are_faults(self):
        table = {"run": {"clvet a": {}}, "not_run": {"clvet b": "long"}, "output": {"said": "page.md"}}
        self.assertEqual(len(list(docs_commands.stale(table, set(), set()))), 3)
        self.assertEqual(list(docs_commands.stale(table, {"clvet a", "clvet b"}, {"said"})), [])

    def test_every_row_has_a_reason(self):
        table = docs_commands.json.loads(docs_commands.TABLE.read_text())
        for row in table["run"].values():
            self.assertTrue(row["why"])
        for why in table["not_run"].values():
            self.assertTrue(why)


if __name__ == "__main__":
    unittest.main()
