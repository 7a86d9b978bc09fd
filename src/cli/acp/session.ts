/**
 * One session of an editor: follows its process, says the prompts, and answers them when their run has ended. The daemon
 * may end and start again meanwhile; leaving never ends the process.
 */
import { randomUUID } from "node:crypto";
import {
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionConfigOption,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { AskReply } from "../../abi/ask.ts";
import { codeOf } from "../../abi/errors.ts";
import type { Effort } from "../../abi/llm.ts";
import type { WireSession } from "../../abi/methods/session.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { ModelSwitchEvent, WireEvent } from "../../abi/wire-events.ts";
import type { ChatClient } from "../chat/client.ts";
import { answerParams } from "../dialog/answer-params.ts";
import type { Host } from "../host/host.ts";
import { clientEnvironment } from "../run/environment.ts";
import { refuseUnknownSkill } from "../run/slash.ts";
import { Buffers, type EditorFiles } from "./buffers.ts";
import { failedEnd, missedIn } from "./missed.ts";
import type { SessionStream } from "./openings.ts";
import { Permissions } from "./permissions.ts";
import { promptResponse, type saidIn } from "./prompt.ts";
import { type Prompt, PromptQueue, type Told } from "./prompt-queue.ts";
import { planOf, tasksOf, titleOf, usageOf } from "./session-facts.ts";
import { Updates } from "./updates.ts";

/** How long to wait before the daemon is tried again, in ms; the last one repeats. */
const RETRY_MS = [0, 500, 1_000, 2_000, 4_000, 8_000];

/** The same for a message that the daemon did not answer; then it is refused. */
const SAY_AGAIN_MS = [0, 500];
/** Of the protocol. */
const SESSION_NOT_FOUND = -32002;

export interface Editor {
  update(uuid: string, update: SessionUpdate): Promise<void>;
  permit(asked: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
  readonly showsTerminals: boolean;
  readonly files: EditorFiles;
}

interface Surroundings {
  readonly host: Host;
  readonly editor: Editor;
  /** Follows the session on a new connection; undefined: it has ended. */
  rejoin(uuid: string): Promise<SessionStream | undefined>;
  /** What the session may be switched to, with what it is. */
  options(session: EditorSession): Promise<SessionConfigOption[]>;
  readonly clock: { sleep(ms: number, signal?: AbortSignal): Promise<void> };
  log(words: string): void;
}

interface Seat {
  readonly cwd: string;
  readonly client: ChatClient;
  readonly mode: PermissionMode;
  readonly model: string;
}

export class EditorSession {
  readonly uuid: string;
  readonly cwd: string;
  mode: PermissionMode;
  /** As `process.model` takes it. */
  model: string;
  /** undefined: the editor has chosen none. */
  effort: Effort | undefined;
  readonly #around: Surroundings;
  readonly #client: ChatClient;
  readonly #queue = new PromptQueue();
  readonly #updates: Updates;
  readonly #permissions: Permissions;
  readonly #buffers: Buffers;
  readonly #closed = new AbortController();
  #stream: SessionStream;
  #told: Told = { stopReason: undefined, error: undefined };
  /** Numbers of the prompts whose run had ended when the session came back, though its events may still come. */
  #unseen: ReadonlySet<number | undefined> = new Set();
  #title = "";
  #fact: Promise<void> = Promise.resolve();
  /** What is done to the session, in the order of the editor's requests. */
  #last: Promise<unknown> = Promise.resolve();
  #following: Promise<void> = Promise.resolve();

  constructor(around: Surroundings, stream: SessionStream, { cwd, client, mode, model }: Seat) {
    this.#around = around;
    this.#stream = stream;
    this.uuid = stream.uuid;
    this.cwd = cwd;
    this.mode = mode;
    this.model = model;
    this.#client = client;
    const { showsTerminals, files } = around.editor;
    this.#buffers = new Buffers(files, around.host.daemon, around.log);
    this.#updates = new Updates({ cwd, client: client.name, showsTerminals });
    this.#permissions = new Permissions({
      request: (asked, signal) => around.editor.permit({ sessionId: this.uuid, ...asked }, signal),
      answer: (id, reply) => this.#answer(id, reply),
      deny: (pid, rule) => this.#deny(pid, rule),
      callOf: (ask) => this.#updates.callOf(ask),
    });
  }

  get pid(): number {
    return this.#stream.pid;
  }

  /** From now on the session reads and writes through the editor, where that offers it. */
  serveFiles(): Promise<void> {
    return this.#buffers.serve(this);
  }

  /** From now on updates are sent, the steps of a list that is there already first. */
  begin(): void {
    this.#later(async () => {
      const entries = await tasksOf((method, payload) => this.#client.request(method, payload), this.#list);
      if (entries.length > 0) await this.#update({ sessionUpdate: "plan", entries });
    });
    this.#following = this.#follow();
  }

  /** Answers when its run has ended. Throws where the run failed. `signal`: the editor does not wait for it any more. */
  async prompt({ text, media }: ReturnType<typeof saidIn>, signal: AbortSignal): Promise<PromptResponse> {
    const prompt = this.#queue.add(text, media);
    const cancel = () =>
      void this.#cancel([prompt]).catch((error: unknown) => this.#around.log(`cancel: ${String(error)}`));
    signal.addEventListener("abort", cancel, { once: true });
    try {
      await this.#inOrder(() => this.#say(prompt));
      return promptResponse(await prompt.ended);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Every prompt so far is answered with "cancelled". */
  cancel(): Promise<void> {
    return this.#cancel(this.#queue.open);
  }

  async setMode(mode: PermissionMode): Promise<void> {
    const set = await this.#inOrder(() => this.#client.mode(this.pid, mode));
    this.mode = set.mode;
  }

  /** It answers from the next run on. `effort`: undefined, as it is. */
  async setModel(model: string, effort?: Effort): Promise<void> {
    const env = clientEnvironment(this.#around.host.env);
    const request = { pid: this.pid, model, env, ...(effort === undefined ? {} : { effort }) };
    const set = await this.#inOrder(() => this.#client.request("process.model", request));
    this.model = set.model === "" ? set.driver : `${set.driver}/${set.model}`;
    if (effort !== undefined || this.effort !== undefined) this.effort = set.effort;
  }

  /** Leaves the session, which goes on with what it does. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#permissions.leave();
    this.#stream.close();
    this.#buffers.close();
    await this.#following;
    for (const prompt of this.#queue.open) this.#queue.end(prompt, { kind: "cancelled" });
  }

  #inOrder<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #say(prompt: Prompt): Promise<void> {
    if (prompt.isCancelled) return this.#queue.end(prompt, { kind: "cancelled" });
    try {
      await refuseUnknownSkill(this.#around.host.daemon, this.cwd, prompt.text);
      this.#queue.said(prompt, await this.#sent(prompt));
    } catch (error) {
      this.#queue.end(prompt, { kind: "cancelled" });
      throw error;
    }
  }

  /** Its number. The daemon may go once it has it: said again with the same key, it is the same message. */
  async #sent({ text, media }: Prompt): Promise<number> {
    const shown = media.length === 0 ? {} : { media: [...media] };
    const message = {
      pid: this.pid,
      text,
      ...shown,
      client: this.#client.name,
      idempotency_key: randomUUID(),
    };
    for (const retryMs of SAY_AGAIN_MS) {
      try {
        return (await this.#client.request("session.say", message)).seq;
      } catch (error) {
        if (codeOf(error) !== "UNAVAILABLE") throw error;
      }
      await this.#around.clock.sleep(retryMs, this.#closed.signal);
    }
    return (await this.#client.request("session.say", message)).seq;
  }

  /** What was not read is taken back; a run that has read any of them is interrupted. */
  #cancel(prompts: readonly Prompt[]): Promise<void> {
    for (const prompt of prompts) prompt.isCancelled = true;
    return this.#inOrder(async () => {
      let isRead = false;
      for (const prompt of prompts.toReversed()) isRead = !(await this.#takenBack(prompt)) || isRead;
      if (isRead) await this.#client.interrupt(this.pid);
    });
  }

  async #takenBack(prompt: Prompt): Promise<boolean> {
    const { seq } = prompt;
    if (seq === undefined || !this.#queue.has(prompt)) return true;
    if (prompt.isRead) return false;
    try {
      await this.#client.withdraw(this.pid, seq);
    } catch {
      // it was read meanwhile
      return false;
    }
    this.#queue.end(prompt, { kind: "cancelled" });
    return true;
  }

  async #follow(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      for await (const event of this.#stream.events) {
        await this.#take(event);
        if (event.event === "complete") return;
      }
      if (!this.#closed.signal.aborted && !(await this.#rejoined())) return;
    }
  }

  async #take(event: WireEvent): Promise<void> {
    for (const update of this.#updates.take(event)) await this.#update(update);
    switch (event.event) {
      case "ask":
        void this.#permissions.ask(event);
        break;
      case "ask_closed":
        this.#permissions.close(event);
        break;
      case "input":
        if (!this.#unseen.has(event.seq)) this.#updates.forgetMissed();
        if (event.client !== this.#client.name) break;
        this.#told = { stopReason: undefined, error: undefined };
        this.#queue.read(event.seq);
        break;
      case "withdrawn":
        this.#queue.withdrawn(event.seq);
        break;
      case "mode":
        this.mode = event.mode;
        this.#configured();
        break;
      case "model_switch":
        // for the rest of a run only, where nobody chose it
        if (event.cause !== "user") break;
        this.model = modelOf(event.to);
        this.#configured();
        break;
      case "message":
        this.#told = { ...this.#told, stopReason: event.stop_reason };
        break;
      case "tool_result":
        this.#plan(event.tool_use_id);
        break;
      case "error":
        this.#told = { ...this.#told, error: event.error };
        break;
      case "idle":
        await this.#runOver();
        this.#queue.over({ event, told: this.#told });
        break;
      case "complete":
        await this.#fact;
        this.#queue.abandon({ event, told: this.#told });
        break;
      default:
        break;
    }
  }

  /** Where the call has changed the list of steps, the editor is sent all of it. */
  #plan(id: string): void {
    const call = this.#updates.find(id);
    if (call === undefined) return;
    this.#later(async () => {
      const plan = await planOf(call, (method, payload) => this.#client.request(method, payload), this.#list);
      if (plan !== undefined) await this.#update({ sessionUpdate: "plan", entries: plan });
    });
  }

  /** The name of its list of steps. */
  get #list(): string {
    const { CRUX_TASK_LIST_ID: named = "", CRUX_TEAM_NAME: team = "" } = this.#around.host.env;
    return named || team || this.uuid;
  }

  /** Another client may have switched the session: the editor shows what it is now. */
  #configured(): void {
    this.#later(async () => {
      const configOptions = await this.#around.options(this);
      await this.#update({ sessionUpdate: "config_option_update", configOptions });
    });
  }

  /** What is learned from the daemon beside the events comes in order, and before the end of the run. */
  #later(act: () => Promise<void>): void {
    this.#fact = this.#fact.then(act).catch((error: unknown) => this.#around.log(String(error)));
  }

  async #runOver(): Promise<void> {
    this.#later(async () => {
      const usage = await usageOf((method, payload) => this.#client.request(method, payload), this.pid);
      if (usage !== undefined) await this.#update({ sessionUpdate: "usage_update", ...usage });
      const title = await titleOf((method, payload) => this.#client.request(method, payload), this);
      if (title === undefined || title === this.#title) return;
      this.#title = title;
      await this.#update({ sessionUpdate: "session_info_update", title });
    });
    await this.#fact;
  }

  async #answer(ask_id: string, reply: AskReply): Promise<void> {
    try {
      await this.#client.request("ask.answer", answerParams(ask_id, reply));
    } catch (error) {
      this.#around.log(`question ${ask_id}: ${String(error)}`);
    }
  }

  async #deny(pid: number, rule: string): Promise<void> {
    try {
      await this.#client.request("grant.add", { pid, deny: [rule], scope: "session" });
    } catch (error) {
      this.#around.log(`always reject ${rule}: ${String(error)}`);
    }
  }

  async #update(update: SessionUpdate): Promise<void> {
    if (!this.#closed.signal.aborted) await this.#around.editor.update(this.uuid, update);
  }

  /** The daemon ended; what was said is kept, and its runs go on. False: there is no session to follow any more. */
  async #rejoined(): Promise<boolean> {
    const { signal } = this.#closed;
    for (let tries = 0; !signal.aborted; tries++) {
      try {
        await this.#around.clock.sleep(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 0, signal);
        const stream = await this.#around.rejoin(this.uuid);
        if (stream !== undefined) this.#stream = stream;
        this.#updates.resumed();
        if (stream !== undefined) await this.serveFiles();
        await this.#settleMissed(stream?.session?.state ?? "ended");
        return stream !== undefined;
      } catch (error) {
        if (signal.aborted) break;
        this.#around.log(`session ${this.uuid}: ${String(error)}`);
        if (isGone(error)) return this.#abandoned(String(error));
      }
    }
    return false;
  }

  /** Runs may have ended between two connections, and nobody says so any more; or since this one began, and their events are read next. */
  async #settleMissed(state: WireSession["state"]): Promise<void> {
    const { messages } = await this.#client.request("session.history", { pid: this.pid, limit: 200 });
    const isRunning = state === "running" || state === "blocked" || state === "paused";
    const { over, texts, read } = missedIn(this.#queue.open, { pid: this.pid, messages, isRunning });
    for (const prompt of read) prompt.isRead = true;
    this.#unseen = new Set(over.map(({ prompt }) => prompt.seq));
    for (const text of texts) for (const update of this.#updates.missed(text)) await this.#update(update);
    for (const { prompt, end } of over) this.#queue.end(prompt, end);
    const left = this.#queue.open.filter(({ seq }) => seq !== undefined);
    if (state === "ended") for (const prompt of left) this.#queue.end(prompt, { kind: "cancelled" });
    // what the daemon did not hear any more is asked again
    const cancelled = left.filter(({ isCancelled }) => isCancelled);
    if (state === "ended" || cancelled.length === 0) return;
    this.#cancel(cancelled).catch((error: unknown) => this.#around.log(`cancel: ${String(error)}`));
  }

  /** Its history was removed: no prompt gets another answer. */
  #abandoned(message: string): false {
    for (const prompt of this.#queue.open)
      this.#queue.end(prompt, failedEnd(this.pid, { outcome: "failed", code: "NOT_FOUND", message }));
    return false;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof RequestError && error.code === SESSION_NOT_FOUND;
}

/** As `process.model` takes it. */
function modelOf({ device, model }: ModelSwitchEvent["to"]): string {
  const driver = device.slice("/dev/llm/".length);
  return model === "" ? driver : `${driver}/${model}`;
}
