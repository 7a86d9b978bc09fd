/** Which messages of a session the current run reads: a run is the work from one message to its final reply. */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";

/** A run receives messages of its own client and of other processes; those of other clients begin runs of their own. */
export function joins({ from, client = "" }: Pick<Message, "from" | "client">, ofRun: string): boolean {
  return from !== PID_KERNEL || client === ofRun;
}
