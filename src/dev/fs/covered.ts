/** Is the place where a call is about to act the one that was permitted? Between the two its path may have got a link. */
import type { Covers } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import { driverError, type FileOp } from "../driver-error.ts";

interface Acting {
  readonly kind: "read" | "write";
  /** The path as it was named; the message shows it. */
  readonly path: string;
  readonly real: string;
  /** Absent: the entry is read, or changed. */
  readonly how?: "subtree" | "delete";
}

/** CONFLICT: it leads elsewhere. */
export function checkCovered(by: { readonly covers?: Covers } | undefined, acting: Acting, op: FileOp): void {
  if (by?.covers?.(effectOf(acting)) ?? true) return;
  throw driverError(op, "CONFLICT", `the path leads elsewhere than when it was permitted: ${acting.path}`);
}

function effectOf({ kind, real, how }: Acting): Effect {
  if (kind === "write") return { kind, path: real, real, change: how === "delete" ? how : "modify" };
  return { kind, path: real, real, ...(how === "subtree" ? { subtree: true as const } : {}) };
}
