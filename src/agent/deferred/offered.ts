/** The tools a process is offered: those sent with every request, and those the model can search for. */
import type { ToolSpec } from "../../abi/llm.ts";
import type { DeferredTools } from "./deferred-tools.ts";

export interface OfferedTools {
  /** Ordered by name; the same bytes for the life of the process. */
  readonly specs: readonly ToolSpec[];
  /** From the canonical name: whether calls of the tool may run together with others. */
  readonly parallel: ReadonlyMap<string, boolean>;
  /** From the name to the path, for tools that are not programs under /bin. */
  readonly files?: ReadonlyMap<string, string>;
  /** Tools that are not sent but can be searched for; absent: none. */
  readonly deferred?: DeferredTools;
}
