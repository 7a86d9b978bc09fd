/** A tool that is mounted but not sent with every request. */
import type { ToolSpec } from "../../abi/llm.ts";

export interface Entry extends ToolSpec {
  /** The path of its file. */
  readonly path: string;
  /** Whether its calls may overlap with others of the same turn. */
  readonly parallel: boolean;
  /** 3 to 10 search words; "" if it has none. */
  readonly hint: string;
  /** The name of its MCP server; "" for a program under /bin. */
  readonly server: string;
}
