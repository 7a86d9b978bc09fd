/** How sessions of an editor begin and come back, by the flags of `crux acp`. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import {
  type McpServer,
  type NewSessionRequest,
  type NewSessionResponse,
  RequestError,
} from "@agentclientprotocol/sdk";
import { codeOf } from "../../abi/errors.ts";
import type { Effort } from "../../abi/llm.ts";
import type { Result } from "../../abi/methods/methods.ts";
import type { SpawnRequest } from "../../abi/methods/process.ts";
import type { WireSession } from "../../abi/methods/session.ts";
import { findPermissionMode, type PermissionMode } from "../../abi/process.ts";
import type { WireEvent } from "../../abi/wire-events.ts";
import { bypassRefusal } from "../../lib/bypass-refusal.ts";
import { usdFlag } from "../amounts.ts";
import type { Args } from "../args.ts";
import { ChatClient } from "../chat/client.ts";
import type { DaemonStream } from "../daemon/client.ts";
import type { Host } from "../host/host.ts";
import { clientEnvironment } from "../run/environment.ts";
import { requestOptions } from "../run/run-options.ts";
import { invalid } from "../screen/errors.ts";
import { noModel } from "./faults.ts";
import { configOptions, modeState } from "./modes.ts";

/** The events of one session, up to the end of the connection. */
export interface SessionStream {
  readonly pid: number;
  readonly uuid: string;
  /** undefined: the session is new. */
  readonly session: Result<"session.open"> | undefined;
  readonly events: AsyncIterable<WireEvent>;
  close(): void;
}

/** What a session has been switched to. */
interface Chosen {
  readonly mode: PermissionMode;
  readonly model: string;
  readonly effort: Effort | undefined;
}

/** What an editor names for a session. */
export type Ground = Partial<Pick<NewSessionRequest, "mcpServers" | "additionalDirectories">>;

/** What the events of a session tell. */
const WISH = { interactive: true, verbose: true, detail: "deltas" } as const;

export class Openings {
  readonly #args: Args;
  readonly #host: Host;

  /** INVALID: flags that no session can begin with. */
  constructor(args: Args, host: Host) {
    this.#args = args;
    this.#host = host;
    requestOptions(args, host);
    usdFlag(args, "max-budget-usd");
  }

  async begin(wanted: NewSessionRequest, client: string): Promise<SessionStream> {
    const { cwd, additionalDirectories = [] } = wanted;
    checkFolder(cwd);
    for (const dir of additionalDirectories) checkFolder(dir, "additionalDirectories");
    for (const dir of [cwd, ...additionalDirectories])
      if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true)
        throw invalid(`no folder: ${dir}`);
    await this.requireModel(cwd);
    const daemon = await this.#host.daemon.ensure();
    const request = { ...this.#request(wanted), session: true, client };
    const stream = await daemon.stream("spawn", request);
    const { pid, uuid = "" } = stream.response;
    return { pid, uuid, session: undefined, events: eventsOf(stream), close: () => stream.close() };
  }

  /** After its connection was lost. undefined: it has ended, and stays so. Throws `sessionNotFound` where it was removed. */
  async rejoin(uuid: string): Promise<SessionStream | undefined> {
    return (await this.#find(uuid)).state === "ended" ? undefined : this.reopen(uuid);
  }

  async #find(uuid: string): Promise<WireSession> {
    const { sessions } = await this.#asker.request("session.list", { all: true });
    const found = sessions.find((session) => session.uuid === uuid);
    if (found === undefined) throw RequestError.sessionNotFound(uuid);
    return found;
  }

  /**
   * Also brings back a session that rests. What the editor names for it is given to it; where that cannot be, because another client
   * is in it, it stays as it is.
   */
  async reopen(uuid: string, wanted: Ground = {}): Promise<SessionStream> {
    const found = await this.#find(uuid);
    const daemon = await this.#host.daemon.ensure();
    const env = clientEnvironment(this.#host.env);
    const { mcpServers = [], additionalDirectories: dirs = [] } = wanted;
    const change = { dirs, ...(found.name === "" ? {} : { mcp_servers: entriesOf(mcpServers) }) };
    if (mcpServers.length + dirs.length > 0)
      await this.#asker.request("session.change", { pid: found.pid, env, ...change }).catch(unlessInUse);
    const stream = await daemon.stream("session.open", { pid: found.pid, env, ...WISH });
    const { pid } = found;
    return { pid, uuid, session: stream.response, events: eventsOf(stream), close: () => stream.close() };
  }

  /** Without a model a session could only answer that there is none. */
  async requireModel(cwd: string): Promise<void> {
    const found = await this.#resolve(cwd);
    if (found.driver === "interpreter" && found.note !== undefined) throw noModel();
  }

  /** What a session may be switched to. */
  async choices({
    mode,
    model,
    effort,
  }: Chosen): Promise<Required<Pick<NewSessionResponse, "modes" | "configOptions">>> {
    const isOffered = this.mayBypass;
    const env = clientEnvironment(this.#host.env);
    const { models } = await this.#asker.request("model.list", { env });
    const ready = models.filter(({ is_ready }) => is_ready).map(modelName);
    const efforts = models.find((each) => modelName(each) === model)?.effort ?? [];
    const configured = configOptions(mode, isOffered, { current: model, ready, effort, efforts });
    return { modes: modeState(mode, isOffered), configOptions: configured };
  }

  /** What answers a session; before its first answer, what would. */
  async modelOf(pid: number, cwd: string): Promise<string> {
    const { driver, model } = await this.#asker.request("context.stat", { pid, brief: true });
    if (model !== "") return modelName({ driver, id: model });
    const found = await this.#resolve(cwd);
    if (driver !== "" && driver !== found.driver) return driver;
    return modelName({ driver: found.driver, id: found.model });
  }

  /** Whether bypass mode is offered: only if `crux acp` was started with it, and to root only inside of a container or sandbox. */
  get mayBypass(): boolean {
    const { flags } = this.#args;
    const isGiven = flags.has("dangerously-skip-permissions") || flags.get("permission-mode") === "bypass";
    return isGiven && bypassRefusal() === "";
  }

  #resolve(cwd: string): Promise<Result<"model.resolve">> {
    const { agent, model } = requestOptions(this.#args, this.#host);
    const env = clientEnvironment(this.#host.env);
    const named = { ...(agent === undefined ? {} : { agent }), ...(model === undefined ? {} : { model }) };
    return this.#asker.request("model.resolve", { cwd, env, ...named });
  }

  get #asker(): ChatClient {
    return new ChatClient(this.#host.daemon);
  }

  #request({ cwd, additionalDirectories = [], mcpServers, _meta }: NewSessionRequest): SpawnRequest {
    const { limits, dirs = [], mcp_servers, ...options } = requestOptions(this.#args, this.#host);
    const usd = usdFlag(this.#args, "max-budget-usd");
    const wanted = this.#modeOf(_meta?.permissionMode);
    const more = [...dirs, ...additionalDirectories];
    // plain reasoning has no tools
    const servers = options.agent === "none" ? {} : { ...mcp_servers, ...entriesOf(mcpServers) };
    return {
      intent: "",
      ...options,
      cwd,
      ...(more.length === 0 ? {} : { dirs: more }),
      ...(Object.keys(servers).length === 0 ? {} : { mcp_servers: servers }),
      ...(wanted === undefined ? {} : { permission_mode: wanted }),
      ...(usd === undefined ? {} : { limits: { ...limits, usd } }),
      ...WISH,
    };
  }

  /** What the editor wants for a session; undefined: nothing, or nothing that is offered here. */
  #modeOf(wanted: unknown): PermissionMode | undefined {
    const mode = typeof wanted === "string" ? findPermissionMode(wanted) : undefined;
    return mode === "bypass" && !this.mayBypass ? undefined : mode;
  }
}

function unlessInUse(error: unknown): void {
  if (codeOf(error) !== "CONFLICT") throw error;
}

export function checkFolder(path: string, field = "cwd"): void {
  if (!path.startsWith("/")) throw invalid(`${field} must be absolute: ${path}`);
}

/** Entries as in `.mcp.json`. INVALID: a server that cannot be reached. */
function entriesOf(servers: readonly McpServer[]): NonNullable<SpawnRequest["mcp_servers"]> {
  return Object.fromEntries(servers.map((server) => [serverName(server.name), entryOf(server)]));
}

function entryOf(server: McpServer): Record<string, unknown> {
  if ("command" in server) {
    const { command, args, env } = server;
    return { command: literal(command), args: args.map(literal), env: valuesOf(env) };
  }
  return { type: server.type, url: literal(server.url), headers: valuesOf(server.headers) };
}

/** Editors name servers as they like; here a name is part of the names of tools, and a name of other letters a number. */
export function serverName(name: string): string {
  const plain = name
    .replaceAll(/[^A-Za-z0-9-]+/g, "_")
    .slice(0, 64)
    .replaceAll(/^_|_$/g, "");
  return plain === "" ? `server-${createHash("sha256").update(name).digest("hex").slice(0, 8)}` : plain;
}

function valuesOf(pairs: readonly { readonly name: string; readonly value: string }[]): object {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, literal(value)]));
}

/** What an editor sends is meant as it stands: a `$` in an entry would begin a variable. */
function literal(text: string): string {
  return text.replaceAll("$", "$$$$");
}

function modelName({ driver, id }: { readonly driver: string; readonly id: string }): string {
  return id === "" ? driver : `${driver}/${id}`;
}

async function* eventsOf({ lines }: Pick<DaemonStream<unknown>, "lines">): AsyncGenerator<WireEvent> {
  for await (const { payload } of lines) yield payload as WireEvent;
}
