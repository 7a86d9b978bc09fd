/** What a process is offered: the tools sent with every request, and those it can look for. */
import type { ToolSpec } from "../../abi/llm.ts";
import type { DeferredTools } from "../deferred/deferred-tools.ts";

export interface OfferedTools {
  /** By name; equal bytes for the life of the process. */
  readonly specs: readonly ToolSpec[];
  /** Canonical name to: may it overlap with its neighbours? */
  readonly parallel: ReadonlyMap<string, boolean>;
  /** Name to path, of those that are no programs under /bin. */
  readonly files?: ReadonlyMap<string, string>;
  /** Those that are not sent; absent: there are none. */
  readonly deferred?: DeferredTools;
}
