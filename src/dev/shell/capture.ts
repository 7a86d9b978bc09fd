/** What a command prints: a bounded part in memory, and the whole in a file once it is long. */
import type { ShellAnswer } from "../../abi/fs-ops.ts";
import type { OutputFile } from "../out/output-store.ts";
import { Pages } from "./pages.ts";

/** Up to here nothing is worth a file. */
const fileFromBytes = 64 * 1024;
/** Head and tail together 2 MiB: of the one stream, or of both. */
const mergedPartBytes = 1024 * 1024;
const singlePartBytes = mergedPartBytes / 2;

export type Captured = Pick<
  ShellAnswer,
  "stdout" | "stderr" | "output" | "truncated" | "total_bytes" | "output_path"
>;

export class Capture {
  readonly #openOutput: () => OutputFile;
  readonly #pages: { readonly stdout: Pages; readonly stderr: Pages };
  readonly #isMerged: boolean;
  /** In order of arrival, until there is a file. */
  #early: Buffer[] = [];
  #totalBytes = 0;
  #file: OutputFile | undefined;
  #hasFileFailed = false;

  constructor(isMerged: boolean, openOutput: () => OutputFile) {
    this.#isMerged = isMerged;
    this.#openOutput = openOutput;
    const stdout = new Pages(isMerged ? mergedPartBytes : singlePartBytes);
    this.#pages = { stdout, stderr: isMerged ? stdout : new Pages(singlePartBytes) };
  }

  take(stream: "stdout" | "stderr", chunk: Buffer): void {
    this.#totalBytes += chunk.byteLength;
    this.#pages[stream].add(chunk);
    this.#file?.write(chunk);
    if (this.#file !== undefined || this.#hasFileFailed) return;
    this.#early.push(chunk);
    if (this.#totalBytes > fileFromBytes) this.#startFile();
  }

  /** Call once, when nothing more comes. */
  end(): Captured {
    this.#file?.end();
    this.#early = [];
    const { stdout, stderr } = this.#pages;
    return {
      stdout: this.#isMerged ? "" : stdout.text(),
      stderr: this.#isMerged ? "" : stderr.text(),
      output: this.#isMerged ? stdout.text() : "",
      truncated: stdout.isCut || stderr.isCut,
      total_bytes: this.#totalBytes,
      output_path: this.#file?.path ?? null,
    };
  }

  /** Without a file, on a full disk, the command goes on: memory has its head and tail. */
  #startFile(): void {
    try {
      this.#file = this.#openOutput();
    } catch {
      this.#hasFileFailed = true;
    }
    for (const chunk of this.#early) this.#file?.write(chunk);
    this.#early = [];
  }
}
