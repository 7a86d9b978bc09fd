/** An open tool: idle, running one call, or holding its result until that is read to the end. */
import type { Act, Caller, FileStat, OpenFile, WritePlan } from "../abi/device.ts";
import { codeOf, Fault, messageOf } from "../abi/errors.ts";
import type { Sys } from "../abi/sys.ts";
import type { ToolFrame, ToolResult } from "../abi/tool.ts";
import { abortable, linkSignals } from "../lib/abort.ts";
import { decodeArguments } from "./arguments.ts";
import { permissionView } from "./dialog.ts";
import { failure } from "./failure.ts";
import { failureResult, toResult } from "./result.ts";
import type { Call, RunContext, Scope, Tool } from "./tool.ts";
import type { FileTracker } from "./tracker.ts";

type State =
  | { kind: "idle" }
  /** Owned by the write that started it; never rejects. */
  | { kind: "running"; frames: Promise<Buffer> }
  /** `at`: bytes already read. */
  | { kind: "done"; frames: Buffer; at: number };

export class CallFile implements OpenFile {
  readonly #tool: Tool;
  readonly #stat: FileStat;
  readonly #caller: Caller;
  readonly #scope: Scope;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  #state: State = { kind: "idle" };

  constructor(tool: Tool, stat: FileStat, caller: Caller, tracker: FileTracker, now: () => number) {
    this.#tool = tool;
    this.#stat = stat;
    this.#caller = caller;
    this.#scope = { cwd: caller.cwd, roots: caller.roots, tracker };
    this.#now = now;
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
      parallel: call.parallel,
      ...(prepare && {
        prepare: (sys: Sys) => prepare({ ...this.#scope, sys, signal: this.#caller.signal }),
      }),
    };
  }

  async write(data: Uint8Array, act: Act): Promise<void> {
    this.#refuseUnread();
    if (this.#closing.signal.aborted) throw failure("CANCELLED", "the file was closed");
    const call = this.#bind(data);
    const running = this.#perform(call, act);
    const frames = running.then(encodeResult);
    this.#state = { kind: "running", frames };
    this.#state = { kind: "done", frames: await frames, at: 0 };
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    if (this.#state.kind === "running") await abortable(this.#state.frames, signal);
    const state = this.#state;
    if (this.#closing.signal.aborted) throw failure("CANCELLED", "the file was closed");
    if (state.kind !== "done") throw failure("INVALID", `${this.#tool.name}: nothing was written yet`);
    const chunk = state.frames.subarray(state.at, state.at + length);
    state.at += chunk.byteLength;
    return chunk;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#state.kind === "running") await this.#state.frames;
    this.#state = { kind: "idle" };
  }

  async stat(): Promise<FileStat> {
    return this.#stat;
  }

  #refuseUnread(): void {
    const state = this.#state;
    const unread = state.kind === "running" || (state.kind === "done" && state.at < state.frames.byteLength);
    if (unread) throw failure("CONFLICT", `${this.#tool.name}: the last result has not been read`);
  }

  #bind(data: Uint8Array): Call {
    return this.#tool.bind(decodeArguments(this.#tool.name, data), this.#scope);
  }

  /** Never rejects. */
  async #perform(call: Call, act: Act): Promise<ToolResult> {
    const { signal: ended, pid } = this.#caller;
    // a call that must not stop half way ends only with its process
    const stops = this.#tool.interrupt === "block" ? [ended] : [ended, act.signal, this.#closing.signal];
    using linked = linkSignals(...stops);
    const { sys, callId } = act;
    const context: RunContext = { ...this.#scope, sys, signal: linked.signal, pid, callId, now: this.#now };
    try {
      return await toResult(this.#tool, await call.run(context), context);
    } catch (error) {
      this.#report(error);
      return failureResult(error);
    }
  }

  /** A bug of the tool: the model is told in one line, its place goes to the log. */
  #report(error: unknown): void {
    if (error instanceof Fault || codeOf(error) !== "INTERNAL") return;
    const place = error instanceof Error ? (error.stack?.split("\n")[1]?.trim() ?? "") : "";
    this.#caller.log("error", `tool ${this.#tool.name} failed: ${messageOf(error)} ${place}`.trim());
  }
}

function encodeResult(result: ToolResult): Buffer {
  const frame: ToolFrame = { type: "result", result };
  return Buffer.from(`${JSON.stringify(frame)}\n`);
}
