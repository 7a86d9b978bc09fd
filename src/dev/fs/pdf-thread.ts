/**
 * Extracts the text of a PDF's pages in a separate thread: a file made to keep its reader busy, or to fill its
 * memory, ends only this thread. The job is passed in `workerData` and answered with one message.
 */
import { parentPort, workerData } from "node:worker_threads";
import { getDocumentProxy } from "unpdf";
import type { PdfAnswer } from "../../abi/ops/fs.ts";
import type { PdfJob } from "./pdf.ts";

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;

async function textOf(document: Document, page: number): Promise<string> {
  const { items } = await (await document.getPage(page)).getTextContent();
  const parts = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : ""));
  return parts.join("").trimEnd();
}

async function read({ bytes, first, last }: PdfJob): Promise<PdfAnswer> {
  const document = await getDocumentProxy(bytes);
  const texts: string[] = [];
  for (let page = first; page <= Math.min(last, document.numPages); page++)
    texts.push(await textOf(document, page));
  return { pages: document.numPages, texts };
}

parentPort?.postMessage(await read(workerData as PdfJob));
