/**
 * A notice of the kernel to a process about its own affairs, such as an ended job or an assigned task. It arrives as a
 * message from the process itself, which no other process can send.
 */

import { messageOf } from "../../../abi/errors.ts";
import type { Label } from "../../../abi/labels.ts";
import { type Office, post } from "../../ipc/post.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { type Redacting, redactedBytes } from "../../redact/model-bound.ts";
import type { Process } from "../process.ts";

/** What a notice needs of the kernel. */
export type Notifying = Office & Redacting & { readonly ports: Pick<KernelPorts, "log"> };

interface Note {
  readonly text: string;
  /** Of what other processes have said in it. */
  readonly labels?: readonly Label[] | undefined;
}

/** False: the process has ended, or (logged) its mailbox is full or the notice could not be journalled. */
export async function notify(core: Notifying, proc: Process, note: string | Note): Promise<boolean> {
  const { text, labels } = typeof note === "string" ? { text: note } : note;
  if (!proc.life.isHere) return false;
  const { pid } = proc;
  const data = redactedBytes(core, proc, new TextEncoder().encode(text)).subarray(0, LIMITS.mailBytes);
  try {
    await post(core, proc, { from: pid, data, labels });
    return true;
  } catch (error) {
    core.ports.log("warn", `pid ${pid}: not told: ${text.slice(0, 200)}: ${messageOf(error)}`);
    return false;
  }
}
