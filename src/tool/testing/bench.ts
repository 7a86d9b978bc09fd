/** For tests only: tools in a temporary folder, called as a process calls them. */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { CallEnd } from "../../abi/call-note.ts";
import { type Act, type Caller, type Device, O_RDWR, type WritePlan } from "../../abi/device.ts";
import type { PermissionView } from "../../abi/effects.ts";
import { asCallId, asPid, asProcUuid } from "../../abi/ids.ts";
import type { ToolFrame, ToolResult } from "../../abi/tool.ts";
import { toolDevice } from "../device.ts";
import type { Scope, Tool } from "../tool.ts";
import { LooseTracker } from "../tracker.ts";
import { BenchSys, type World } from "./bench-sys.ts";

export const CALL_ID = asCallId("c_81f2");

/** A temporary folder, a process that works in it, and the tools as that process sees them. */
export class Bench implements World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "crux-tool-")));
  readonly ended = new AbortController();
  readonly logs: string[] = [];
  readonly crux: World["crux"] = new Map();
  /** The note of the last call. */
  note: CallEnd & { about?: string } = {};
  asked: World["asked"] = [];
  shell: World["shell"] = async () => ({});
  pdf: World["pdf"] = () => ({ pages: 0, texts: [] });
  other: World["other"] = (path) => {
    throw new Error(`not there: ${path}`);
  };
  before: World["before"] = () => {};
  caller: Caller;
  readonly device: Device;

  constructor(tools: readonly Tool[]) {
    this.device = toolDevice(tools, { now: () => 1000 });
    this.caller = {
      pid: asPid(1),
      uuid: asProcUuid(randomUUID()),
      cwd: this.root,
      env: {},
      signal: this.ended.signal,
      roots: [this.root],
      log: (_level, message) => void this.logs.push(message),
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  put(path: string, content: string | Uint8Array): string {
    const at = join(this.root, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, content);
    return at;
  }

  get(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  async plan(tool: string, args: unknown): Promise<WritePlan> {
    const file = await this.device.open(`/${tool}`, O_RDWR, this.caller);
    return (await file.plan?.(encode(args))) as WritePlan;
  }

  /** A whole call: open, plan, prepare, write, read to the end, close. `args` given as text is sent unchanged. */
  async call(
    tool: string,
    args: unknown,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ToolResult> {
    const file = await this.device.open(`/${tool}`, O_RDWR, this.caller);
    const data = encode(args);
    const plan = (await file.plan?.(data)) as WritePlan;
    const act: Act = { signal, callId: CALL_ID, sys: new BenchSys(this, plan.effects) };
    await file.write(data, act);
    this.note = { about: plan.about ?? "", ...file.ending?.() };
    const chunks: Uint8Array[] = [];
    for (;;) {
      const chunk = await file.read(1000, new AbortController().signal);
      if (chunk.byteLength === 0) break;
      chunks.push(chunk);
    }
    await file.close();
    const frames = Buffer.concat(chunks).toString("utf8").trimEnd().split("\n");
    const last = JSON.parse(frames.at(-1) ?? "") as ToolFrame;
    if (last.type !== "result") throw new Error("the last frame is no result");
    return last.result;
  }

  /** Like `call`, for calls that succeed: returns the text. */
  async text(tool: string, args: unknown): Promise<string> {
    const result = await this.call(tool, args);
    if (!result.ok) throw new Error(textOf(result));
    return textOf(result);
  }

  /** `prepare` as the gate runs it: with the read effects only. */
  async prepare(tool: string, args: unknown): Promise<PermissionView | undefined> {
    const plan = await this.plan(tool, args);
    return plan.prepare?.(
      new BenchSys(
        this,
        plan.effects.filter((effect) => effect.kind === "read"),
      ),
    );
  }
}

/** A scope with neutral values. */
export function testScope(cwd: string): Scope {
  return {
    cwd,
    roots: [cwd],
    tracker: new LooseTracker(),
    mode: "default",
    interactive: false,
    isSession: false,
    modelName: "",
    env: {},
    modelDevice: "/dev/llm/test",
    supportsImages: false,
  };
}

export function textOf(result: ToolResult): string {
  return result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function encode(args: unknown): Uint8Array {
  return Buffer.from(typeof args === "string" ? args : JSON.stringify(args));
}
