/** Captures the output of a command: a bounded part in memory, and all of it in a file once it is long. */
import type { ShellAnswer } from "../../abi/ops/fs.ts";
import type { RedactedBytes } from "../../lib/redact/bytes.ts";
import { PrintedText } from "../../lib/text/printed-text.ts";
import type { OutputFile } from "../out/output-store.ts";
import { Pages } from "../pages.ts";

/** Output up to this size gets no file. */
const fileFromBytes = 64 * 1024;
/** Head and tail together take 2 MiB: of the merged stream, or of both streams together. */
const mergedPartBytes = 1024 * 1024;
const singlePartBytes = mergedPartBytes / 2;

export type Captured = Pick<
  ShellAnswer,
  "stdout" | "stderr" | "output" | "truncated" | "total_bytes" | "output_path" | "altered"
>;

const STREAMS = ["stdout", "stderr"] as const;
type Stream = (typeof STREAMS)[number];

export class Capture {
  readonly #openOutput: () => OutputFile;
  #pages: { readonly stdout: Pages; readonly stderr: Pages };
  readonly #isMerged: boolean;
  /** The output so far, in order of arrival, until there is a file. */
  #early: Buffer[] = [];
  #totalBytes = 0;
  #totalLines = 0;
  /** True once the parts in memory are no longer needed: the file has everything. */
  #isOnlyFile = false;
  #file: OutputFile | undefined;
  #hasFileFailed = false;
  readonly #printed: Readonly<Record<Stream, PrintedText>>;
  /** The secret filter of each stream; null: output is kept as printed. */
  #redacted: { readonly stdout: RedactedBytes; readonly stderr: RedactedBytes } | null;

  /** `redacted`: makes a filter that removes secrets from a stream. */
  constructor(isMerged: boolean, openOutput: () => OutputFile, redacted?: () => RedactedBytes) {
    this.#printed = { stdout: new PrintedText(), stderr: new PrintedText() };
    this.#redacted = redacted === undefined ? null : { stdout: redacted(), stderr: redacted() };
    this.#isMerged = isMerged;
    this.#openOutput = openOutput;
    const stdout = new Pages(isMerged ? mergedPartBytes : singlePartBytes);
    this.#pages = { stdout, stderr: isMerged ? stdout : new Pages(singlePartBytes) };
  }

  take(stream: Stream, chunk: Buffer): void {
    this.#show(stream, this.#printed[stream].push(chunk));
  }

  /** Makes the lines in progress readable too; what was read stays, even if the program overprints it. */
  flush(): void {
    for (const stream of STREAMS) this.#show(stream, this.#printed[stream].flush());
  }

  #show(stream: Stream, text: Uint8Array): void {
    const clean =
      this.#redacted?.[stream].push(Buffer.from(text.buffer, text.byteOffset, text.byteLength)) ?? text;
    if (clean.byteLength > 0) this.#keep(stream, Buffer.from(clean));
  }

  #keep(stream: Stream, chunk: Buffer): void {
    this.#totalBytes += chunk.byteLength;
    this.#totalLines += linesIn(chunk);
    if (!this.#isOnlyFile) this.#pages[stream].add(chunk);
    this.#file?.write(chunk);
    if (this.#file !== undefined || this.#hasFileFailed) return;
    this.#early.push(chunk);
    if (this.#totalBytes > fileFromBytes) this.#startFile();
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** The path of the complete output; undefined: there is no file. */
  get path(): string | undefined {
    return this.#file?.path;
  }

  get totalLines(): number {
    return this.#totalLines;
  }

  /** The end of stdout, or of the merged stream. */
  tail(maxBytes: number): string {
    return this.#pages.stdout.tail(maxBytes);
  }

  /** Writes a file however short the output is: others read it there while it grows. */
  keepWhole(): void {
    this.flush();
    if (this.#file === undefined && !this.#hasFileFailed) this.#startFile();
  }

  /** From now on output goes only to the file. */
  dropParts(): void {
    this.#isOnlyFile = true;
    const none = new Pages(64 * 1024);
    this.#pages = { stdout: none, stderr: none };
  }

  /** The captured output; call when no more is expected or awaited. */
  captured(): Captured {
    const { stdout, stderr } = this.#pages;
    const altered = STREAMS.map((stream) => this.#printed[stream].note).filter((note) => note !== "");
    return {
      stdout: this.#isMerged ? "" : stdout.text(),
      stderr: this.#isMerged ? "" : stderr.text(),
      output: this.#isMerged ? stdout.text() : "",
      truncated: stdout.isCut || stderr.isCut,
      total_bytes: this.#totalBytes,
      output_path: this.#file?.path ?? null,
      ...(altered.length > 0 && { altered: altered.join("; ") }),
    };
  }

  /** Call when no more output comes. Idempotent. */
  close(): void {
    for (const stream of STREAMS) this.#show(stream, this.#printed[stream].end());
    const redacted = this.#redacted;
    this.#redacted = null;
    for (const stream of STREAMS) {
      const rest = redacted?.[stream].end();
      if (rest !== undefined && rest.byteLength > 0) this.#keep(stream, Buffer.from(rest));
    }
    this.#file?.end();
    this.#early = [];
  }

  /** Without a file, for example on a full disk, the command continues: memory has the head and tail. */
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

function linesIn(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) count++;
  return count;
}
