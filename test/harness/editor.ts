/** An editor, by the protocol's own client library: `crux acp` on real pipes, and all that it sends. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import {
  type ClientCapabilities,
  type ClientConnection,
  client,
  type NewSessionRequest,
  type NewSessionResponse,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { CRUX, settled, type World } from "./world.ts";

type Permit = (asked: RequestPermissionRequest) => RequestPermissionResponse["outcome"] | Promise<never>;

interface EditorOptions {
  readonly flags?: readonly string[];
  readonly capabilities?: ClientCapabilities;
  readonly permit?: Permit;
  /** Instead of the text of a file. */
  readonly reads?: () => Promise<never>;
}

export class EditorDouble {
  readonly updates: SessionUpdate[] = [];
  /** The session of each update. */
  readonly #of: string[] = [];
  readonly asked: RequestPermissionRequest[] = [];
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  permit: Permit;
  /** Files that are open in the editor, with text that may not be saved; it is asked for others too. */
  readonly buffers = new Map<string, string>();
  stderr = "";
  #connection!: ClientConnection;

  private constructor(
    world: World,
    { flags = [], permit = () => ({ outcome: "cancelled" }) }: EditorOptions,
  ) {
    this.permit = permit;
    this.child = spawn(CRUX, ["acp", ...flags], { cwd: world.work, env: world.env, stdio: "pipe" });
    this.child.stderr!.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString("utf8");
    });
    this.exited = new Promise((resolve) => this.child.on("exit", (code) => resolve(code)));
  }

  static async open(world: World, options: EditorOptions = {}): Promise<EditorDouble> {
    const editor = new EditorDouble(world, options);
    await editor.#connect(options);
    return editor;
  }

  get agent(): ClientConnection["agent"] {
    return this.#connection.agent;
  }

  begin(cwd: string, more: Partial<NewSessionRequest> = {}): Promise<NewSessionResponse> {
    return this.agent.request("session/new", { cwd, mcpServers: [], ...more });
  }

  async prompt(sessionId: string, text: string): Promise<PromptResponse> {
    const answer = await this.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text }],
    });
    // the library hands an update on a turn after it has read it: one that came before the answer is here by then
    await new Promise((resolve) => setImmediate(resolve));
    return answer;
  }

  cancel(sessionId: string): Promise<void> {
    return this.agent.notify("session/cancel", { sessionId });
  }

  all<K extends SessionUpdate["sessionUpdate"]>(kind: K): Extract<SessionUpdate, { sessionUpdate: K }>[] {
    return this.updates.filter((each) => each.sessionUpdate === kind) as never;
  }

  /** All text of the chunks of a kind. */
  said(kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk"): string {
    return this.all(kind)
      .map(({ content }) => (content.type === "text" ? content.text : ""))
      .join("");
  }

  /** The answers in one session. */
  saidIn(sessionId: string): string {
    const own = this.updates.filter((_, at) => this.#of[at] === sessionId);
    return own
      .map((each) =>
        each.sessionUpdate === "agent_message_chunk" && each.content.type === "text" ? each.content.text : "",
      )
      .join("");
  }

  /** Resolves once such an update has come. */
  async until(kind: SessionUpdate["sessionUpdate"], count = 1): Promise<void> {
    await settled(
      () => this.all(kind).length,
      (found) => found >= count,
    );
  }

  /** The editor is closed. */
  async close(): Promise<number | null> {
    this.child.stdin!.end();
    return this.exited;
  }

  async #connect({ capabilities: clientCapabilities = {}, reads }: EditorOptions): Promise<void> {
    const output = Writable.toWeb(this.child.stdin!) as WritableStream<Uint8Array>;
    const input = Readable.toWeb(this.child.stdout!) as unknown as ReadableStream<Uint8Array>;
    this.#connection = client()
      .onRequest("session/request_permission", async ({ params }) => {
        this.asked.push(params);
        return { outcome: await this.permit(params) };
      })
      .onRequest("fs/read_text_file", async ({ params: { path } }) => ({
        content: (await reads?.()) ?? this.buffers.get(path) ?? readFileSync(path, "utf8"),
      }))
      .onRequest("fs/write_text_file", ({ params: { path, content } }) => {
        this.buffers.set(path, content);
        writeFileSync(path, content);
        return {};
      })
      .onNotification("session/update", ({ params }) => {
        this.updates.push(params.update);
        this.#of.push(params.sessionId);
      })
      .connect(ndJsonStream(output, input));
    await this.agent.request("initialize", { protocolVersion: PROTOCOL_VERSION, clientCapabilities });
  }
}
