/** A tool that is mounted and not sent with every request. */
import type { ToolSpec } from "../../abi/llm.ts";

export interface Entry extends ToolSpec {
  /** Of its file. */
  readonly path: string;
  /** May it run beside other calls of its turn? */
  readonly parallel: boolean;
  /** 3 to 10 words to be found by; "" where it has none. */
  readonly hint: string;
  /** Of an MCP server; "" of those under /bin. */
  readonly server: string;
}
