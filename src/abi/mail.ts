/** Messages between processes. */
import type { Pid } from "./ids.ts";
import type { Label } from "./labels.ts";
import type { MediaPart } from "./tool.ts";

export interface Message {
  /** Rises across all messages of the kernel. */
  readonly seq: number;
  /** 0: the user, through a client. */
  readonly from: Pid;
  readonly to: Pid;
  readonly data: Uint8Array;
  /** Only of the user: pictures, for which a line of the text stands, too. */
  readonly media?: readonly MediaPart[];
  /** The client of the user, where several are attached to one process. */
  readonly client?: string;
  /** Only of the user: the most steps of the run that begins with it; absent: those of the process. */
  readonly maxSteps?: number;
  /** A notice of the kernel that this child of the receiver has ended; only the kernel sets it. */
  readonly notice?: Pid;
  /** The labels of the sender. Absent: none. */
  readonly labels?: readonly Label[];
  /** Wall clock, ms: for display. */
  readonly sentAt: number;
}
