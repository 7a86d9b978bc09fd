/**
 * A notice of the kernel to a process about its own affairs, such as an ended job or an assigned task. It arrives as a
 * message from the process itself, which no other process can send.
 */

import { hash } from "node:crypto";
import { messageOf } from "../../../abi/errors.ts";
import type { Label } from "../../../abi/labels.ts";
import type { RequestMark } from "../../../abi/request-mark.ts";
import { type Office, post } from "../../ipc/post.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { type Redacting, redactedBytes } from "../../redact/model-bound.ts";
import type { Process } from "../process.ts";

/** What a notice needs of the kernel. */
export type Notifying = Office & Redacting & { readonly ports: Pick<KernelPorts, "journal" | "log"> };

export interface Note {
  readonly text: string;
  /** Of what other processes have said in it. */
  readonly labels?: readonly Label[] | undefined;
  /** It is sent once, also over daemons; calls with one key do not overlap. */
  readonly key?: string;
}

/** False: the process has ended, or (logged) its mailbox is full or the notice could not be journalled. */
export async function notify(core: Notifying, proc: Process, note: string | Note): Promise<boolean> {
  const { text, labels, key } = typeof note === "string" ? { text: note } : note;
  if (!proc.life.isHere) return false;
  const { pid } = proc;
  const data = redactedBytes(core, proc, new TextEncoder().encode(text)).subarray(0, LIMITS.mailBytes);
  try {
    const request = key === undefined ? undefined : markOf(proc, key);
    if (request !== undefined && (await core.ports.journal.requested(request.id)) !== undefined) return true;
    await post(core, proc, { from: pid, data, labels, request });
    return true;
  } catch (error) {
    core.ports.log("warn", `pid ${pid}: not told: ${text.slice(0, 200)}: ${messageOf(error)}`);
    return false;
  }
}

/** As of a request that is not repeated; no client can have it. */
function markOf({ seed }: Process, key: string): RequestMark {
  const id = hash("sha256", `notice ${seed.uuid} ${key}`).slice(0, 40);
  return { id, digest: id };
}
