/** What client libraries ask beside messages: to begin as they wish, to interrupt a run, to work in another mode or with another model. */

import { messageOf } from "../../abi/errors.ts";
import type { SpawnRequest } from "../../abi/methods/process.ts";
import type { ControlResponse } from "../../abi/print/print.ts";
import { findPermissionMode } from "../../abi/process.ts";
import type { ChatClient } from "../chat/client.ts";
import type { Json } from "./json-schema.ts";
import type { ControlRequest } from "./messages.ts";
import type { ToolServers } from "./tool-servers.ts";

/** What an `initialize` asks for the session that begins. */
export interface Wish extends Pick<SpawnRequest, "instructions" | "agents"> {
  /** Instructions after those of the agent; "": none. */
  readonly more: string;
  readonly title?: string;
  /** JSON Schema of the answers. */
  readonly schema?: string;
}

interface Around {
  readonly client: ChatClient;
  put(line: ControlResponse): void;
  readonly servers: Pick<ToolServers, "add" | "sent">;
}

type Fields = ControlRequest["with"];

/** Of a session. */
const ASKED: ReadonlySet<string> = new Set(["interrupt", "set_permission_mode", "set_model"]);

export class Controls {
  wish: Wish = { more: "" };
  /** Why the session must not begin: its client wants what is not there. */
  unmet: string | undefined;
  readonly #around: Around;
  /** undefined: no message was read, so that no session begins. */
  #pid: Promise<number> | undefined;

  constructor(around: Around) {
    this.#around = around;
  }

  /** The first message was read. Requests wait for the session, whose pid this is. */
  comes(pid: Promise<number>): void {
    this.#pid = pid;
  }

  /** Answers on stdout. */
  take({ id: request_id, asks, with: fields }: ControlRequest): void {
    const { put } = this.#around;
    this.#act(asks, fields).then(
      () => put({ type: "control_response", response: { subtype: "success", request_id, response: {} } }),
      (error) =>
        put({
          type: "control_response",
          response: { subtype: "error", request_id, error: messageOf(error) },
        }),
    );
  }

  async #act(asks: string, fields: Fields): Promise<void> {
    if (asks === "initialize") return this.#initialize(fields);
    if (asks === "mcp_message") return this.#around.servers.sent(fields);
    if (!ASKED.has(asks)) throw new Error(`not supported: ${asks}`);
    const { client } = this.#around;
    const pid = await this.#pid;
    if (asks === "interrupt") {
      if (pid !== undefined) client.interrupt(pid).catch(() => undefined);
      return;
    }
    if (pid === undefined) throw new Error("the session has not begun");
    if (asks === "set_model") await client.request("process.model", { pid, model: textOf(fields.model) });
    else {
      const mode = findPermissionMode(textOf(fields.mode));
      if (mode === undefined) throw new Error(`unknown permission mode: ${textOf(fields.mode)}`);
      await client.mode(pid, mode);
    }
  }

  #initialize(fields: Fields): void {
    const { subtype: _, systemPrompt, appendSystemPrompt, agents, jsonSchema, ...more } = fields;
    // the servers themselves are asked what they have
    const { sdkMcpServers, sdkMcpServerManifests: __, title, ...others } = more;
    if (this.#pid !== undefined) throw new Error("the session has begun");
    const names = Array.isArray(sdkMcpServers) ? (sdkMcpServers as readonly Json[]) : [];
    this.#around.servers.add(names.filter((name) => typeof name === "string"));
    const own = joined(systemPrompt);
    this.wish = {
      more: joined(appendSystemPrompt),
      ...(own === "" ? {} : { instructions: own }),
      ...(isEmpty(agents) ? {} : { agents: agents as SpawnRequest["agents"] }),
      ...(textOf(title) === "" ? {} : { title: textOf(title) }),
      ...(isEmpty(jsonSchema) ? {} : { schema: JSON.stringify(jsonSchema) }),
    };
    const unknown = Object.keys(others).find((key) => !isEmpty(others[key]));
    if (unknown === undefined) return;
    this.unmet = `not supported in print mode: ${unknown}`;
    throw new Error(this.unmet);
  }
}

function joined(given: Json | undefined): string {
  const texts = [given ?? []].flat() as readonly Json[];
  return texts.filter((text) => typeof text === "string" && text.trim() !== "").join("\n\n");
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function isEmpty(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null) return value == null || value === "" || value === false;
  return Object.keys(value).length === 0;
}
