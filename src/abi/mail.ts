/** Messages between processes. */
import type { Pid } from "./ids.ts";
import type { Label } from "./labels.ts";

export interface Message {
  /** Rises over the whole kernel. */
  readonly seq: number;
  /** 0: a person or a client of the user. */
  readonly from: Pid;
  readonly to: Pid;
  readonly data: Uint8Array;
  /** Which client of the user, where several talk to one process. */
  readonly client?: string;
  /** Of who sent it. Absent: none. */
  readonly labels?: readonly Label[];
  /** Wall clock, ms: for people. */
  readonly sentAt: number;
}
