/** Messages between processes. */
import type { Pid } from "./ids.ts";

export interface Message {
  /** Rises over the whole kernel. */
  readonly seq: number;
  /** 0: a person or a client of the user. */
  readonly from: Pid;
  readonly to: Pid;
  readonly data: Uint8Array;
  /** Which client of the user, where several talk to one process. */
  readonly client?: string;
  /** Wall clock, ms: for people. */
  readonly sentAt: number;
}
