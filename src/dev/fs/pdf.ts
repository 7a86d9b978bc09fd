/**
 * PDF files: the number of pages, and the text of some. They are read in a thread (pdf-thread.ts) that is ended with
 * the call.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { FsRequest, PdfAnswer } from "../../abi/ops/fs.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { readPart } from "./ops.ts";

const maxBytes = 20 * 1024 * 1024;
const deadlineMs = 20_000;
/** Bound on concurrent threads; later calls wait. Each thread may use as much memory as `resourceLimits` allows. */
const maxThreads = 2;
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

/** Pages are counted from 1, both ends included; `last` 0: only the number of pages is requested. */
export interface PdfJob {
  readonly bytes: Uint8Array;
  readonly first: number;
  readonly last: number;
}

const waiting: (() => void)[] = [];
let running = 0;

/** INVALID: over 20 MiB, or not a readable PDF. TIMEOUT: it takes too long. */
export async function readPdf(
  real: string,
  request: Extract<FsRequest, { op: "pdf" }>,
  signal: AbortSignal,
): Promise<PdfAnswer> {
  const { first = 1, last = 0 } = request;
  const bytes = await wholeFile(real, signal);
  if (running >= maxThreads) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  try {
    throwIfAborted(signal, "Write");
    return await inThread({ bytes, first, last }, signal);
  } finally {
    running--;
    waiting.shift()?.();
  }
}

async function wholeFile(real: string, signal: AbortSignal): Promise<Uint8Array> {
  const pages: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const page = await readPart(real, { op: "read", offset: size }, signal);
    if (page.byteLength === 0) break;
    pages.push(page);
    size += page.byteLength;
    if (size > maxBytes) throw driverError("Write", "INVALID", "PDF too large (max 20 MiB)");
  }
  return new Uint8Array(Buffer.concat(pages));
}

/** An error that is not an Error arrives from the thread as a plain object. */
function wordsOf(error: unknown): string {
  const { message } = (typeof error === "object" && error !== null ? error : {}) as { message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  return typeof error === "string" ? error : "it is damaged, or not a PDF";
}

async function inThread(workerData: PdfJob, signal: AbortSignal): Promise<PdfAnswer> {
  const name = import.meta.url.endsWith(".ts") ? "./pdf-thread.ts" : "./pdf-thread.js";
  const url = new URL(name, import.meta.url);
  const transferList = [workerData.bytes.buffer as ArrayBuffer];
  const options = {
    workerData,
    transferList,
    name: "pdf",
    resourceLimits,
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
  };
  const thread = new Worker(url, options);
  const late = AbortSignal.timeout(deadlineMs);
  try {
    // an error in the thread rejects this
    const [answer] = await once(thread, "message", { signal: AbortSignal.any([signal, late]) });
    return answer as PdfAnswer;
  } catch (error) {
    throwIfAborted(signal, "Write");
    if (late.aborted)
      throw driverError("Write", "TIMEOUT", `the PDF could not be read within ${deadlineMs / 1000} s`);
    throw driverError("Write", "INVALID", `the PDF cannot be read: ${wordsOf(error)}`);
  } finally {
    await thread.terminate();
  }
}
