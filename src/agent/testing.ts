/** For tests: a process whose model is a script, whose tools are functions and whose clock is virtual. */
import type { AgentInfo, AgentManifest } from "../abi/agent.ts";
import { DriverError, Fault, VfsError } from "../abi/errors.ts";
import { asCtxId, asFd, asPid, type Fd } from "../abi/ids.ts";
import { type Block, type LlmRequest, type Reply, type StreamEvent, totalTokens } from "../abi/llm.ts";
import type { Activity, ExitStatus } from "../abi/process.ts";
import type { Clock, ProgramContext } from "../abi/program.ts";
import type { ContextMessage, Sys } from "../abi/sys.ts";
import type { ToolResult } from "../abi/tool.ts";
import type { AgentFiles } from "./files.ts";
import { type AgentOptions, agentProgram } from "./loop.ts";

export type Answer = Reply | Error | ((request: LlmRequest) => Reply | Error);

export interface FakeTool {
  readonly parallel?: boolean;
  run(input: unknown, signal: AbortSignal): ToolResult | Promise<ToolResult>;
}

export interface FakeOptions {
  readonly answers: readonly Answer[];
  readonly tools?: Readonly<Record<string, FakeTool>>;
  readonly agent?: AgentInfo | null;
  readonly systemPrompt?: string;
  readonly maxSteps?: number;
  readonly budget?: number;
  /** The process is ended before this system call, from 1. */
  readonly abortAtCall?: number;
  /** From then on its handle does nothing, as after KILL. */
  readonly revokeOnAbort?: boolean;
  readonly program?: Partial<AgentOptions>;
}

const MODEL_FD = asFd(3);
export const MODEL_DEVICE = "/dev/llm/fake";

export class FakeProcess {
  readonly messages: ContextMessage[] = [{ role: "user", content: "do it" }];
  readonly requests: LlmRequest[] = [];
  /** `Open /bin/view`, `Write 4`, `Read 4 1048576` … */
  readonly trace: string[] = [];
  readonly logs: string[] = [];
  readonly steps: number[] = [];
  readonly activities: Activity[] = [];
  readonly sleeps: number[] = [];
  readonly openFds = new Set<Fd>();
  readonly context: ProgramContext;
  result = "";
  used = 0;
  calls = 0;
  readonly #options: FakeOptions;
  readonly #abort = new AbortController();
  readonly #answers: Answer[];
  readonly #unread = new Map<Fd, Uint8Array>();
  readonly #tools = new Map<Fd, FakeTool>();
  #nextFd = 4;
  #mono = 0;

  constructor(options: FakeOptions) {
    this.#options = options;
    this.#answers = [...options.answers];
    this.context = this.#makeContext();
  }

  run(): Promise<ExitStatus> {
    return agentProgram({ platform: "linux", random: () => 0.5, ...this.#options.program })(this.context);
  }

  end(): void {
    this.#abort.abort();
  }

  #makeContext(): ProgramContext {
    const { agent = null, maxSteps = 0, budget = 0 } = this.#options;
    return {
      sys: this.#makeSys(),
      pid: asPid(1),
      ctxId: asCtxId(1),
      intent: "do it",
      agent,
      cwd: "/home/ada/project",
      modelFd: MODEL_FD,
      modelDevice: MODEL_DEVICE,
      model: "",
      maxSteps,
      signal: this.#abort.signal,
      clock: this.#makeClock(),
      input: null,
      mounts: [],
      restored: null,
      checkpoint: () => {},
      unit: (act) => act(),
      waitIfPaused: async () => this.#abort.signal.throwIfAborted(),
      account: () => ({ limit: budget, used: this.used, reserved: 0 }),
      onStep: (step) => this.steps.push(step),
      setActivity: (activity) => this.activities.push(activity),
      setResult: (text) => {
        this.result = text;
      },
      log: (_level, message) => this.logs.push(message),
    };
  }

  #makeClock(): Clock {
    return {
      now: () => Date.UTC(2026, 10, 21, 12),
      mono: () => this.#mono,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        this.sleeps.push(ms);
        this.#mono += ms;
      },
    };
  }

  #makeSys(): Sys {
    const refused = async (): Promise<never> => {
      throw new Error("not part of this fake");
    };
    return {
      getPid: () => asPid(1),
      spawn: refused,
      kill: refused,
      wait: refused,
      listProcs: refused,
      exit: refused,
      reap: refused,
      ctxAlloc: refused,
      ctxRead: refused,
      ctxWrite: refused,
      ctxFree: refused,
      setSystemPrompt: refused,
      signal: refused,
      sigBlock: refused,
      sigUnblock: refused,
      sigHandle: refused,
      joinGroup: refused,
      leaveGroup: refused,
      getProcGroup: refused,
      signalGroup: refused,
      send: refused,
      recv: refused,
      pipe: refused,
      spawnThread: refused,
      joinThread: refused,
      cancelThread: refused,
      listThreads: refused,
      spawnCoroutine: refused,
      resumeCoroutine: refused,
      cancelCoroutine: refused,
      spawnSupervisor: refused,
      mount: refused,
      unmount: refused,
      unmountAll: refused,
      open: (path, flags, signal) => this.#call(`Open ${path} ${flags}`, signal, () => this.#open(path)),
      read: (fd, length, signal) => this.#call(`Read ${fd} ${length}`, signal, () => this.#read(fd, length)),
      write: (fd, bytes, signal) =>
        this.#call(`Write ${fd}`, signal, () => this.#write(fd, bytes, signal ?? this.#abort.signal)),
      close: (fd) =>
        this.#call(`Close ${fd}`, undefined, () => {
          this.openFds.delete(fd);
        }),
      stat: (path) =>
        this.#call(`Stat ${path}`, undefined, () => {
          const { name, tool } = this.#find(path, "Stat");
          const parallel = tool.parallel ?? false;
          const face = { name, description: `${name}.`, inputSchema: { type: "object" }, parallel };
          return {
            name,
            size: 0,
            isDevice: true,
            devicePath: "/bin",
            tool: { ...face, maxResultChars: 100_000 },
          };
        }),
      appendMessage: (_cid, role, content, blocks) =>
        this.#call(`AppendMessage ${role}`, undefined, () => {
          this.messages.push({ role, content, ...(blocks && { blocks }) });
        }),
      appendToolResult: (_cid, id, content, isError) =>
        this.#call(`AppendToolResult ${id}`, undefined, () => {
          this.messages.push({ role: "tool", content, tool_call_id: id, ...(isError && { is_error: true }) });
        }),
      buildPrompt: () =>
        this.#call("BuildPrompt", undefined, () => ({
          systemPrompt: this.#options.systemPrompt ?? "",
          messages: [...this.messages],
        })),
    };
  }

  async #call<T>(name: string, signal: AbortSignal | undefined, act: () => T | Promise<T>): Promise<T> {
    this.calls++;
    this.trace.push(name);
    if (this.calls === this.#options.abortAtCall) this.#abort.abort();
    if (signal?.aborted || (this.#options.revokeOnAbort && this.#abort.signal.aborted)) throw cancelled(name);
    return await act();
  }

  #find(path: string, op: string): { name: string; tool: FakeTool } {
    const name = path.replace("/bin/", "");
    const tool = this.#options.tools?.[name];
    if (tool === undefined)
      throw fault(op, new DriverError({ code: "NOT_FOUND", op, message: missing(name) }));
    return { name, tool };
  }

  #open(path: string): Fd {
    const { tool } = this.#find(path, "Open");
    const fd = asFd(this.#nextFd++);
    this.openFds.add(fd);
    this.#tools.set(fd, tool);
    return fd;
  }

  async #write(fd: Fd, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const tool = this.#tools.get(fd);
    if (tool === undefined) return this.#answer(value as LlmRequest);
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(cancelled("Write")), { once: true });
    });
    const result = await Promise.race([tool.run(value, signal), aborted]);
    this.#unread.set(fd, encodeLines([{ type: "result", result }]));
  }

  #answer(request: LlmRequest): void {
    this.requests.push(request);
    const next = this.#answers.shift();
    if (next === undefined) throw new Error("the script of the fake model is at its end");
    const answer = typeof next === "function" ? next(request) : next;
    if (answer instanceof Error) throw answer instanceof Fault ? fault("Write", answer) : answer;
    this.used += totalTokens(answer.usage);
    this.#unread.set(MODEL_FD, encodeLines(eventsOf(answer)));
  }

  #read(fd: Fd, length: number): Uint8Array {
    const unread = this.#unread.get(fd) ?? new Uint8Array();
    this.#unread.set(fd, unread.slice(length));
    return unread.slice(0, length);
  }
}

export function reply(blocks: readonly Block[] | string, more: Partial<Reply> = {}): Reply {
  const list: readonly Block[] = typeof blocks === "string" ? [{ type: "text", text: blocks }] : blocks;
  const usage = {
    input_tokens: 80,
    output_tokens: 20,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  const stopReason = list.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn";
  return { id: "m1", model: "fake-1", blocks: [...list], stopReason, usage, ...more };
}

export function call(
  name: string,
  input: unknown = {},
  id = `id-${name}`,
): Extract<Block, { type: "tool_use" }> {
  return { type: "tool_use", id, name, input };
}

export function says(text: string, parallel = false): FakeTool {
  return { parallel, run: () => ({ ok: true, content: [{ type: "text", text }] }) };
}

export function eventsOf(reply: Reply): StreamEvent[] {
  const { id, model, usage, stopReason } = reply;
  const blocks = reply.blocks.flatMap((content_block, index): StreamEvent[] => [
    { type: "content_block_start", index, content_block },
    { type: "content_block_stop", index },
  ]);
  return [
    { type: "message_start", message: { id, model, usage } },
    ...blocks,
    { type: "message_delta", delta: { stop_reason: stopReason }, usage },
    { type: "message_stop" },
  ];
}

export function agentInfo(manifest: Partial<AgentManifest> = {}): AgentInfo {
  const base = {
    name: "a",
    description: "",
    models: {},
    contextBudget: 0,
    maxSteps: 0,
    skills: [],
    tools: null,
    mcp: [],
  };
  return {
    manifest: { ...base, ...manifest },
    instructions: "",
    skills: [],
    systemPrompt: "",
    allowedDevices: null,
  };
}

/** Files in memory: path to text, or to `{ link }`. */
export function memoryFiles(entries: Readonly<Record<string, string | { link: string }>>): AgentFiles {
  const resolve = (path: string): string => {
    let real = "";
    for (const segment of path.split("/").filter((s) => s !== "" && s !== ".")) {
      real = segment === ".." ? real.replace(/\/[^/]*$/, "") : `${real}/${segment}`;
      const entry = entries[real];
      if (typeof entry === "object") real = resolve(entry.link);
    }
    return real === "" ? "/" : real;
  };
  const below = (dir: string) => {
    const prefix = `${resolve(dir)}/`;
    const paths = Object.keys(entries).filter((path) => path.startsWith(prefix));
    return [...new Set(paths.map((path) => path.slice(prefix.length).split("/")[0] ?? ""))];
  };
  const missing = (path: string) => Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
  return {
    readText: async (path) => {
      const text = entries[resolve(path)];
      if (typeof text !== "string") throw missing(path);
      return text;
    },
    list: async (dir) => {
      const names = below(dir);
      if (names.length === 0) throw missing(dir);
      return names;
    },
    realPath: async (path) => {
      const real = resolve(path);
      if (entries[real] === undefined && below(real).length === 0) throw missing(path);
      return real;
    },
  };
}

function encodeLines(values: readonly unknown[]): Uint8Array {
  return new TextEncoder().encode(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
}

function missing(name: string): string {
  return `tool not found: ${name}. Similar: view`;
}

/** As the VFS wraps what a device throws. */
function fault(op: string, cause: Fault): VfsError {
  const { code, message, hint } = cause;
  return new VfsError({
    op,
    pid: asPid(1),
    code,
    message,
    device: cause.device ?? MODEL_DEVICE,
    hint,
    cause,
  });
}

function cancelled(name: string): VfsError {
  return new VfsError({
    op: name.split(" ")[0] ?? "",
    pid: asPid(1),
    code: "CANCELLED",
    message: "cancelled",
  });
}
