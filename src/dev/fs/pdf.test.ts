import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readPdf } from "./pdf.ts";
import { pdfOf } from "./testing.ts";

const never = new AbortController().signal;

function file(content: Uint8Array): string {
  const dir = mkdtempSync(join(tmpdir(), "crux-pdf-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "a.pdf"), content);
  return join(dir, "a.pdf");
}

test("readPdf counts pages, and gives the text of those asked for that are there", async () => {
  const path = file(pdfOf(["one", "two", ""]));
  expect(await readPdf(path, { op: "pdf" }, never)).toEqual({ pages: 3, texts: [] });
  expect(await readPdf(path, { op: "pdf", first: 2, last: 9 }, never)).toEqual({
    pages: 3,
    texts: ["two", ""],
  });
});

test("readPdf: what is no PDF is INVALID", async () => {
  await expect(readPdf(file(Buffer.from("%PDF-1.4 nonsense")), { op: "pdf" }, never)).rejects.toMatchObject({
    code: "INVALID",
    message: expect.stringMatching(/^the PDF cannot be read: (?!\[object)/),
  });
});

test("readPdf over 20 MiB is INVALID", async () => {
  const path = file(Buffer.alloc(20 * 1024 * 1024 + 1));
  await expect(readPdf(path, { op: "pdf" }, never)).rejects.toMatchObject({ code: "INVALID" });
});

test("readPdf ends with its call; those that wait for a thread get theirs", async () => {
  const path = file(pdfOf(["x"]));
  await expect(readPdf(path, { op: "pdf" }, AbortSignal.abort())).rejects.toMatchObject({
    code: "CANCELLED",
  });
  const all = await Promise.all(Array.from({ length: 5 }, () => readPdf(path, { op: "pdf" }, never)));
  expect(all.map(({ pages }) => pages)).toEqual([1, 1, 1, 1, 1]);
});
