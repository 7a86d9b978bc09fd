import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isMedia } from "../../abi/tool.ts";
import { findImage } from "../../lib/image-head.ts";
import { Bench, textOf } from "../testing/bench.ts";
import { parsePages } from "./pdf.ts";
import { view } from "./view.ts";

function bench(supportsImages = true): Bench {
  const made = new Bench([view]);
  onTestFinished(() => made[Symbol.dispose]());
  made.caller = { ...made.caller, model: { name: "m", supportsImages } };
  return made;
}

/** 1 x 1, or as large as its header says. */
function png(width = 1, height = 1, more = 0): Buffer {
  const head = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806000000", "hex");
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return Buffer.concat([head, Buffer.alloc(more)]);
}

const HEADS = {
  "a.png": [png(3, 2), "image/png", 3, 2],
  "a.gif": [Buffer.from("47494638396105000400000000", "hex"), "image/gif", 5, 4],
  "a.jpg": [
    Buffer.from(`ffd8ffe00004${"0000"}ffc0001108000700090301${"00".repeat(12)}`, "hex"),
    "image/jpeg",
    9,
    7,
  ],
  "a.webp": [
    Buffer.concat([
      Buffer.from("RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0", "latin1"),
      Buffer.from("0a00000b0000", "hex"),
    ]),
    "image/webp",
    11,
    12,
  ],
} as const;

test.each(Object.entries(HEADS))(
  "view shows a picture, by what it holds: %s",
  async (name, [bytes, type, width, height]) => {
    const made = bench();
    expect(findImage(bytes)).toEqual({ mediaType: type, width, height });
    made.put("renamed.dat", bytes);
    made.put(name, bytes);
    for (const path of [name, "renamed.dat"]) {
      const result = await made.call("view", { file_path: path });
      expect(result.content.filter(isMedia)).toEqual([
        { type: "image", media_type: type, data: bytes.toString("base64") },
      ]);
      expect(textOf(result)).toBe(
        `[image: ${path}, ${type}, ${width} x ${height}, ${bytes.byteLength} bytes]`,
      );
      expect(view.meta?.parse(result.meta)).toMatchObject({ type: "image" });
    }
  },
);

test("view refuses a picture for a model that does not look at any, also after a switch", async () => {
  const made = bench();
  made.put("a.png", png());
  expect((await made.call("view", { file_path: "a.png" })).ok).toBe(true);
  made.caller = { ...made.caller, model: { name: "other", supportsImages: false } };
  expect((await made.call("view", { file_path: "a.png" })).error).toEqual({
    code: "INVALID",
    message: "Model does not support images",
  });
});

test("view shows a picture again as often as it is asked for", async () => {
  const made = bench();
  made.put("a.png", png());
  for (let time = 0; time < 3; time++)
    expect((await made.call("view", { file_path: "a.png" })).content.filter(isMedia)).toHaveLength(1);
});

test("view refuses pictures that are too large, and says how to make them smaller", async () => {
  const made = bench();
  made.put("wide.png", png(2001, 1));
  made.put("fits.png", png(2000, 2000, 150_000 - png().byteLength));
  made.put("long.png", png(1, 1, 150_004 - png().byteLength));
  expect((await made.call("view", { file_path: "wide.png" })).error).toMatchObject({
    code: "INVALID",
    message: "image too large: wide.png (2001 x 1 pixels, max 2000 x 2000)",
  });
  expect((await made.call("view", { file_path: "fits.png" })).ok).toBe(true);
  const long = await made.call("view", { file_path: "long.png" });
  expect(long.error?.message).toBe("image too large: long.png (25001 tokens, max 25000)");
  expect(long.error?.hint).toContain("convert");
});

const PDF = Buffer.from("%PDF-1.4 anything");

test("view shows a short PDF as a document to a model that looks at them, else the text of its pages", async () => {
  const made = bench();
  made.pdf = () => ({ pages: 2, texts: ["one", " "] });
  made.put("a.pdf", PDF);
  const shown = await made.call("view", { file_path: "a.pdf" });
  expect(shown.content.slice(1)).toEqual([
    { type: "document", media_type: "application/pdf", data: PDF.toString("base64") },
  ]);
  expect(textOf(shown)).toBe("[PDF: a.pdf, 2 pages]");
  made.caller = { ...made.caller, model: { name: "m", supportsImages: false } };
  const read = await made.call("view", { file_path: "a.pdf" });
  expect(textOf(read)).toBe("[page 1 of 2]\none\n[page 2 of 2]\n(no text on this page)");
  expect(read.content).toHaveLength(1);
  expect(read.meta).toMatchObject({ type: "pdf", total_lines: 2, offset: 0, lines: 2 });
});

test("view asks for pages of a long PDF, and gives the text of those", async () => {
  const made = bench();
  const asked: unknown[] = [];
  made.pdf = (_path, request) => {
    asked.push(request);
    const { first = 1, last = 0 } = request;
    return { pages: 34, texts: Array.from({ length: last - first + 1 }, (_, i) => `text ${first + i}`) };
  };
  made.put("a.pdf", PDF);
  expect((await made.call("view", { file_path: "a.pdf" })).error).toMatchObject({
    code: "INVALID",
    message: "a.pdf has 34 pages: name some",
  });
  const text = await made.text("view", { file_path: "a.pdf", pages: "3-4" });
  expect(text).toBe('[page 3 of 34]\ntext 3\n[page 4 of 34]\ntext 4\n[continue with pages="5-24"]');
  expect(asked.at(-1)).toEqual({ op: "pdf", first: 3, last: 4 });
  expect((await made.call("view", { file_path: "a.pdf", pages: "35" })).error?.message).toBe(
    "page 35 is past the end: 34 pages",
  );
  expect(await made.text("view", { file_path: "a.pdf", pages: "3-4" })).toContain("[unchanged");
});

test("parsePages: one page or a range of at most 20", () => {
  expect(parsePages("3")).toEqual({ first: 3, last: 3 });
  expect(parsePages(" 3 - 22 ")).toEqual({ first: 3, last: 22 });
  for (const wrong of ["", "0", "5-3", "3-23", "a", "1,2", "3-"])
    expect(() => parsePages(wrong), wrong).toThrow(/^pages/);
});

test("view: pages of what is no PDF is INVALID; a PDF may have 20 MiB, and what is called one is one by what it holds", async () => {
  const made = bench(false);
  made.put("a.txt", "x");
  expect((await made.call("view", { file_path: "a.txt", pages: "1" })).error?.message).toBe(
    "pages is for PDF files: a.txt",
  );
  made.put("text.pdf", "only text");
  expect(await made.text("view", { file_path: "text.pdf" })).toBe("only text");
  made.pdf = () => ({ pages: 1, texts: ["x"] });
  made.put("a.pdf", Buffer.concat([PDF, Buffer.alloc(20 * 1024 * 1024 - PDF.byteLength)]));
  expect((await made.call("view", { file_path: "a.pdf" })).ok).toBe(true);
  made.put("b.pdf", Buffer.concat([PDF, Buffer.alloc(20 * 1024 * 1024)]));
  expect((await made.call("view", { file_path: "b.pdf" })).error?.message).toBe("PDF too large (max 20 MiB)");
});

test("view shows a notebook by its cells, with what they gave", async () => {
  const made = bench();
  const outputs = [
    { output_type: "stream", text: ["2\n"] },
    { output_type: "display_data", data: { "text/plain": "<Figure>", "image/png": "aGk=" } },
    { output_type: "error", ename: "ValueError", evalue: "no" },
    { output_type: "stream", text: "x".repeat(10_001) },
  ];
  const cells = [
    { cell_type: "markdown", id: "t", source: ["# T\n", "more"] },
    { cell_type: "code", source: "print(2)", outputs },
  ];
  made.put("n.ipynb", JSON.stringify({ cells, nbformat: 4 }));
  const result = await made.call("view", { file_path: "n.ipynb" });
  expect(textOf(result)).toBe(
    `[cell 0: t, markdown]\n# T\nmore\n[cell 1: cell-1, code]\nprint(2)\n[output]\n2\n[output]\n<Figure>\n[image/png: not shown]\n[output]\nValueError: no\n[output]\n${"x".repeat(10_000)}\n[output cut: 10000 of 10001 characters]\n`,
  );
  expect(result.meta).toMatchObject({ type: "notebook", total_lines: 2, lines: 2 });
  expect(await made.text("view", { file_path: "n.ipynb", limit: 1 })).toBe(
    "[cell 0: t, markdown]\n# T\nmore\n[cells 0-0 of 2; continue with offset=1]",
  );
  expect((await made.call("view", { file_path: "n.ipynb", offset: 2 })).error?.message).toBe(
    "offset 2 is past the end: 2 cells",
  );
  made.put("broken.ipynb", "{");
  expect(await made.text("view", { file_path: "broken.ipynb" })).toBe("{");
});

test("view finds a screenshot of macOS by either space before AM and PM, and only then", async () => {
  const made = bench();
  made.put("Shot 9.41.00\u202fAM.txt", "narrow");
  made.put("Shot 9.42.00 PM.txt", "plain");
  expect(await made.text("view", { file_path: "Shot 9.41.00 AM.txt" })).toBe("narrow");
  expect(await made.text("view", { file_path: "Shot 9.42.00\u202fPM.txt" })).toBe("plain");
  expect((await made.call("view", { file_path: "Shot 9.43.00 AM.txt" })).error?.code).toBe("NOT_FOUND");
});

test("view never opens a FIFO or a device", async () => {
  const made = bench();
  execFileSync("mkfifo", [join(made.root, "pipe")]);
  expect((await made.call("view", { file_path: "pipe" })).error).toMatchObject({
    code: "INVALID",
    message: "not a regular file: pipe (fifo)",
  });
  expect((await made.call("view", { file_path: "/dev/zero" })).error?.code).toBe("INVALID");
  expect(made.asked.every(({ op }) => op === "stat")).toBe(true);
});

test("view after a message of the context was replaced shows the content again", async () => {
  const made = bench();
  let epoch = 0;
  const seen = new Map<string, never>();
  made.caller = {
    ...made.caller,
    seen: {
      get epoch() {
        return epoch;
      },
      get: (path) => seen.get(path),
      has: (path) => seen.has(path),
      set: (path, file) => void seen.set(path, { ...file, epoch } as never),
    },
  };
  made.put("a.txt", "one");
  const call = () => made.text("view", { file_path: "a.txt" });
  expect(await call()).toBe("one");
  epoch++;
  expect(await call()).toBe("one");
  expect(await call()).toContain("[unchanged");
});
