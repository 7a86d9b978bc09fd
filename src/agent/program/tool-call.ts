/** One call of a tool: open its file, write the arguments, read the result, close. Every failure is a result. */
import type { ViewWish } from "../../abi/context.ts";
import { O_RDWR } from "../../abi/device.ts";
import type { ErrorCode } from "../../abi/errno.ts";
import { codeOf, Fault, isMalformedCall, messageOf } from "../../abi/errors.ts";
import type { Fd } from "../../abi/ids.ts";
import { findUnattendedRefusal, type Refusal } from "../../abi/refusal.ts";
import type { Sys } from "../../abi/sys.ts";
import { isMedia, isText, type MediaPart, type ToolFrame, type ToolResult } from "../../abi/tool.ts";
import { readLines } from "./read.ts";

const TOOL_READ_BYTES = 1_048_576;

export interface CallResult {
  readonly content: string;
  readonly isError: boolean;
  /** Images and other media for the model, placed after the text. */
  readonly media?: readonly MediaPart[];
  /** The call left a command running in the background. */
  readonly hasJob?: true;
  /** The call left an agent working in the background. */
  readonly hasAgent?: true;
  /** What the call asks of the view of its own conversation. */
  readonly wish?: ViewWish;
  /** By the call a member of a team has agreed to end. */
  readonly leaves?: true;
  /** The gate refused the call, and nobody was attached to approve it. */
  readonly refused?: Refusal;
  /** Set for a call that its tool does not accept: what was wrong, worded the same for the same mistake. */
  readonly malformed?: string;
}

export const NOT_STARTED: CallResult = { content: "cancelled before it started", isError: true };
const INTERRUPTED: CallResult = {
  content: "interrupted while running, effects may be partial",
  isError: true,
};

/** Calls a program under /bin. Never rejects. A result that arrived before an abort is returned. */
export function callTool(sys: Sys, name: string, input: object): Promise<CallResult> {
  return callFile(sys, `/bin/${name}`, async (fd) => render(name, await exchange(sys, fd, input)));
}

/** Opens the file, calls `act`, closes the file. Never rejects. */
export async function callFile(
  sys: Sys,
  path: string,
  act: (fd: Fd) => Promise<CallResult>,
): Promise<CallResult> {
  let fd: Fd | undefined;
  try {
    fd = await sys.open(path, O_RDWR, sys.ending);
    if (sys.ending.aborted) return NOT_STARTED;
    return await act(fd);
  } catch (error) {
    if (sys.ending.aborted) return fd === undefined ? NOT_STARTED : INTERRUPTED;
    if (fd === undefined)
      sys.called({ tool: path.slice(path.lastIndexOf("/") + 1), about: "", error: messageOf(error) });
    const result = failure(codeOf(error), messageOf(error), error instanceof Fault ? error.hint : undefined);
    if (isMalformedCall(error)) return { ...result, malformed: messageOf(error) };
    const refused = findUnattendedRefusal(error);
    return refused === undefined ? result : { ...result, refused };
  } finally {
    // closing fails if the handle was revoked or the process has ended; the kernel closes those fds itself
    if (fd !== undefined) await sys.close(fd).catch(() => undefined);
  }
}

/** The result of a failed call as the model reads it: what is wrong, then what to do. */
export function failure(code: ErrorCode, message: string, hint?: string): CallResult {
  return { content: `Error [${code}]: ${message}${hint === undefined ? "" : `\n${hint}`}`, isError: true };
}

/** The result of a malformed call. The words for a mistake must not vary: they are counted, and replayed. */
export function malformed(words: string, hint?: string): CallResult {
  return { ...failure("INVALID", words, hint), malformed: words };
}

async function exchange(sys: Sys, fd: Fd, input: object): Promise<ToolResult | undefined> {
  const signal = sys.ending;
  await sys.write(fd, new TextEncoder().encode(JSON.stringify(input)), signal);
  const isLast = (line: string) => findResult(line) !== undefined;
  const lines = await readLines(sys, fd, TOOL_READ_BYTES, isLast, signal);
  return lines.map(findResult).findLast((result) => result !== undefined);
}

function findResult(line: string): ToolResult | undefined {
  try {
    const frame = JSON.parse(line) as ToolFrame | null;
    return frame?.type === "result" ? frame.result : undefined;
  } catch {
    return undefined;
  }
}

/** Programs whose results the loop completes. */
const WISHING: ReadonlySet<string> = new Set(["context", "pin", "snip"]);
/** The call left an agent that works on. */
const LAUNCHED: ReadonlySet<unknown> = new Set(["async_launched", "teammate_spawned"]);

function render(name: string, result: ToolResult | undefined): CallResult {
  if (result === undefined) return failure("INTERNAL", `${name} gave no result`);
  const content = result.content
    .filter(isText)
    .map(({ text }) => text)
    .join("\n");
  const media = result.content.filter(isMedia);
  const shown = {
    ...(media.length === 0 ? {} : { media }),
    ...(result.meta?.background === true ? { hasJob: true as const } : {}),
    ...(WISHING.has(name) && result.meta?.view !== undefined ? { wish: result.meta.view as ViewWish } : {}),
    ...(result.meta?.status === "leaving" ? { leaves: true as const } : {}),
    ...(LAUNCHED.has(result.meta?.status) ? { hasAgent: true as const } : {}),
  };
  if (result.ok) return { content: content === "" ? "(no output)" : content, isError: false, ...shown };
  if (content !== "" || result.error === undefined)
    return { content: content || `${name} failed`, isError: true };
  return failure(result.error.code, result.error.message, result.error.hint);
}
