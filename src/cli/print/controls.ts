/** What client libraries ask beside messages: to begin as they wish, to interrupt a run, to work in another mode or with another model. */

import { messageOf } from "../../abi/errors.ts";
import type { SpawnRequest } from "../../abi/methods/process.ts";
import type { ControlResponse } from "../../abi/print/print.ts";
import { findPermissionMode } from "../../abi/process.ts";
import type { ChatClient } from "../chat/client.ts";
import type { Json } from "./json-schema.ts";
import type { ControlRequest } from "./messages.ts";

/** What an `initialize` asks for the session that begins. */
export interface Wish extends Pick<SpawnRequest, "instructions" | "agents"> {
  /** Instructions after those of the agent; "": none. */
  readonly more: string;
  /** JSON Schema of the answers. */
  readonly schema?: string;
}

interface Around {
  readonly client: ChatClient;
  /** undefined: the session has not begun. */
  pid(): number | undefined;
  put(line: ControlResponse): void;
}

type Fields = ControlRequest["with"];

export class Controls {
  wish: Wish = { more: "" };
  /** Why the session must not begin: its client wants what is not there. */
  unmet: string | undefined;
  readonly #around: Around;

  constructor(around: Around) {
    this.#around = around;
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
    const { client, pid: pidOf } = this.#around;
    const pid = pidOf();
    if (asks === "interrupt") {
      if (pid !== undefined) client.interrupt(pid).catch(() => undefined);
      return;
    }
    if (asks !== "set_permission_mode" && asks !== "set_model") throw new Error(`not supported: ${asks}`);
    if (pid === undefined) throw new Error("the session has not begun");
    if (asks === "set_model") await client.request("process.model", { pid, model: textOf(fields.model) });
    else {
      const mode = findPermissionMode(textOf(fields.mode));
      if (mode === undefined) throw new Error(`unknown permission mode: ${textOf(fields.mode)}`);
      await client.mode(pid, mode);
    }
  }

  #initialize(fields: Fields): void {
    const { subtype: _, systemPrompt, appendSystemPrompt, agents, jsonSchema, ...others } = fields;
    if (this.#around.pid() !== undefined) throw new Error("the session has begun");
    const own = joined(systemPrompt);
    this.wish = {
      more: joined(appendSystemPrompt),
      ...(own === "" ? {} : { instructions: own }),
      ...(isEmpty(agents) ? {} : { agents: agents as SpawnRequest["agents"] }),
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
