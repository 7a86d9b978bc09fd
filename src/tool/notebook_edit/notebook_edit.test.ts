import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { Bench, textOf } from "../testing/bench.ts";
import { view } from "../view/view.ts";
import { deleteCell, insertCell, notebookEdit, replaceCell } from "./notebook_edit.ts";

const NOTEBOOK = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"2": 1.0, "1": "\\u00e9 [{]}"},
   "source": [
    "# Title\\n"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "sum",
   "metadata": {},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": ["2\\n"]}],
   "source": [
    "print(1 + 1)\\n"
   ]
  }
 ],
 "metadata": {"cells": ["not these"]},
 "nbformat": 4,
 "nbformat_minor": 5
}
`;

async function bench(content = NOTEBOOK): Promise<Bench> {
  const made = new Bench([view, notebookEdit]);
  onTestFinished(() => made[Symbol.dispose]());
  made.put("n.ipynb", content);
  await made.call("view", { file_path: "n.ipynb" });
  return made;
}

const call = (made: Bench, args: object) => made.call("notebook_edit", { notebook_path: "n.ipynb", ...args });

test("notebook_edit replaces a code cell, which loses its outputs; every other byte stays", async () => {
  const made = await bench();
  const result = await call(made, { cell_id: "sum", new_source: "a = 1\nprint(a)" });
  expect(textOf(result)).toBe("Replaced cell sum of n.ipynb");
  expect(result.meta).toMatchObject({ cell_id: "sum", edit_mode: "replace" });
  const [head, tail] = [NOTEBOOK.indexOf('"outputs"'), NOTEBOOK.indexOf("  }\n ],")];
  expect(made.get("n.ipynb")).toBe(
    `${NOTEBOOK.slice(0, head).replace("3", "null")}"outputs": [],
   "source": [
    "a = 1\\n",
    "print(a)"
   ]
${NOTEBOOK.slice(tail)}`,
  );
});

test("notebook_edit inserts after a cell, or first, with an id of its own", async () => {
  const made = await bench();
  expect(
    (await call(made, { edit_mode: "insert", cell_id: "intro", cell_type: "code", new_source: "x" })).ok,
  ).toBe(true);
  await made.call("view", { file_path: "n.ipynb" });
  const first = await call(made, { edit_mode: "insert", cell_type: "markdown", new_source: "" });
  const { cells } = JSON.parse(made.get("n.ipynb")) as { cells: Record<string, unknown>[] };
  expect(cells.map(({ cell_type }) => cell_type)).toEqual(["markdown", "markdown", "code", "code"]);
  expect(cells[2]).toMatchObject({ source: ["x"], outputs: [], execution_count: null, metadata: {} });
  expect(cells[0]).toMatchObject({ source: [], id: first.meta?.cell_id });
  expect(new Set(cells.map(({ id }) => id)).size).toBe(4);
});

test("notebook_edit deletes a cell, the last one too", async () => {
  const made = await bench();
  await call(made, { edit_mode: "delete", cell_id: "sum" });
  expect(made.get("n.ipynb")).toContain('"source": [\n    "# Title\\n"\n   ]\n  }\n ],\n "metadata"');
  await call(made, { edit_mode: "delete", cell_id: "intro" });
  expect(made.get("n.ipynb")).toContain('{\n "cells": [],\n "metadata"');
});

test("notebook_edit changes the kind of a cell", async () => {
  const made = await bench();
  await call(made, { cell_id: "sum", cell_type: "markdown", new_source: "text" });
  await call(made, { cell_id: "intro", cell_type: "code", new_source: "1" });
  const { cells } = JSON.parse(made.get("n.ipynb")) as { cells: Record<string, unknown>[] };
  expect(cells[1]).toEqual({ cell_type: "markdown", id: "sum", metadata: {}, source: ["text"] });
  expect(cells[0]).toMatchObject({ cell_type: "code", outputs: [], execution_count: null, source: ["1"] });
});

test.each([
  [{ edit_mode: "delete" }, "cell_id is required to delete a cell"],
  [{ new_source: "a" }, "cell_id is required to replace a cell"],
  [{ cell_id: "sum" }, "new_source is required to replace a cell"],
  [{ edit_mode: "insert", new_source: "" }, "cell_type is required to insert a cell"],
  [
    { edit_mode: "delete", cell_id: "sum", new_source: "" },
    "new_source means nothing when a cell is deleted",
  ],
  [{ cell_id: "sum", new_source: "print(1 + 1)\n", cell_type: "code" }, null],
])("notebook_edit checks what belongs to a mode: %j", async (args, message) => {
  const result = await call(await bench(), args);
  if (message === null) expect(result.ok).toBe(true);
  else expect(result.error).toMatchObject({ code: "INVALID", message });
});

test("notebook_edit names the cells there are, by place where they have no ids, and what is no notebook", async () => {
  const made = await bench(
    '{"cells":[{"cell_type":"raw","source":"a"},{"cell_type":"raw","source":"b"}],"nbformat":4,"nbformat_minor":2}',
  );
  expect((await call(made, { cell_id: "x", new_source: "" })).error).toMatchObject({
    code: "NOT_FOUND",
    message: "cell not found: x. Cells here: cell-0, cell-1",
  });
  const inserted = await call(made, {
    edit_mode: "insert",
    cell_id: "cell-0",
    cell_type: "markdown",
    new_source: "m",
  });
  expect(inserted.ok).toBe(true);
  expect(made.get("n.ipynb")).toBe(
    '{"cells":[{"cell_type":"raw","source":"a"},{"cell_type":"markdown","metadata":{},"source":["m"]},{"cell_type":"raw","source":"b"}],"nbformat":4,"nbformat_minor":2}',
  );
  made.put("bad.ipynb", "[1]");
  await made.call("view", { file_path: "bad.ipynb" });
  const bad = await made.call("notebook_edit", { notebook_path: "bad.ipynb", cell_id: "x", new_source: "" });
  expect(bad.error).toMatchObject({ code: "INVALID", message: "not a notebook: bad.ipynb" });
});

test("notebook_edit keeps the guard", async () => {
  const made = await bench();
  made.put("n.ipynb", NOTEBOOK.replace("Title", "Other"));
  expect((await call(made, { cell_id: "sum", new_source: "" })).error?.message).toBe(
    "file has changed since it was read: n.ipynb. View it again",
  );
});

test("cells: what is inserted, replaced and deleted is what JSON.parse then gives, in any layout", () => {
  const cellOf = (source: string) => ({ cell_type: "raw", source });
  const layout = fc.constantFrom(0, 1, 2, 4, "\t");
  fc.assert(
    fc.property(
      fc.array(fc.string(), { maxLength: 5 }),
      layout,
      fc.nat(),
      fc.string(),
      fc.constantFrom("before", "after"),
      (sources, indent, seed, source, side) => {
        const cells = sources.map(cellOf);
        const other = { "a{[": "}]", cells_: [[{}]] };
        const text = JSON.stringify(
          side === "before" ? { ...other, cells } : { cells, ...other },
          null,
          indent,
        );
        const cellsOf = (made: string) => (JSON.parse(made) as { cells: unknown[] }).cells;
        const place = seed % (cells.length + 1);
        expect(cellsOf(insertCell(text, place, cellOf(source)))).toEqual(
          cells.toSpliced(place, 0, cellOf(source)),
        );
        if (place === cells.length) return;
        expect(cellsOf(replaceCell(text, place, cellOf(source)))).toEqual(cells.with(place, cellOf(source)));
        expect(cellsOf(deleteCell(text, place))).toEqual(cells.toSpliced(place, 1));
        // in a layout of its own the text comes out as if it had been written so at once
        const again = JSON.stringify(
          { ...(JSON.parse(text) as object), cells: cells.with(place, cellOf(source)) },
          null,
          indent,
        );
        expect(replaceCell(text, place, cellOf(source))).toBe(again);
      },
    ),
  );
});
