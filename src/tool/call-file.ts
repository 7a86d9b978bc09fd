/** An open tool: idle, running one call, or holding its result until that has been read to the end. */

import type { CallEnd } from "../abi/call-note.ts";
import type { Act, Caller, FileStat, OpenFile, WritePlan } from "../abi/device.ts";
import type { PermissionView } from "../abi/effects.ts";
import { codeOf, Fault, messageOf } from "../abi/errors.ts";
import type { Said } from "../abi/sentence.ts";
import type { SkillsInReach } from "../abi/skill.ts";
import type { Syscalls } from "../abi/sys.ts";
import type { Progress, ToolFrame, ToolResult } from "../abi/tool.ts";
import { ABORTED, abortable, linkSignals } from "../lib/abort.ts";
import { decodeArguments } from "./arguments.ts";
import { endLine, fitBudget } from "./budget.ts";
import { failure } from "./failure.ts";
import { type ProgressClock, ProgressFeed } from "./progress.ts";
import { countLines } from "./text.ts";
import type { BackgroundRule, Dialog, Outcome, ParsedCall, RunContext, Scope, Tool } from "./tool.ts";
import type { FileTracker } from "./tracker.ts";

type State =
  | { kind: "idle" }
  /** `over` belongs to the write that started the call; it never rejects. */
  | { kind: "running"; over: Promise<void>; feed: ProgressFeed }
  | { kind: "done" };

interface CallDeps {
  /** Wall clock, ms. */
  now(): number;
  readonly clock: ProgressClock;
  /** Tracks the files that the caller has seen. */
  readonly tracker: FileTracker;
  readonly background?: BackgroundRule;
  /** The skills in reach of the caller, for a tool that wants them. */
  readonly skills?: SkillsInReach;
}

/** A tool, and the stat of its file. */
interface OpenedTool {
  readonly tool: Tool;
  readonly stat: FileStat;
}

export class CallFile implements OpenFile {
  readonly #tool: Tool;
  readonly #stat: FileStat;
  readonly #caller: Caller;
  readonly #scope: Scope;
  readonly #deps: CallDeps;
  readonly #closing = new AbortController();
  #state: State = { kind: "idle" };
  #ending: CallEnd = {};
  /** The unread rest of a progress frame or of the result. */
  #unread: Uint8Array = new Uint8Array();

  constructor({ tool, stat }: OpenedTool, caller: Caller, deps: CallDeps) {
    this.#tool = tool;
    this.#stat = stat;
    this.#caller = caller;
    this.#scope = scopeOf(caller, deps);
    this.#deps = deps;
  }

  plan(data: Uint8Array): WritePlan {
    this.#refuseUnread();
    const call = this.#bind(data);
    const { prepare } = call;
    return {
      effects: call.effects,
      effectClass: call.effectClass,
      view: permissionView(this.#tool.name, call.view),
      tool: this.#tool.name,
      about: call.about,
      parallel: call.parallel,
      ...(call.readOnly && { readOnly: true }),
      ...(prepare && {
        prepare: async (sys: Syscalls) => {
          const dialog = await prepare({ ...this.#scope, sys, signal: this.#caller.signal });
          return dialog && permissionView(this.#tool.name, dialog);
        },
      }),
    };
  }

  async write(data: Uint8Array, act: Act): Promise<void> {
    this.#refuseUnread();
    if (this.#closing.signal.aborted) throw failure("CANCELLED", "the file was closed");
    const call = this.#bind(data);
    const feed = new ProgressFeed(this.#deps.clock, ({ output }) => {
      if (typeof output === "string") act.printed?.(output);
    });
    const over = this.#perform(call, act, feed).then((result) => {
      feed.end();
      this.#state = { kind: "done" };
      // a reader that has the first part of a frame gets the rest of it before the result
      this.#unread = Buffer.concat([this.#unread, encodeResult(result)]);
    });
    this.#state = { kind: "running", over, feed };
    await over;
  }

  /** A progress frame if one is due, otherwise the result; waits for either. */
  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    while (this.#state.kind === "running" && this.#unread.byteLength === 0) {
      const { feed, over } = this.#state;
      const due = feed.take();
      if (due !== null) this.#unread = due;
      else await abortable(Promise.race([feed.changed, over]), signal);
    }
    if (this.#closing.signal.aborted) throw failure("CANCELLED", "the file was closed");
    if (this.#state.kind === "idle") throw failure("INVALID", `${this.#tool.name}: nothing was written yet`);
    const chunk = this.#unread.subarray(0, length);
    this.#unread = this.#unread.subarray(chunk.byteLength);
    return chunk;
  }

  async close(): Promise<void> {
    this.#closing.abort(ABORTED);
    if (this.#state.kind === "running") await this.#state.over;
    this.#state = { kind: "idle" };
    this.#unread = new Uint8Array();
  }

  async stat(): Promise<FileStat> {
    return this.#stat;
  }

  ending(): CallEnd {
    return this.#ending;
  }

  #refuseUnread(): void {
    if (this.#state.kind === "running" || this.#unread.byteLength > 0)
      throw failure("CONFLICT", `${this.#tool.name}: the last result has not been read`);
  }

  #bind(data: Uint8Array): ParsedCall {
    return this.#tool.bind(decodeArguments(this.#tool.name, data), this.#scope);
  }

  /** Never rejects. */
  async #perform(call: ParsedCall, act: Act, feed: ProgressFeed): Promise<ToolResult> {
    const { signal: ended, pid } = this.#caller;
    // a call that must not be interrupted ends early only with its process
    const stops = this.#tool.interrupt === "block" ? [ended] : [ended, act.signal, this.#closing.signal];
    using linked = linkSignals(...stops);
    const { sys, callId } = act;
    const { now } = this.#deps;
    const progress = (told: Progress): void => feed.tell(told);
    const context: RunContext = { ...this.#scope, sys, signal: linked.signal, pid, callId, now, progress };
    try {
      const outcome = await call.run(context);
      this.#ending = endOf(outcome);
      return await toResult(this.#tool, outcome, context);
    } catch (error) {
      this.#report(error);
      this.#ending = { error: messageOf(error) };
      return failureResult(error);
    }
  }

  /** A bug of the tool: the model gets one line about it, its location goes to the log. */
  #report(error: unknown): void {
    if (error instanceof Fault || codeOf(error) !== "INTERNAL") return;
    const place = error instanceof Error ? (error.stack?.split("\n")[1]?.trim() ?? "") : "";
    this.#caller.log("error", `tool ${this.#tool.name} failed: ${messageOf(error)} ${place}`.trim());
  }
}

function scopeOf(caller: Caller, { tracker, skills, background }: CallDeps): Scope {
  const {
    cwd,
    env,
    roots,
    mode = "default",
    interactive = false,
    isSession = false,
    model,
    kept,
    forksUnnamed = false,
  } = caller;
  const { device: modelDevice = "", name: modelName = "", supportsImages = false } = model ?? {};
  const known = {
    cwd,
    env,
    roots,
    tracker,
    mode,
    interactive,
    isSession,
    forksUnnamed,
    modelDevice,
    modelName,
    supportsImages,
    ...(kept === undefined ? {} : { kept }),
    ...(background === undefined ? {} : { background }),
  };
  return skills === undefined ? known : { ...known, skills };
}

function endOf({ facts, error }: Outcome): CallEnd {
  return { ...(facts && { facts }), ...(error && { error: error.message }) };
}

function encodeResult(result: ToolResult): Buffer {
  const frame: ToolFrame = { type: "result", result };
  return Buffer.from(`${JSON.stringify(frame)}\n`);
}

/** Limits of the dialog text. It is made safe to show: nothing hidden, reordered or unbounded. */
const MAX_CHARS = 4000;
const MAX_OPERATION_CHARS = 300;

function permissionView(tool: string, dialog: Dialog): PermissionView {
  const warnings: Said[] = [...(dialog.warnings ?? [])];
  const show = (name: string, text: string) => {
    const escaped = escapeHidden(text);
    if (escaped.length > MAX_CHARS) warnings.push({ kind: "shown_in_part", name, characters: text.length });
    return cutMiddle(escaped, MAX_CHARS);
  };
  const params = Object.fromEntries(
    Object.entries(dialog.params)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, isListed(value) ? show(name, listed(value)) : value]),
  );
  const diff = dialog.diff === undefined ? {} : { diff: show("diff", dialog.diff) };
  return {
    tool,
    operation: cutMiddle(escapeHidden(dialog.operation).replaceAll(/[\n\t]+/g, " "), MAX_OPERATION_CHARS),
    params,
    ...diff,
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Texts, and what holds texts. */
function isListed(value: unknown): value is string | object {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/** One entry a line; an empty list is an empty text. */
function listed(value: string | object): string {
  if (typeof value === "string") return value;
  const entries = Array.isArray(value)
    ? value.map((each: unknown) => (typeof each === "string" ? each : JSON.stringify(each)))
    : Object.entries(value).map(([name, each]) => `${name}=${JSON.stringify(each)}`);
  return entries.join("\n");
}

/** Control and format characters (bidirectional ones among them) as `\u{…}`; newline and tab stay. */
function escapeHidden(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    char === "\n" || char === "\t" ? char : `\\u{${char.codePointAt(0)?.toString(16)}}`,
  );
}

/** Keeps both ends: the important part may be last. Cuts at line ends unless the lines are too long for that. */
function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const room = Math.floor(max / 2) - 20;
  const head = text.slice(0, text.lastIndexOf("\n", room) + 1);
  const tail = text.slice(text.indexOf("\n", text.length - 1 - room) + 1);
  if (head.length > room / 2 && tail.length > room / 2 && tail.length <= room) {
    const left = countLines(text.slice(head.length, text.length - tail.length));
    return `${head.toWellFormed()}… ${left} lines more …\n${tail.toWellFormed()}`;
  }
  const half = Math.floor(max / 2) - 5;
  return `${text.slice(0, half).toWellFormed()} [...] ${text.slice(-half).toWellFormed()}`;
}

/** The failure of a call, returned as data: what failed, the present state, and what to try next. */
type Failure = NonNullable<ToolResult["error"]>;

async function toResult(tool: Tool, outcome: Outcome, context: RunContext): Promise<ToolResult> {
  const { text, truncated } = await fitBudget(tool, outcome, context);
  const last = outcome.error === undefined ? outcome.status : failureText(outcome.error);
  return {
    ok: outcome.error === undefined,
    content: [
      { type: "text", text: last === undefined ? text : `${endLine(text)}${last}` },
      ...(outcome.media ?? []),
    ],
    ...(outcome.meta && { meta: outcome.meta }),
    ...(outcome.error && { error: outcome.error }),
    ...(truncated && { truncated }),
  };
}

/** The result for a thrown error. Anything but a documented error is a bug and counts as INTERNAL. */
function failureResult(error: unknown): ToolResult {
  const hint = error instanceof Fault ? error.hint : undefined;
  const failed: Failure = { code: codeOf(error), message: messageOf(error), ...(hint && { hint }) };
  return { ok: false, content: [{ type: "text", text: failureText(failed) }], error: failed };
}

function failureText(failed: Failure): string {
  const line = `Error [${failed.code}]: ${failed.message}`;
  return failed.hint === undefined ? line : `${line}\n${failed.hint}`;
}
