/** Converts HTML to Markdown, or extracts the results of a Bing page, in a thread (html-thread.ts). */
import { Worker } from "node:worker_threads";
import { linkSignals } from "../../lib/abort.ts";
import { Semaphore } from "../../lib/semaphore.ts";

export interface HtmlJob {
  readonly kind: "markdown" | "bing";
  readonly html: string;
}

/** Bound on the HTML; the rest is left out. */
const MAX_CHARS = 2 * 1024 * 1024;
const MAX_MS = 10_000;
const slots = new Semaphore(2);

/**
 * undefined: the thread failed or was stopped (HTML nested too deeply, or too slow). Rejects when the signal fires.
 */
export async function readHtml<T>({ kind, html }: HtmlJob, signal: AbortSignal): Promise<T | undefined> {
  using linked = linkSignals(signal, AbortSignal.timeout(MAX_MS));
  const job = { kind, html: html.slice(0, MAX_CHARS) };
  const made = await slots.pass(() => inThread<T>(job, linked.signal));
  signal.throwIfAborted();
  return made;
}

function inThread<T>(workerData: HtmlJob, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  const name = import.meta.url.endsWith(".ts") ? "./html-thread.ts" : "./html-thread.js";
  const worker = new Worker(new URL(name, import.meta.url), {
    workerData,
    name: "html",
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
  });
  const stop = () => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  return new Promise<T | undefined>((resolve) => {
    worker.once("message", (made: T) => resolve(made));
    worker.once("error", () => resolve(undefined));
    worker.once("exit", () => resolve(undefined));
  }).finally(() => {
    signal.removeEventListener("abort", stop);
    return worker.terminate();
  });
}
