/** The JSON form of one context message, as CtxWrite takes it. */
import { ContextError } from "../../abi/errors.ts";
import type { CtxId } from "../../abi/ids.ts";
import type { ContextMessage, Role } from "../../abi/sys.ts";

const ROLES: ReadonlySet<string> = new Set<Role>(["system", "user", "assistant", "tool"]);

export function parseMessage(cid: CtxId, data: Uint8Array): ContextMessage {
  const value = parseJson(cid, data);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw bad(cid, "message is not an object");
  const { role, content, tool_call_id } = value as Record<string, unknown>;
  if (typeof role !== "string" || !ROLES.has(role)) throw bad(cid, `unknown role: ${String(role)}`);
  if (typeof content !== "string") throw bad(cid, "content is not a string");
  if (tool_call_id === undefined) return { role: role as Role, content };
  if (typeof tool_call_id !== "string") throw bad(cid, "tool_call_id is not a string");
  return { role: role as Role, content, tool_call_id };
}

function parseJson(cid: CtxId, data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch (error) {
    throw bad(cid, `message is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function bad(cid: CtxId, message: string): ContextError {
  return new ContextError({ op: "CtxWrite", cid, code: "INTERNAL", message });
}
