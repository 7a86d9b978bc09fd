/** The conversation in a request, as both dialects are read. */
import type { JsonObject } from "./json.ts";

export type RequestBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: "tool_result"; readonly id: string; readonly content: string; readonly isError: boolean }
  | { readonly type: "other"; readonly value: JsonObject };

export interface RequestMessage {
  readonly role: string;
  readonly content: readonly RequestBlock[];
}

export interface ToolResult {
  readonly id: string;
  readonly content: string;
  readonly isError: boolean;
}

/** What a dialect reads out of a body. Tool results are `user` blocks, also where the dialect has a role for them. */
export interface RequestContent {
  readonly system: string;
  readonly tools: readonly string[];
  readonly messages: readonly RequestMessage[];
}
