/** The documentation of every method of the registry. */
import type { MethodName } from "../methods/methods.ts";
import type { MethodDocs } from "./method-doc.ts";
import { CONTEXT_DOCS, HISTORY_DOCS, KERNEL_DOCS, PROCESS_DOCS } from "./process-docs.ts";
import {
  ASK_DOCS,
  CREDENTIAL_DOCS,
  DEFINITION_DOCS,
  FILE_DOCS,
  MEMORY_DOCS,
  MODEL_DOCS,
  RIGHTS_DOCS,
  SETTINGS_DOCS,
  TRUST_DOCS,
} from "./rights-docs.ts";
import {
  BUDGET_DOCS,
  COMPOSE_DOCS,
  JOB_DOCS,
  JOURNAL_DOCS,
  MCP_DOCS,
  SESSION_DOCS,
  SUPERVISOR_DOCS,
} from "./work-docs.ts";

export const METHOD_DOCS: MethodDocs<MethodName> = {
  ...KERNEL_DOCS,
  ...PROCESS_DOCS,
  ...HISTORY_DOCS,
  ...SESSION_DOCS,
  ...CONTEXT_DOCS,
  ...ASK_DOCS,
  ...RIGHTS_DOCS,
  ...TRUST_DOCS,
  ...SETTINGS_DOCS,
  ...MODEL_DOCS,
  ...CREDENTIAL_DOCS,
  ...DEFINITION_DOCS,
  ...MEMORY_DOCS,
  ...FILE_DOCS,
  ...JOB_DOCS,
  ...BUDGET_DOCS,
  ...COMPOSE_DOCS,
  ...SUPERVISOR_DOCS,
  ...MCP_DOCS,
  ...JOURNAL_DOCS,
};
