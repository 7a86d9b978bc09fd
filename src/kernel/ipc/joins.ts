import { PID_KERNEL } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";

/** A run hears its own client and other processes; what other clients of the user say begins runs of their own. */
export function joins({ from, client = "" }: Pick<Message, "from" | "client">, ofRun: string): boolean {
  return from !== PID_KERNEL || client === ofRun;
}
