/**
 * Calls the model. Each attempt is one gated write, then reads; a retry is another write, so that all spending is
 * accounted for.
 */
import type { Fd } from "../../abi/ids.ts";
import type { Block, LlmErrorKind, LlmRequest, Reply } from "../../abi/llm.ts";
import { findLlmError } from "../../abi/llm-error.ts";
import type { Sys } from "../../abi/sys.ts";
import { ABORTED } from "../../lib/abort.ts";
import type { ModelInUse } from "./in-use.ts";
import { ReplyReader } from "./reply.ts";
import { encodedRequest } from "./request.ts";
import { decideRetry, malformedWords } from "./retry.ts";

const MODEL_READ_BYTES = 65_536;
/** So many broken streams in a row, and one complete answer is asked for, once, of at most so many tokens. */
const MAX_BREAKS = 2;
const WHOLE_OUTPUT_TOKENS = 8_000;

interface Asked {
  readonly request: LlmRequest;
  readonly maxRetries: number;
  /** Whether any request of this process was answered before. */
  readonly hasSucceeded: boolean;
  /** Whether another model may answer in its place. */
  readonly hasFallback: boolean;
  /** Called for each attempt, whose calls may begin before the end of the reply. */
  readonly coming?: ((reader: ReplyReader) => Coming) | undefined;
}

/** Takes a reply as it comes. */
interface Coming {
  take(blocks: readonly Block[]): void;
  end(reply: Reply): void;
  /** true: the blocks so far are the reply. */
  breaks(error: unknown): boolean;
}

export type Answer =
  | { readonly kind: "reply"; readonly reply: Reply }
  | { readonly kind: "fallback"; readonly error: unknown; readonly cause: LlmErrorKind };

/**
 * Retries as `decideRetry` decides; each wait is logged. Rejects with the last failure, as the system call threw it.
 */
export async function askModel(sys: Sys, model: ModelInUse, asked: Asked): Promise<Answer> {
  const { request, coming, ...given } = asked;
  let [alike, words, overloads] = [0, "", 0];
  let [breaks, hasAskedWhole] = [0, false];
  for (let failures = 1; ; failures++) {
    sys.ending.throwIfAborted();
    const isWhole = coming !== undefined && breaks >= MAX_BREAKS && !hasAskedWhole;
    hasAskedWhole ||= isWhole;
    try {
      const reply = await attempt(sys, model, isWhole ? { ...asked, request: wholeOf(request) } : asked);
      return { kind: "reply", reply };
    } catch (error) {
      sys.ending.throwIfAborted();
      const wrong = malformedWords(error);
      alike = wrong === undefined ? 0 : wrong === words ? alike + 1 : 1;
      words = wrong ?? "";
      breaks = isBroken(error) ? breaks + 1 : 0;
      overloads = findLlmError(error)?.kind === "overloaded" ? overloads + 1 : 0;
      const state = { ...given, failures, alike, overloads, random: sys.random() };
      const decision = decideRetry(error, state);
      if (decision.kind === "fail") throw decision.error;
      if (decision.kind === "fallback") return decision;
      sys.retries(decision.retry);
      await sys.delay(decision.retry.delayMs, sys.ending);
      await sys.waitIfPaused();
    }
  }
}

async function attempt(sys: Sys, { fd, device }: ModelInUse, asked: Asked): Promise<Reply> {
  const { request, coming: come } = asked;
  const reader = new ReplyReader(device);
  const coming = come?.(reader);
  try {
    const bytes = encodedRequest(request);
    if (coming === undefined) await sys.write(fd, bytes, sys.ending);
    else await written(sys, { fd, bytes }, (part) => coming.take(reader.feed(part)));
    while (!reader.isOver) {
      const part = await sys.read(fd, MODEL_READ_BYTES, sys.ending);
      if (part.byteLength === 0) break;
      const blocks = reader.feed(part);
      coming?.take(blocks);
    }
    const reply = reader.reply();
    coming?.end(reply);
    return reply;
  } catch (error) {
    if (coming?.breaks(error) !== true) throw error;
    coming.take(await blocksLeft(sys, fd, reader));
    return reader.part();
  }
}

function wholeOf(request: LlmRequest): LlmRequest {
  return { ...request, whole: true, maxOutputTokens: Math.min(request.maxOutputTokens, WHOLE_OUTPUT_TOKENS) };
}

function isBroken(error: unknown): boolean {
  const kind = findLlmError(error)?.kind;
  return kind === "stream_malformed" || kind === "stream_stalled";
}

/** Writes a request, and reads the parts of its reply that are worth it before the write is over. */
async function written(
  sys: Sys,
  { fd, bytes }: { readonly fd: Fd; readonly bytes: Uint8Array },
  take: (part: Uint8Array) => void,
): Promise<void> {
  const over = new AbortController();
  const writing = sys.write(fd, bytes, sys.ending).finally(() => over.abort(ABORTED));
  // its failure is thrown below, once nothing else of the file is in progress
  writing.catch(() => {});
  try {
    while (await sys.ahead(fd, over.signal)) take(await sys.read(fd, MODEL_READ_BYTES, sys.ending));
  } finally {
    await writing.catch(() => {});
  }
  await writing;
}

/** The whole blocks of a broken reply that were not read yet. */
async function blocksLeft(sys: Sys, fd: Fd, reader: ReplyReader): Promise<Block[]> {
  const blocks: Block[] = [];
  try {
    for (;;) {
      const part = await sys.read(fd, MODEL_READ_BYTES, sys.ending);
      if (part.byteLength === 0) return blocks;
      blocks.push(...reader.feed(part));
    }
  } catch {
    // after what has come, the read fails as the attempt did
    return blocks;
  }
}
