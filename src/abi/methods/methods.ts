/**
 * The method registry: each method is declared once; every wire, the docs and the clients are derived from it.
 * Keys are snake_case as on the text wire. Unknown keys in a payload are INVALID.
 * `stream`: the response is followed by events until the connection closes.
 */
import type * as z from "zod";
import { ASK_METHODS } from "./ask.ts";
import { BUDGET_METHODS } from "./budget.ts";
import { COMPOSE_METHODS } from "./compose.ts";
import { CONTEXT_METHODS } from "./context.ts";
import { CREDENTIAL_METHODS } from "./credential.ts";
import { DEFINITION_METHODS } from "./definition.ts";
import { FILE_METHODS } from "./file.ts";
import { HISTORY_METHODS } from "./history.ts";
import { JOB_METHODS } from "./job.ts";
import { JOURNAL_METHODS } from "./journal.ts";
import { KERNEL_METHODS } from "./kernel.ts";
import { MCP_METHODS } from "./mcp.ts";
import { MEMORY_METHODS } from "./memory.ts";
import { MODEL_METHODS } from "./model.ts";
import { PROCESS_METHODS } from "./process.ts";
import { RIGHTS_METHODS } from "./rights.ts";
import { SESSION_METHODS } from "./session.ts";
import { SETTINGS_METHODS } from "./settings.ts";
import type { MethodSpec } from "./spec.ts";
import { SUPERVISOR_METHODS } from "./supervisor.ts";
import { TRUST_METHODS } from "./trust.ts";

export const METHODS = {
  ...KERNEL_METHODS,
  ...PROCESS_METHODS,
  ...HISTORY_METHODS,
  ...SESSION_METHODS,
  ...CONTEXT_METHODS,
  ...ASK_METHODS,
  ...RIGHTS_METHODS,
  ...TRUST_METHODS,
  ...SETTINGS_METHODS,
  ...MODEL_METHODS,
  ...CREDENTIAL_METHODS,
  ...DEFINITION_METHODS,
  ...MEMORY_METHODS,
  ...FILE_METHODS,
  ...JOB_METHODS,
  ...BUDGET_METHODS,
  ...COMPOSE_METHODS,
  ...SUPERVISOR_METHODS,
  ...MCP_METHODS,
  ...JOURNAL_METHODS,
} as const satisfies Record<string, MethodSpec>;

export type MethodName = keyof typeof METHODS;
/** The methods whose request takes an idempotency key. */
export type KeyedMethod = {
  [M in MethodName]: keyof Params<M> extends infer K
    ? string extends K
      ? never
      : "idempotency_key" extends K
        ? M
        : never
    : never;
}[MethodName];
export type Params<M extends MethodName> = z.infer<(typeof METHODS)[M]["params"]>;
export type Result<M extends MethodName> = (typeof METHODS)[M]["result"] extends z.ZodType
  ? z.infer<NonNullable<(typeof METHODS)[M]["result"]>>
  : undefined;
