/** The sessions that one editor has open, and what it asks of them. */
import type {
  AgentContext,
  CancelNotification,
  CloseSessionRequest,
  InitializeRequest,
  InitializeResponse,
  ListSessionsRequest,
  ListSessionsResponse,
  LoadSessionRequest,
  LoadSessionResponse,
  NewSessionRequest,
  NewSessionResponse,
  PromptRequest,
  PromptResponse,
  ResumeSessionRequest,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
  SetSessionModeRequest,
} from "@agentclientprotocol/sdk";
import { RequestError } from "@agentclientprotocol/sdk";
import { Fault } from "../../abi/errors.ts";
import { isEffort } from "../../abi/llm.ts";
import { findPermissionMode } from "../../abi/process.ts";
import { SteadyClock } from "../../lib/time/steady-clock.ts";
import { ChatClient } from "../chat/client.ts";
import type { Host } from "../host/host.ts";
import { invalid } from "../screen/errors.ts";
import { UNCHANGED } from "./modes.ts";
import { checkFolder, type Openings, type SessionStream } from "./openings.ts";
import { saidIn } from "./prompt.ts";
import { type Editor, EditorSession } from "./session.ts";
import { commandsOf, lackOf, pastOf } from "./session-facts.ts";

/** The most sessions that one editor has open. */
const MAX_SESSIONS = 100;

export class Office implements AsyncDisposable {
  readonly #openings: Openings;
  readonly #host: Host;
  readonly #log: (words: string) => void;
  readonly #sessions = new Map<string, EditorSession>();
  readonly #clock = new SteadyClock();
  #capabilities: InitializeRequest["clientCapabilities"];
  #editor: AgentContext | undefined;

  constructor(openings: Openings, host: Host, log: (words: string) => void) {
    this.#openings = openings;
    this.#host = host;
    this.#log = log;
  }

  connected(editor: AgentContext): void {
    this.#editor = editor;
  }

  initialize({ clientCapabilities }: InitializeRequest): Omit<InitializeResponse, "protocolVersion"> {
    this.#capabilities = clientCapabilities;
    return {
      agentInfo: { name: "crux", title: "Crux", version: this.#host.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
      },
      authMethods: [
        {
          id: "crux-auth-login",
          name: "Set up a model",
          description:
            "Run `crux auth login` in a terminal, or set the key of a provider in the environment of the editor.",
        },
      ],
    };
  }

  async authenticate(): Promise<Record<string, never>> {
    await this.#openings.requireModel(this.#host.cwd);
    return {};
  }

  async create(request: NewSessionRequest): Promise<NewSessionResponse> {
    const client = this.#newClient();
    const stream = await this.#openings.begin(request, client.name);
    const session = await this.#enter(stream, request.cwd, client);
    const choices = await this.#openings.choices(session);
    this.#beginLater(session);
    return { sessionId: session.uuid, ...choices };
  }

  load(request: LoadSessionRequest): Promise<LoadSessionResponse> {
    return this.#open(request, true);
  }

  resume(request: ResumeSessionRequest): Promise<LoadSessionResponse> {
    return this.#open(request, false);
  }

  async list({ cwd }: ListSessionsRequest): Promise<ListSessionsResponse> {
    if (typeof cwd === "string") checkFolder(cwd);
    const filter = typeof cwd === "string" ? { cwd } : {};
    const { sessions } = await new ChatClient(this.#host.daemon).request("session.list", filter);
    return {
      sessions: sessions.map((session) => ({
        sessionId: session.uuid,
        cwd: session.cwd,
        title: session.title === "" ? null : session.title,
        updatedAt: session.last_at,
      })),
    };
  }

  /** What it does is interrupted; the session rests. */
  async close({ sessionId }: CloseSessionRequest): Promise<Record<string, never>> {
    const session = this.#session(sessionId);
    await session.cancel();
    this.#sessions.delete(sessionId);
    await session.close();
    return {};
  }

  async prompt({ sessionId, prompt }: PromptRequest, signal: AbortSignal): Promise<PromptResponse> {
    return this.#session(sessionId).prompt(saidIn(prompt), signal);
  }

  /** Never rejects: a notification has no answer. */
  async cancel({ sessionId }: CancelNotification): Promise<void> {
    const session = this.#sessions.get(sessionId);
    await session?.cancel().catch((error: unknown) => this.#log(`cancel: ${String(error)}`));
  }

  async setMode({ sessionId, modeId }: SetSessionModeRequest): Promise<Record<string, never>> {
    await this.#setMode(this.#session(sessionId), modeId);
    return {};
  }

  async setOption(request: SetSessionConfigOptionRequest): Promise<SetSessionConfigOptionResponse> {
    const { sessionId, configId, value } = request;
    const session = this.#session(sessionId);
    if (configId === "mode") await this.#setMode(session, String(value));
    else if (configId === "model") await session.setModel(String(value));
    else if (configId === "thought_level") await this.#setEffort(session, String(value));
    else throw invalid(`unknown option: ${configId}`, "options: mode, model, thought_level");
    const { configOptions } = await this.#openings.choices(session);
    return { configOptions: configOptions ?? [] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  async #open(
    request: LoadSessionRequest | ResumeSessionRequest,
    isReplayed: boolean,
  ): Promise<LoadSessionResponse> {
    const { sessionId: uuid, cwd, additionalDirectories = [] } = request;
    checkFolder(cwd);
    for (const dir of additionalDirectories) checkFolder(dir, "additionalDirectories");
    await this.#sessions.get(uuid)?.close();
    this.#sessions.delete(uuid);
    const client = this.#newClient();
    const stream = await this.#openings.reopen(uuid, request);
    const session = await this.#enter(stream, stream.session?.cwd ?? cwd, client);
    const past = isReplayed
      ? await pastOf((method, payload) => client.request(method, payload), stream.pid, session.cwd)
      : [];
    for (const update of past) await this.#link.update(uuid, update);
    const choices = await this.#openings.choices(session);
    const lack = stream.session === undefined ? undefined : await lackOf(stream.session, request);
    this.#beginLater(session, lack);
    return choices;
  }

  #newClient(): ChatClient {
    if (this.#sessions.size < MAX_SESSIONS) return new ChatClient(this.#host.daemon);
    const message = `${MAX_SESSIONS} sessions are open here: close one with session/close`;
    throw new Fault({ code: "UNAVAILABLE", message });
  }

  async #enter(stream: SessionStream, cwd: string, client: ChatClient): Promise<EditorSession> {
    try {
      const { mode } = await client.mode(stream.pid);
      const model = await this.#openings.modelOf(stream.pid, cwd);
      const around = {
        host: this.#host,
        editor: this.#link,
        rejoin: (uuid: string) => this.#openings.rejoin(uuid),
        options: async (of: EditorSession) => (await this.#openings.choices(of)).configOptions ?? [],
        clock: this.#clock,
        log: this.#log,
      };
      const session = new EditorSession(around, stream, { cwd, client, mode, model });
      await session.serveFiles();
      this.#sessions.set(session.uuid, session);
      return session;
    } catch (error) {
      stream.close();
      throw error;
    }
  }

  /** The editor knows the session only once its request is answered. `notice`: what it is told first. */
  #beginLater(session: EditorSession, notice?: string): void {
    setImmediate(() => {
      if (notice !== undefined) void this.#say(session, notice);
      session.begin();
      void this.#offerCommands(session);
    });
  }

  /** The protocol has no notices: it is a paragraph of the agent, apart from those that editors join it with. */
  async #say({ uuid }: EditorSession, notice: string): Promise<void> {
    const content = { type: "text" as const, text: `\n\n${notice}\n\n` };
    try {
      await this.#link.update(uuid, { sessionUpdate: "agent_message_chunk", content });
    } catch (error) {
      this.#log(`notice: ${String(error)}`);
    }
  }

  async #offerCommands({ uuid, cwd }: EditorSession): Promise<void> {
    const client = new ChatClient(this.#host.daemon);
    try {
      const availableCommands = await commandsOf((method, payload) => client.request(method, payload), cwd);
      await this.#link.update(uuid, { sessionUpdate: "available_commands_update", availableCommands });
    } catch (error) {
      this.#log(`commands: ${String(error)}`);
    }
  }

  #session(uuid: string): EditorSession {
    const session = this.#sessions.get(uuid);
    if (session === undefined) throw RequestError.sessionNotFound(uuid);
    return session;
  }

  async #setMode(session: EditorSession, wanted: string): Promise<void> {
    const mode = findPermissionMode(wanted);
    if (mode === undefined) throw invalid(`unknown permission mode: ${wanted}`);
    if (mode === "bypass" && !this.#openings.mayBypass && session.mode !== "bypass")
      throw invalid("bypass mode is not offered here", "crux acp --dangerously-skip-permissions");
    await session.setMode(mode);
  }

  async #setEffort(session: EditorSession, wanted: string): Promise<void> {
    if (isEffort(wanted)) return session.setModel(session.model, wanted);
    if (wanted !== UNCHANGED || session.effort !== undefined) throw invalid(`unknown effort: ${wanted}`);
  }

  #filesOf(editor: AgentContext): Editor["files"] {
    const { readTextFile = false, writeTextFile = false } = this.#capabilities?.fs ?? {};
    const read = async (sessionId: string, path: string) =>
      (await editor.request("fs/read_text_file", { sessionId, path })).content;
    const write = async (sessionId: string, path: string, content: string) =>
      void (await editor.request("fs/write_text_file", { sessionId, path, content }));
    return { read: readTextFile ? read : undefined, write: writeTextFile ? write : undefined };
  }

  get #link(): Editor {
    const editor = this.#editor;
    if (editor === undefined) throw new Error("the connection has not begun");
    return {
      update: (sessionId, update) => editor.notify("session/update", { sessionId, update }),
      permit: (asked, cancellationSignal) =>
        editor.request("session/request_permission", asked, {
          cancellationSignal,
          stopWaitingOnCancel: true,
        }),
      showsTerminals: this.#capabilities?._meta?.terminal_output === true,
      files: this.#filesOf(editor),
    };
  }
}
