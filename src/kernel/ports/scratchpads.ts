/** The scratchpads of sessions: folders that all agents of a session share. */
import type { ProcUuid } from "../../abi/ids.ts";

export interface Scratchpads {
  /** Every session of an agent has one; asked when a session begins. */
  isForAll(): boolean;
  /** Makes that of a session and returns its real path. null: it cannot be made now. */
  open(session: ProcUuid): string | null;
  /** null: the session has none. */
  find(session: ProcUuid): string | null;
  /** Why nothing more may be written there, in words; null: there is room. */
  full(path: string): Promise<string | null>;
}
